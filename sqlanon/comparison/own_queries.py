"""The user's own queries of a comparison: a file of them, with their true answers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.bounded_files import read_text
from sqlanon.comparison.workload import AskedQuery, Microdata, count_truths
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SourceError
from sqlanon.estimation.plain_counts import read_plain_counts
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.sources.source_query import SourceQuery, write_over_source
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
    shapes, refused = [], []
    for line, query in split_queries(text):
        try:
            shapes.append((line, query, write_over_source(query, data.name, data.quasi, data.sensitive)))
        except QueryError as error:
            refused.append((line, f"line {line}: {error}"))
    together = _count_own(data, [query for _, query, _ in shapes])
    queries = []
    for place, (line, query, shape) in enumerate(shapes):
        try:
            queries.append(AskedQuery(query, OWN, line, shape, _true_answer(data, shape, together.get(place))))
        except (QueryError, DataError) as error:
            refused.append((line, f"line {line}: {error}"))
    reasons = [text for _, text in sorted(refused)]
    if not queries:
        raise QueryError(f"no query of {str(path)!r} can be compared: {reasons[0] if reasons else 'it holds none'}")
    return queries, reasons


def answer_over(data: Microdata, queries: Sequence[str]) -> "Iterator[pd.DataFrame]":
    """Yield the answer of each query over a table of these columns; all are in the grammar."""
    together = _count_own(data, queries)
    for place, query in enumerate(queries):
        shape = write_over_source(query, data.name, data.quasi, data.sensitive)
        yield _true_answer(data, shape, together.get(place))


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
        shape = write_over_source(query, data.name, data.quasi, data.sensitive)
        return shape, _true_answer(data, shape, None)
    finally:
        workspace.close()


def _count_own(data: Microdata, queries: Sequence[str]) -> dict[int, int]:
    """Return the true counts, by place, of those queries that are plain counts; none where one fails on this data."""
    if len(data.sensitive) > 1:
        return {}
    plain = dict(read_plain_counts(queries, lambda text: parse_query(text, data.quasi, data.sensitive[0])))
    conditions = [
        (*query.quasi, *(("sensitive", condition) for condition in query.sensitive)) for query in plain.values()
    ]
    try:
        return dict(zip(plain, count_truths(data.renamed(), conditions), strict=True))
    except DataError:
        return {}


def _true_answer(data: Microdata, shape: SourceQuery, count: int | None) -> "pd.DataFrame":
    import pandas as pd

    if count is not None:
        return pd.DataFrame({name: [count] for name in shape.names})
    return data.workspace.engine.frame(shape.sql).set_axis(list(shape.names), axis="columns")
