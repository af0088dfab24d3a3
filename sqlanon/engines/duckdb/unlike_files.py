"""Files of one pattern that lack some columns of the others: there their rows have NULL, which is no real value."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
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
    file_counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    parquet = reader == "read_parquet"
    heads = (engine.columns(f"select * from {reader}({literal(escape_pattern(path))}{given})") for path in paths)
    for columns in _read_footers(engine, paths) if parquet else heads:
        spellings = {name.lower(): name for name in columns}
        file_counts.update(spellings.keys())
        spelled = spellings | spelled
    return {
        spelled[name]: (len(paths) - count, len(paths)) for name, count in file_counts.items() if count < len(paths)
    }


def _read_footers(engine: "DuckDBEngine", paths: Sequence[str]) -> Iterator[Iterable[str]]:
    """Yield the columns of each Parquet file; all footers are read by one statement."""
    listed = ", ".join(literal(escape_pattern(path)) for path in paths)
    nodes = engine.execute(f"select file_name, name, num_children from parquet_schema([{listed}])")
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, name, children in nodes:
        by_file.setdefault(path, []).append((name, children or 0))
    for path, schema in by_file.items():
        # of a schema's nodes, the root first, depth first, the outermost are columns; `year=2020` of a folder is one
        names, below = [part.partition("=")[0] for part in Path(path).parts[:-1] if "=" in part], 0
        for name, children in schema[1:]:
            names += [] if below else [name]
            below += children - (below > 0)  # nodes that are still to come inside a column
        yield names
