"""Answer aggregate queries from QIT and ST: a query's statements, its moments, its answers."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SqlanonError, UsageError
from sqlanon.estimators import ESTIMATORS
from sqlanon.estimators.evidence import Estimate, Evidence
from sqlanon.estimators.least_squares import System
from sqlanon.inference import Inference
from sqlanon.loaded import LARGEST_SYSTEM, Loaded
from sqlanon.moments import Array, Asked, Measured, Moments
from sqlanon.plan import relation_name
from sqlanon.query import INTERVAL, Aggregate, Query, parse
from sqlanon.templates import Sql

LARGEST_ANSWER = 20_000_000  # numbers per moment: cells x cases x values
MOST_PAIRED_CASES = 16  # cases whose covariances are measured pair by pair
_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL.*|BOOLEAN|BIGNUM|VARINT")

log = logging.getLogger("sqlanon")


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = Loaded(engine, tables, manifest)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str = "shrinkage") -> pd.DataFrame:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `query.parse` reads it. estimator: a name in ESTIMATORS. Units are those of the aggregate.
        `attrs["messages"]` of the frame tells where the estimator had to give way to `uniform`.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        estimate = _estimator(estimator)
        return _Asking(self.loaded, self._parsed(sql), estimator != "uniform").answer(estimate)

    def statements(self, sql: str, estimator: str = "shrinkage") -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing.

        `spread` (large releases only) stands once for as many runs as the asked sets need; it reads the relation
        `direction`, which is filled from Python, as `answer` reads `figure`.
        """
        _estimator(estimator)
        asking = _Asking(self.loaded, self._parsed(sql), estimator != "uniform")
        return self.loaded.loading() + asking.statements()

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.loaded.close()


def _estimator(name: str) -> Callable[[Evidence], Estimate]:
    if name not in ESTIMATORS:
        raise UsageError(f"no estimator {name!r}; choose one of {', '.join(ESTIMATORS)}")
    return ESTIMATORS[name]


class _Asking:
    """One query on its way through a release."""

    def __init__(self, loaded: Loaded, query: Query, solved: bool) -> None:
        self.loaded, self.query, self.solved = loaded, query, solved
        self.quasi_keys = [key for key in query.keys if key.role != "sensitive"]
        self.sensitive_keys = [key for key in query.keys if key.role == "sensitive"]
        arguments = {agg.argument.sql: agg.argument for agg in query.aggregates if agg.argument}
        self.weights = [piece for piece in arguments.values() if piece.role in ("constant", "sensitive")]
        self.measures = [piece for piece in arguments.values() if piece.role in ("quasi", "mixed")]
        self.made: list[str] = []
        self.asked_count = 0
        self.messages: list[str] = []
        self.relations = dict(loaded.relations)
        self.keeps_asked = bool(query.parts or self.sensitive_keys)
        self.paired = bool(query.parts) and solved and not self.quasi_keys and len(self.measures) == 0
        # One cell, one case, nothing measured: the common query, counted without a join.
        plain = not (self.quasi_keys or query.parts or self.measures)
        self.counted = plain and solved and loaded.in_memory
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        named = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations["asked"] = named["asked"] if self.keeps_asked else _inline(self.asked_text())
        self.relations["figure"] = named["figure"]
        self.people = self.loaded.relations["person"]
        if self.query.parts:
            self.people = _inline(self.loaded.text("possible", self.relations, parts=self.query.parts))
        self.relations["hit"] = named["hit"] if self.quasi_keys else _inline(self.hit_text())

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [("asked", self.asked_text())]
        if self.quasi_keys:
            listed.append(("hit", self.hit_text()))
        listed.append(("hit_row", self.hit_row_text()) if self.counted else ("moment", self.moment_text()))
        if self.paired:
            listed.append(("pair_moment", self.pair_text()))
        if self.solved:
            listed += self.loaded.solving()
        if self.query.grouped:
            listed.append(("answer", self.answer_text()))
        return listed

    def asked_text(self) -> str:
        """Write the query over the sensitive values."""
        return self.loaded.text(
            "asked",
            self.relations,
            sensitive_conditions=[piece.sql for piece in self.query.filters("sensitive")],
            parts=self.query.parts,
            sensitive_keys=[key.sql for key in self.sensitive_keys],
            weights=[piece.sql for piece in self.weights],
        )

    def hit_text(self) -> str:
        """Write the query over QIT."""
        return self.loaded.text(
            "hit",
            {**self.relations, "person": self.people},
            quasi_conditions=[piece.sql for piece in self.query.filters("constant", "quasi", "mixed")],
            quasi_keys=[key.sql for key in self.quasi_keys],
            measures=[piece.sql for piece in self.measures],
            case_column=Sql("case_number" if self.query.parts else "0"),
        )

    def hit_row_text(self) -> str:
        """Write the query for the groups of the rows that are hits."""
        conditions = [piece.sql for piece in self.query.filters("constant", "quasi")]
        return self.loaded.text("hit_row", self.relations, quasi_conditions=conditions)

    def moment_text(self) -> str:
        """Write the query that joins hits with ST."""
        return self.loaded.text("moment", self.relations, measures=self.measures)

    def pair_text(self) -> str:
        """Write the query for the rows that are hits in two cases."""
        both = [piece.sql for piece in self.query.filters("constant", "quasi", "mixed")]
        both += [piece.other for piece in self.query.filters("mixed")]
        pairs = _inline(self.loaded.text("possible_pair", self.relations, parts=self.query.parts))
        hit = self.loaded.text(
            "hit",
            {**self.relations, "person": pairs},
            quasi_conditions=both,
            quasi_keys=[],
            measures=[],
            case_column=Sql("case_number"),
        )
        return self.loaded.text("moment", {**self.relations, "hit": _inline(hit)}, measures=[])

    def answer_text(self) -> str:
        """Write the query that puts keys, order and names to the figures."""
        text, given = self.loaded.text, dict(self.relations)
        quasi, sensitive = [key.sql for key in self.quasi_keys], [key.sql for key in self.sensitive_keys]
        one_cell, one_set = Sql("(select 0 as cell)"), Sql("(select 0 as set_number)")
        given["cell_key"] = _inline(text("cell_key", given, quasi_keys=quasi)) if quasi else one_cell
        given["set_key"] = _inline(text("set_key", given, sensitive_keys=sensitive)) if sensitive else one_set
        items: list[tuple[Sql, str]] = []
        for item in self.query.items:
            if item.aggregate is None:
                items.append((item.sql, item.name))
            else:
                items += [(Sql(f"{x}_{item.aggregate}"), n) for x, n in _named(item.name)]
        order = [Sql(f"{term.sql or f'value_{term.aggregate}'} {term.direction}") for term in self.query.order]
        limit = [] if self.query.limit is None else [self.query.limit]
        return text("answer", given, keys=self._key_columns(), items=items, order=order, limit=limit)

    def _key_columns(self) -> list[Sql]:
        found = []
        for key in self.query.keys:
            if key.role == "sensitive":
                found.append(Sql(f"set_key.set_key_{self.sensitive_keys.index(key) + 1}"))
            else:
                found.append(Sql(f"cell_key.key_{self.quasi_keys.index(key) + 1}"))
        return found

    # -- running -------------------------------------------------------------------------------

    def answer(self, estimate: Callable[[Evidence], Estimate]) -> pd.DataFrame:
        """Run the statements and put the estimates together."""
        self.loaded.totals()
        try:
            frame = self._answered(estimate)
        except QueryError:
            raise
        except (UsageError, DataError) as error:
            raise self._in_users_words(error) from None
        finally:
            self.loaded.forget(self.made)
        for message in self.messages:
            log.warning(message)
        frame.attrs["messages"] = list(self.messages)
        return frame

    def _answered(self, estimate: Callable[[Evidence], Estimate]) -> pd.DataFrame:
        self._check_types()
        asked, weights = self._read_asked()
        if self.quasi_keys:
            self.made.append(str(self.loaded.keep("hit", self.hit_text())))
        moments = self._read_moments(asked)
        inference = Inference(moments, asked, self._system(), self.loaded.spreads, self._pairs(asked))
        aggregates = [self._measured(aggregate, weights) for aggregate in self.query.aggregates]
        evidence = [inference.evidence(measured) for measured in aggregates]
        exact = np.all([found.exact for found in evidence], axis=(0, 1))
        unsolved = int((~inference.reachable & ~exact).sum())
        if unsolved:
            self.messages.append(
                f"{unsolved} of {asked.set_count} asked sets of values always stand in groups together with"
                " others, so that least squares cannot tell them apart: answered by uniform"
            )
        found = [estimate(one) for one in evidence]
        return self._frame(found, self._occurring(asked, inference.rows))

    def _system(self) -> System | None:
        system = self.loaded.system() if self.solved else None
        if self.solved and system is None:
            self.messages.append(f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform")
        return system

    def _check_types(self) -> None:
        for piece in (*self.measures, *self.weights):
            relation = self.people if piece.role in ("quasi", "mixed") else self.loaded.relations["value"]
            if piece.role != "mixed":
                found = self.loaded.column_type(piece.sql, relation)
                if not _NUMERIC.fullmatch(found):
                    raise QueryError(f"SUM and AVG take numbers; one was asked of {found} values")

    def _read_asked(self) -> tuple[Asked, dict[str, Array]]:
        if self.keeps_asked:
            relation = self.loaded.keep("asked", self.asked_text())
            self.made.append(str(relation))
            columns = [
                "code",
                "case_number",
                "set_number",
                *(f"weight_{n + 1}" for n in range(len(self.weights))),
            ]
            frame = self.loaded.engine.frame(f"select {', '.join(columns)} from {relation} order by code")
        else:
            frame = self.loaded.asked(self.asked_text())
        code, case, chosen = (frame[name].to_numpy(dtype=np.int64) for name in ("code", "case_number", "set_number"))
        sets = int(chosen.max(initial=-1)) + 1 if self.sensitive_keys else 1
        self.asked_count = len(code)
        weights: dict[str, Array] = {
            piece.sql: frame[f"weight_{n}"].to_numpy(dtype=float) for n, piece in enumerate(self.weights, start=1)
        }
        return Asked(code, case, chosen, sets), weights

    def _read_moments(self, asked: Asked) -> Moments:
        totals = self.loaded.totals()
        if self.counted:
            groups = self.loaded.engine.frame(self.hit_row_text())["group_id"].to_numpy(dtype=np.int64)
            return Moments({name: x[None, None] for name, x in self.loaded.counted(groups).items()}, totals)
        frame = self.loaded.engine.frame(self.moment_text())
        cases = int(asked.case.max(initial=0)) + 1
        cells = int(frame["cell"].max()) + 1 if len(frame) else int(not self.quasi_keys)
        if cells * cases * len(totals) > LARGEST_ANSWER:
            raise DataError(
                f"the query asks for {cells} groups x {cases} cases x {len(totals)} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        place = tuple(frame[name].to_numpy(dtype=np.int64) for name in ("cell", "case_number", "code"))
        columns = {}
        for name in frame.columns.drop(["cell", "case_number", "code"]):
            empty = np.nan if name.startswith(("least_", "largest_")) else 0.0
            columns[name] = np.full((cells, cases, len(totals)), empty)
            columns[name][place] = frame[name].fillna(empty).to_numpy(dtype=float)
        return Moments(columns, totals)

    def _pairs(self, asked: Asked) -> Array | None:
        """Read b of the rows that are hits in two cases, C x K x K x V; None where there are too many."""
        cases = int(asked.case.max(initial=0)) + 1
        if not self.paired or not 1 < cases <= MOST_PAIRED_CASES:
            return None
        frame = self.loaded.engine.frame(self.pair_text())
        found = np.zeros((1, cases, cases, len(self.loaded.totals())))
        one, two = np.divmod(frame["case_number"].to_numpy(dtype=np.int64), cases)
        found[0, one, two, frame["code"].to_numpy(dtype=np.int64)] = frame["shared"].to_numpy(dtype=float)
        return found

    def _measured(self, aggregate: Aggregate, weights: Mapping[str, Array]) -> Measured:
        piece = aggregate.argument
        if piece is not None and piece.sql in weights:
            found = weights[piece.sql]
            return Measured(aggregate.function, None, np.nan_to_num(found), (~np.isnan(found)).astype(float))
        ones = np.ones(self.asked_count)
        number = None if piece is None else self.measures.index(piece) + 1
        return Measured(aggregate.function, number, ones, ones)

    # -- the answer ----------------------------------------------------------------------------

    def _occurring(self, asked: Asked, rows: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell which cells x sets are answered: every quasi group that occurs, with every set it can have."""
        if not self.quasi_keys:
            return np.ones((len(rows), asked.set_count), dtype=bool)
        found = np.zeros((len(rows), asked.set_count), dtype=bool)
        for chosen, case in asked.combos():
            found[:, chosen] |= rows[:, case] > 0
        return found

    def _frame(self, found: Sequence[Estimate], occurring: np.ndarray[Any, np.dtype[np.bool_]]) -> pd.DataFrame:
        cell, chosen = np.nonzero(occurring)
        columns: dict[str, Any] = {"cell": cell, "set_number": chosen}
        for number, estimate in enumerate(found):
            for name in ("value", *INTERVAL):
                columns[f"{name}_{number}"] = getattr(estimate, name)[occurring]
        figure = pd.DataFrame(columns)
        if not self.query.grouped:
            pairs = [(f"{x}_{i.aggregate}", n) for i in self.query.items for x, n in _named(i.name)]
            return pd.DataFrame({name: figure[x] for x, name in pairs}).iloc[: self.query.limit]
        self.made.append(str(self.relations["figure"]))
        self.loaded.engine.keep_frame(self.relations["figure"], figure)
        return self.loaded.engine.frame(self.answer_text())

    def _in_users_words(self, error: SqlanonError) -> SqlanonError:
        """Put the published names where the engine's message has ours."""
        names = {f"quasi_{n}": name for n, name in enumerate(self.loaded.quasi, start=1)}
        names["sensitive"] = self.loaded.sensitive
        text = re.sub(r"\b(quasi_\d+|sensitive)\b", lambda m: names.get(m[0], m[0]), str(error))
        if isinstance(error, DataError):
            cause = text.partition("(")[2].rstrip(")") or text
            return DataError(f"the query cannot be evaluated on every row ({cause}); cast to a wider type, or filter")
        return QueryError(f"the query cannot be evaluated: {text}")


def _inline(sql: str) -> Sql:
    return Sql(f"(\n{sql}\n)")


def _named(name: str) -> list[tuple[str, str]]:
    """Return an aggregate's columns as (internal prefix, name in the answer)."""
    return [("value", name), *((end, f"{name}_{end}") for end in INTERVAL)]
