"""Answers that the release gives exactly: the engine runs the query itself over rows that are published as they are."""

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError, DataError, QueryError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.blank_cells import tell_blank_cells
from sqlanon.estimation.failures import ENDLESS, explain_failure
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.query_run import require_readable
from sqlanon.estimation.temporary_tables import inline
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Query
from sqlanon.sql.exact_query import ExactQuery

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.session import Session

_LARGEST = "cast(1.7976931348623157e308 as double)"


def answer_exactly(session: "Session", exact: ExactQuery, query: Query | None) -> Answered:
    """Run the query; each figure that is made of aggregates has an error of 0, and is its own interval.

    query: the same in pieces, where it is in the grammar of estimates: its constants are looked for.
    Raises QueryError where the engine does not take it, DataError where it fails on this data.
    """
    engine, compared = session.loaded.engine, () if query is None else query.comparisons
    values = MissingValues(session.loaded, session.published_domain)
    try:
        require_readable(engine, exact.sql)
        frame = engine.frame(exact.sql)
        _require_finite(session, exact.sql, frame)
    except (QueryError, TargetError, AnswerError, ResourceError):
        raise
    except SqlanonError as error:
        if not isinstance(error, UsageError | DataError) and type(error) is not SqlanonError:
            raise  # a fault of ours
        raise explain_failure(error, values, compared) from None
    keys = {str(name) for place, name in enumerate(frame.columns) if place not in exact.measured}
    told = values.tell(compared)
    answer = Answered(_add_intervals(frame, exact.measured), told, told, keys)
    tell_blank_cells(answer, "")
    return answer


def _require_finite(session: "Session", sql: str, frame: "pd.DataFrame") -> None:
    """Refuse figures that are NaN or infinite: beside NULL nobody could tell them apart."""
    columns = [str(name) for name, line in frame.items() if line.dtype.kind == "f" and not np.isfinite(line).all()]
    if columns:
        endless = " or ".join(f"abs({ident(name)}) > {_LARGEST}" for name in columns)
        (row,) = session.loaded.engine.rows(f"select count(*) as n from {inline(sql)} as answered where {endless}")
        if row["n"]:
            raise AnswerError(ENDLESS.format(f"in {row['n']} rows of the answer"))


def _add_intervals(frame: "pd.DataFrame", measured: tuple[int, ...]) -> "pd.DataFrame":
    """Return a frame with the columns of error and interval behind each figure that is a number or a time."""
    import pandas as pd  # slow to load

    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(frame.columns):
        line = frame.iloc[:, place]
        if place in measured and line.dtype.kind in "iu":
            line = line.astype(float)  # as estimates are
        columns[str(name)] = line
        if place in measured and line.dtype.kind in "fM":
            columns[f"{name}_std_error"] = pd.Series(np.where(line.isna(), np.nan, 0.0), index=frame.index)
            columns |= {f"{name}_low": line, f"{name}_high": line}
    return pd.DataFrame(columns, index=frame.index)


def select_columns(columns: frozenset[str], relation: Sql) -> Sql:
    """Write a relation of some columns of another; of none, of its rows."""
    listed = ", ".join(map(ident, sorted(columns))) or "1 as nothing"
    return Sql(f"(select {listed} from {relation})")
