"""Find the line of a CSV that makes DuckDB take the whole file for something else."""

import csv
from pathlib import Path

from sqlanon.engines.duckdb.unlike_files import SchemaReader
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.plans.templates import literal

DELIMITERS = ",;\t|"
_ENDINGS = (".csv", ".tsv", ".txt")
_LONGEST_HEAD = 1 << 20  # letters of the first line


def refuse_broken_line(engine: SchemaReader, text: object) -> None:
    """Raise SourceError, with its line, for a CSV file that is unlike its first line somewhere; else do nothing.

    DuckDB guesses delimiter and quotes from what fits most lines: one broken line can make it guess a single column.
    """
    if not isinstance(text, str) or not text.lower().endswith(_ENDINGS) or not Path(text).is_file():
        return
    try:
        with Path(text).open(encoding="utf-8", newline="") as file:
            head = file.readline(_LONGEST_HEAD)
    except (OSError, ValueError):
        return
    delimiter = max(DELIMITERS, key=head.count)
    names = next(csv.reader([head], delimiter=delimiter), [])
    if len(names) < 2:
        return
    columns = ", ".join(f"{literal(f'c{number}')}: 'VARCHAR'" for number in range(len(names)))
    form = f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    try:
        engine.execute(f"select count(c0) from read_csv({literal(text)}, {form}, columns = {{{columns}}})")
    except SqlanonError as error:
        if "line" in str(error):
            raise SourceError(str(error)) from None
