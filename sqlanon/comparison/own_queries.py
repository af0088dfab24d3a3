"""The user's own queries of a comparison: a file of them, with their true answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.bounded_files import read_text
from sqlanon.comparison.workload import AskedQuery, Microdata
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SourceError
from sqlanon.estimation.release_tables import Workspace
from sqlanon.sql.exact_query import SourceQuery, write_over_source
from sqlanon.sql.user_sql import split_queries

if TYPE_CHECKING:
    import pandas as pd

OWN = "own"
LONGEST = 2**22  # bytes of a file of queries


def read_queries(data: Microdata, path: Path) -> tuple[list[AskedQuery], list[str]]:
    """Return the queries of a file with their true answers, and what is said of those that cannot be compared.

    Raises SourceError for a file that cannot be read, QueryError where no query is left.
    """
    try:
        text = read_text(path, LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SourceError(f"cannot read the queries in {str(path)!r}: {reason}") from None
    queries, refused = [], []
    for line, query in split_queries(text):
        try:
            queries.append(ask(data, query, OWN, line))
        except (QueryError, DataError) as error:
            refused.append(f"line {line}: {error}")
    if not queries:
        raise QueryError(f"no query of {str(path)!r} can be compared: {refused[0] if refused else 'it holds none'}")
    return queries, refused


def ask(data: Microdata, query: str, workload: str, line: int = 0) -> AskedQuery:
    """Return a query FROM release with its true answer; raise QueryError where it is outside the grammar."""
    shape = write_over_source(query, data.name, data.quasi, data.sensitive)
    truth = data.workspace.engine.frame(shape.sql).set_axis(list(shape.names), axis="columns")
    return AskedQuery(query, workload, line, shape, truth)


def true_answer(
    engine: Engine, source: object, quasi: Sequence[str], sensitive: Sequence[str], query: str
) -> tuple[SourceQuery, "pd.DataFrame"]:
    """Return a query FROM release as one over its source, and the true answer; nothing of it is kept.

    Raises QueryError where the query is outside the grammar, or which rows it has depends on the figures.
    """
    found_source, types = engine.find_source(source)
    workspace = Workspace(engine)
    try:
        data = Microdata.read(workspace, found_source, types, quasi, sensitive)
        asked = ask(data, query, OWN)
        return asked.shape, asked.truth
    finally:
        workspace.close()
