"""Files of one pattern that lack columns of the others: their rows have NULL there, which is no value of anybody's."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlanon.plans.templates import literal

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine


def escape_pattern(path: str) -> str:
    """Take a file's own name literally where DuckDB would read a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def count_lacking(engine: "DuckDBEngine", reader: str, pattern: str, given: str) -> Mapping[str, tuple[int, int]]:
    """Count the files of a pattern that lack a column which others have: how many, and of how many.

    given: what the reader is told beside the file. Only heads and footers are read.
    """
    paths = [path for (path,) in engine.execute("select file from glob(?)", [pattern])]
    if len(paths) < 2:
        return {}
    held: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for path in paths:
        for name in engine.columns(f"select * from {reader}({literal(escape_pattern(path))}{given})"):
            held[name.lower()] += 1
            spelled.setdefault(name.lower(), name)
    return {spelled[name]: (len(paths) - count, len(paths)) for name, count in held.items() if count < len(paths)}
