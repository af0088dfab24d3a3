"""The answer of a query: numbers by name, and messages about them; a data frame is made only if one is asked for.

Some answers the release gives exactly: the engine runs the query itself over rows that are published as they are.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError
from sqlanon.estimation.failures import ENDLESS, MissingValues, explained, require_readable
from sqlanon.estimation.release_tables import inline
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.plans.templates import ident
from sqlanon.sql.aggregate_query import INTERVAL, Query
from sqlanon.sql.exact_query import ExactQuery, read_exact

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.release_tables import ReleaseTables

OVER_NO_ROW = "{columns}: {count} of {answers} answers are empty, for SUM, AVG and quantiles over no row are NULL"
NO_ERROR_BAR = "{columns}: {estimator} gives no error bars, for its error is a bias that the release does not tell"
BIASED = ("uniform", "iterative")  # estimators that know no error of theirs
_LARGEST = "cast(1.7976931348623157e308 as double)"


@dataclass
class Answered:
    """A row per answer.

    columns: arrays of one length by name, or the frame that a database put keys and order to. messages: texts about the
    answer; warnings: those of them that warn. keys: the columns that are no figures, in which NULL is a value.
    """

    columns: "Mapping[str, Array] | pd.DataFrame"
    messages: Sequence[str]
    warnings: Sequence[str]
    keys: Collection[str] = ()

    def tell_missing(self, name: str) -> BoolArray:
        """Tell which figures of a column are NULL."""
        column = np.asarray(self.columns[name])
        if column.dtype.kind == "M":
            return np.asarray(np.isnat(column))
        if column.dtype.kind == "O":  # of times, as some databases' drivers give them, beside None or NaT
            import pandas as pd

            return np.asarray(pd.isna(column))
        return np.asarray(np.isnan(column.astype(float)))

    def tell_blank_cells(self, estimator: str) -> None:
        """Add to the messages why values and error bars are missing.

        Of each aggregate x there are columns x_std_error, x_low, x_high as well.
        """
        names = list(self.columns.keys())
        measured = [name for name in names if {f"{name}_{end}" for end in INTERVAL} <= set(names)]
        empty, bare = dict[int, list[str]](), list[str]()
        for name in measured:
            missing = self.tell_missing(name)
            answers = len(missing)
            empty.setdefault(int(missing.sum()), []).append(name)
            if estimator in BIASED and (self.tell_missing(f"{name}_std_error") & ~missing).any():
                bare.append(name)
        messages = [
            OVER_NO_ROW.format(columns=", ".join(names), count=count, answers=answers)
            for count, names in empty.items()
            if count
        ]
        messages += [NO_ERROR_BAR.format(columns=", ".join(bare), estimator=estimator)] if bare else []
        self.messages = [*self.messages, *messages]

    def df(self) -> "pd.DataFrame":
        """Return a frame whose `attrs` hold what is said."""
        import pandas as pd

        columns = self.columns
        frame = columns if isinstance(columns, pd.DataFrame) else pd.DataFrame(dict(columns))
        frame.attrs["messages"], frame.attrs["warnings"] = list(self.messages), list(self.warnings)
        return frame


def read_exactly(loaded: "ReleaseTables", sql: str, query: Query | None) -> ExactQuery | None:
    """Return a query as one that the database runs as it is; None where the release does not give its answer.

    query: the same in pieces; None where it is outside of the grammar of estimates.
    """
    names = None if query is None else [item.name for item in query.items]
    sensitive = [loaded.sensitive] if isinstance(loaded.sensitive, str) else loaded.sensitive
    exact = read_exact(sql, loaded.exact_rows, [*loaded.quasi, *sensitive], names)
    return exact if query is None or loaded.engine.in_process else None


def answer_exactly(loaded: "ReleaseTables", exact: ExactQuery, query: Query | None) -> Answered:
    """Run the query; each figure that is made of aggregates has an error of 0, and is its own interval.

    query: the same in pieces, where it is in the grammar of estimates: its constants are looked for.
    Raises QueryError where the engine does not take it, DataError where it fails on this data.
    """
    compared = () if query is None else query.comparisons
    values = MissingValues(loaded, loaded.published_domain)
    with explained(values, compared):
        require_readable(loaded.engine, exact.sql)
        frame = loaded.engine.frame(exact.sql)
        _require_finite(loaded.engine, exact.sql, frame)
    keys = {str(name) for place, name in enumerate(frame.columns) if place not in exact.measured}
    told = values.tell(compared)
    answer = Answered(_add_intervals(frame, exact.measured), told, told, keys)
    answer.tell_blank_cells("")
    return answer


def _require_finite(engine: Engine, sql: str, frame: "pd.DataFrame") -> None:
    """Refuse figures that are NaN or infinite: beside NULL nobody could tell them apart."""
    columns = [str(name) for name, line in frame.items() if line.dtype.kind == "f" and not np.isfinite(line).all()]
    if columns:
        endless = " or ".join(f"abs({ident(name)}) > {_LARGEST}" for name in columns)
        (row,) = engine.rows(f"select count(*) as n from {inline(sql)} as answered where {endless}")
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
