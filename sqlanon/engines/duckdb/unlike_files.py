"""Files of one pattern that lack some columns of the others: there their rows have NULL, which is no real value."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlanon.plans.templates import literal


class SchemaReader(Protocol):
    """What an engine tells of files."""

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and fetch all of it."""

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""


def escape_pattern(path: str) -> str:
    """Take a file's own name literally where DuckDB would read a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def count_lacking(engine: SchemaReader, reader: str, pattern: str, given: str) -> Mapping[str, tuple[int, int]]:
    """Count the files of a pattern that lack a column which others have: how many, and of how many.

    given: what the reader is told beside the file. Only heads and footers are read.
    """
    paths = [path for (path,) in engine.execute("select file from glob(?)", [pattern])]
    if len(paths) < 2:
        return {}
    file_counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    parquet = reader == "read_parquet"
    for columns in _read_footers(engine, paths) if parquet else _read_heads(engine, reader, paths, given):
        spellings = {name.lower(): name for name in columns}
        file_counts.update(spellings.keys())
        spelled = spellings | spelled
    return {
        spelled[name]: (len(paths) - count, len(paths)) for name, count in file_counts.items() if count < len(paths)
    }


def _read_heads(engine: SchemaReader, reader: str, paths: Sequence[str], given: str) -> Iterator[Iterable[str]]:
    """Yield the columns of each file, as its reader guesses them."""
    for path in paths:
        yield engine.columns(f"select * from {reader}({literal(escape_pattern(path))}{given})")


def _read_footers(engine: SchemaReader, paths: Sequence[str]) -> Iterator[Iterable[str]]:
    """Yield the columns of each Parquet file; all footers are read by one statement."""
    listed = ", ".join(literal(escape_pattern(path)) for path in paths)
    nodes = engine.execute(f"select file_name, name, num_children from parquet_schema([{listed}])")
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, name, children in nodes:
        by_file.setdefault(path, []).append((name, children or 0))
    for path, schema in by_file.items():
        yield [*_outermost(schema), *_partitions(path)]


def _partitions(path: str) -> list[str]:
    """Return the columns that a file's folders stand for: `year=2020` is one."""
    return [part.partition("=")[0] for part in Path(path).parts[:-1] if "=" in part]


def _outermost(schema: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield the columns of a schema: its nodes with the number of their children, the root first, depth first."""
    below = 0  # nodes that are still to come inside a column
    for name, children in schema[1:]:
        if not below:
            yield name
        below += children - (below > 0)
