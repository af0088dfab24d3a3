"""A query on its way through a release: what every method's answers share.

The values that the sensitive part leaves are numbered (`asked`); a method finds figures per cell (combination of
quasi keys) and asked set (combination of sensitive keys); names, order and keys are put to them in SQL.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.errors import AnswerError, DataError, QueryError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.estimation.constant_faults import never
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Estimate, Evidence
from sqlanon.estimators.moments import Array, LinearAggregate, SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Aggregate, Query, Role

LARGEST_ANSWER = 20_000_000  # numbers per moment: cells x cases x values
_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL.*|BOOLEAN|BIGNUM|VARINT")

_ENDLESS = "SUM and AVG were asked of an expression that is NaN or infinite {}; leave them out with WHERE"

log = logging.getLogger("sqlanon")

Estimator = Callable[[Evidence], Estimate]


class QueryRun:
    """Prepare one query; a method adds how its release is read and what follows from it (`found`).

    FIGURES: what is told of each aggregate, ORDER BY going by `value`. ASKED: the conditions that choose values.
    """

    FIGURES: tuple[str, ...] = ("value", *INTERVAL)
    ASKED: tuple[Role, ...] = ("sensitive",)

    def __init__(self, space: Workspace, query: Query) -> None:
        """Sort the query's pieces; `relations` must name `value` before `render_asked` is read."""
        self.space, self.query = space, query
        self.quasi_keys = [key for key in query.keys if key.role != "sensitive"]
        self.sensitive_keys = [key for key in query.keys if key.role == "sensitive"]
        arguments = {agg.argument.sql: agg.argument for agg in query.aggregates if agg.argument}
        self.weights = [piece for piece in arguments.values() if piece.role in ("constant", "sensitive")]
        self.measures = [piece for piece in arguments.values() if piece.role in ("quasi", "mixed")]
        self.made: list[str] = []
        self.asked_count = 0
        self.messages: list[str] = []  # warnings
        self.remarks: list[str] = []  # how the answer was found
        self.relations = dict(space.relations)
        self.people = Sql("")
        self.keeps_asked = bool(query.parts or self.sensitive_keys)

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], NDArray[np.bool_]]:
        """Return an estimate per aggregate (FIGURES as arrays), and which cells x sets are answered; a method's own."""
        raise NotImplementedError

    def named(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate called `name` as (figure, name in the answer)."""
        return [("value", name), *((end, f"{name}_{end}") for end in INTERVAL)]

    def keep(self, name: str, sql: str) -> Sql:
        """Make a temporary table that goes with this query."""
        relation = self.space.keep(name, sql)
        self.made.append(str(relation))
        return relation

    # -- the statements that all methods share --------------------------------------------------

    def render_asked(self) -> str:
        """Write the query over the sensitive values."""
        return self.space.render(
            "estimation/query_run/asked",
            self.relations,
            sensitive_conditions=[piece.sql for piece in self.query.filters(*self.ASKED)],
            parts=self.query.parts,
            sensitive_keys=[key.sql for key in self.sensitive_keys],
            weights=[piece.sql for piece in self.weights],
        )

    def render_answer(self) -> str:
        """Write the query that puts keys, order and names to the figures."""
        render, given = self.space.render, dict(self.relations)
        quasi, sensitive = [key.sql for key in self.quasi_keys], [key.sql for key in self.sensitive_keys]
        one_cell, one_set = Sql("(select 0 as cell)"), Sql("(select 0 as set_number)")
        given["cell_key"] = (
            inline(render("estimation/query_run/cell_key", given, quasi_keys=quasi)) if quasi else one_cell
        )
        given["set_key"] = (
            inline(render("estimation/query_run/set_key", given, sensitive_keys=sensitive)) if sensitive else one_set
        )
        items: list[tuple[Sql, str]] = []
        for item in self.query.items:
            if item.aggregate is None:
                items.append((item.sql, item.name))
            else:
                items += [(Sql(f"{x}_{item.aggregate}"), n) for x, n in self.named(item.name)]
        order = [Sql(f"{term.sql or f'value_{term.aggregate}'} {term.direction}") for term in self.query.order]
        limit = [] if self.query.limit is None else [self.query.limit]
        return render(
            "estimation/query_run/answer", given, keys=self._key_columns(), items=items, order=order, limit=limit
        )

    def _key_columns(self) -> list[Sql]:
        found = []
        for key in self.query.keys:
            if key.role == "sensitive":
                found.append(Sql(f"set_key.set_key_{self.sensitive_keys.index(key) + 1}"))
            else:
                found.append(Sql(f"cell_key.key_{self.quasi_keys.index(key) + 1}"))
        return found

    # -- running -------------------------------------------------------------------------------

    def answer(self, estimate: Estimator) -> pd.DataFrame:
        """Run the statements and put the estimates together."""
        try:
            self._check_types()
            frame = self._frame(*self.estimate_aggregates(estimate))
        except (QueryError, TargetError, AnswerError, ResourceError):
            raise
        except SqlanonError as error:
            if not isinstance(error, UsageError | DataError) and type(error) is not SqlanonError:
                raise  # a fault of ours
            raise self._in_users_words(error) from None
        finally:
            self.space.forget(self.made)
        for message in self.messages:
            log.warning(message)
        frame.attrs["messages"] = self.remarks + self.messages
        return frame

    def _check_types(self) -> None:
        for piece in (*self.measures, *self.weights):
            rows = self.relations["person" if "person" in self.relations else "published"]
            relation = rows if piece.role == "quasi" else self.relations["value"]
            if piece.role != "mixed":
                found = self.space.column_type(piece.sql, relation)
                if not _NUMERIC.fullmatch(found):
                    raise QueryError(f"SUM and AVG take numbers; one was asked of {found} values")

    def read_selected(self) -> tuple[SelectedValues, dict[str, Array]]:
        """Return the asked values, and by expression what each counts (NaN for NULL), length n."""
        if self.keeps_asked:
            relation = self.keep("asked", self.render_asked())
            columns = [
                "code",
                "case_number",
                "set_number",
                *(f"{name}_{n + 1}" for n in range(len(self.weights)) for name in ("weight", "endless")),
            ]
            frame = self.space.engine.frame(f"select {', '.join(columns)} from {relation} order by code")
        else:
            frame = self.space.asked(self.render_asked())
        code, case, chosen = (frame[name].to_numpy(dtype=np.int64) for name in ("code", "case_number", "set_number"))
        sets = int(chosen.max(initial=-1)) + 1 if self.sensitive_keys else 1
        self.asked_count = len(code)
        endless = max((int(frame[f"endless_{n + 1}"].sum()) for n in range(len(self.weights))), default=0)
        if endless:
            raise AnswerError(_ENDLESS.format(f"for {endless} of the values asked"))
        weights: dict[str, Array] = {
            piece.sql: frame[f"weight_{n}"].to_numpy(dtype=float) for n, piece in enumerate(self.weights, start=1)
        }
        return SelectedValues(code, case, chosen, sets), weights

    def require_finite(self, frame: pd.DataFrame, name: str, case: str) -> None:
        """Refuse a measured expression that is NaN or infinite on some hits, or whose squares are.

        frame: a moment query's rows; `name` counts hits in its columns `name_1` …, once per case.
        """
        if not self.measures:
            return
        for number in range(1, len(self.measures) + 1):
            endless = round(frame.groupby(case)[f"{name}_{number}"].sum().max()) if len(frame) else 0
            if endless:
                raise AnswerError(_ENDLESS.format(f"on {endless} rows"))
        if not np.isfinite(frame.select_dtypes("number").fillna(0.0).to_numpy(dtype=float)).all():
            raise AnswerError("SUM and AVG were asked of numbers whose squares are too large; divide them first")

    def vectorize(self, aggregate: Aggregate, weights: Mapping[str, Array]) -> LinearAggregate:
        """Say one aggregate in arrays."""
        piece = aggregate.argument
        if piece is not None and piece.sql in weights:
            found = weights[piece.sql]
            return LinearAggregate(aggregate.function, None, np.nan_to_num(found), (~np.isnan(found)).astype(float))
        ones = np.ones(self.asked_count)
        number = None if piece is None else self.measures.index(piece) + 1
        return LinearAggregate(aggregate.function, number, ones, ones)

    # -- the answer ----------------------------------------------------------------------------

    def occurring(self, asked: SelectedValues, rows: Array) -> NDArray[np.bool_]:
        """Tell which cells x sets are answered: every quasi group that occurs, with every set it can have."""
        if not self.quasi_keys:
            return np.ones((len(rows), asked.set_count), dtype=bool)
        found = np.zeros((len(rows), asked.set_count), dtype=bool)
        for chosen, case in asked.combos():
            found[:, chosen] |= rows[:, case] > 0
        return found

    def _frame(self, found: Sequence[Any], occurring: NDArray[np.bool_]) -> pd.DataFrame:
        cell, chosen = np.nonzero(occurring)
        columns: dict[str, Any] = {"cell": cell, "set_number": chosen}
        for number, estimate in enumerate(found):
            for name in self.FIGURES:
                columns[f"{name}_{number}"] = getattr(estimate, name)[occurring]
        figure = pd.DataFrame(columns)
        if not self.query.grouped:
            pairs = [(f"{x}_{i.aggregate}", n) for i in self.query.items for x, n in self.named(i.name)]
            return pd.DataFrame({name: figure[x] for x, name in pairs}).iloc[: self.query.limit]
        self.made.append(str(self.relations["figure"]))
        self.space.keep_frame("figure", figure)
        return self.space.engine.frame(self.render_answer())

    def _in_users_words(self, error: SqlanonError) -> SqlanonError:
        """Put the published names where the engine's message has ours."""
        text = self._published(str(error))
        if isinstance(error, UsageError):
            return QueryError(f"the query cannot be evaluated: {text}")
        wrong = next((piece for piece, relation in self._pieces() if never(self.space.engine, piece, relation)), None)
        if wrong is not None:
            return QueryError(f"{self._published(wrong)} cannot be evaluated on any data: a constant does not fit")
        cause = text.partition("(")[2].rstrip(")") or text
        told = f" ({cause})" if isinstance(error, DataError) else ""  # another error's text may quote a value
        return DataError(f"the query cannot be evaluated on every row{told}; cast to a wider type, or filter")

    def _published(self, text: str) -> str:
        names = self.space.names
        return re.sub(r"\b(quasi_\d+|sensitive(_\d+)?)\b", lambda m: names.get(m[0], m[0]), text)

    def _pieces(self) -> Iterator[tuple[Sql, Sql]]:
        """Yield each piece of the query with the relation that it reads; parts before what reads them."""
        over_values = [*self.query.parts, *(piece.sql for piece in self.query.filters("sensitive"))]
        over_values += [piece.sql for piece in (*self.sensitive_keys, *self.weights)]
        over_rows = [piece.sql for piece in self.query.filters("constant", "quasi", "mixed")]
        over_rows += [piece.sql for piece in (*self.quasi_keys, *self.measures)]
        yield from ((sql, self.relations["value"]) for sql in over_values)
        yield from ((sql, self.people) for sql in over_rows)


def inline(sql: str) -> Sql:
    """Put a query in brackets, to stand where a relation does."""
    return Sql(f"(\n{sql}\n)")
