"""Answer aggregate queries from QIT and ST: a query's statements, its moments, its answers."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.asking import LARGEST_ANSWER, Asking, Estimator, inline
from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError
from sqlanon.estimators import estimator_of
from sqlanon.estimators.evidence import Estimate
from sqlanon.estimators.least_squares import System
from sqlanon.inference import Inference
from sqlanon.loaded import LARGEST_SYSTEM, Loaded
from sqlanon.moments import Array, Asked, Moments
from sqlanon.plan import relation_name
from sqlanon.pooled import Pooled
from sqlanon.query import Query, parse
from sqlanon.templates import Sql

METHOD = "anatomy"
MOST_PAIRED_CASES = 16  # cases whose covariances are measured pair by pair


class Session:
    """Answer queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = Loaded(engine, tables, manifest)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> pd.DataFrame:
        """Answer one query: a row per answer, for each aggregate x also x_std_error, x_low, x_high (95 %).

        sql: as `query.parse` reads it. estimator: one of ESTIMATORS["anatomy"], the first if None.
        `attrs["messages"]` of the frame tells where the estimator had to give way to `uniform`.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        name, estimate = estimator_of(METHOD, estimator)
        asking = _Asking(self.loaded, self._parsed(sql), name != "uniform")
        self.loaded.totals()
        return asking.answer(estimate)

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing.

        `spread` (large releases only) stands once for as many runs as the asked sets need; it reads the relation
        `direction`, which is filled from Python, as `answer` reads `figure`.
        """
        name, _ = estimator_of(METHOD, estimator)
        asking = _Asking(self.loaded, self._parsed(sql), name != "uniform")
        return self.loaded.loading() + asking.statements()

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.loaded.close()


class _Asking(Asking):
    """One query on its way through QIT and ST."""

    def __init__(self, loaded: Loaded, query: Query, solved: bool) -> None:
        super().__init__(loaded, query)
        self.loaded, self.solved = loaded, solved
        self.paired = bool(query.parts) and solved and not self.quasi_keys and len(self.measures) == 0
        # One cell, one case, nothing measured: the common query, counted without a join.
        plain = not (self.quasi_keys or query.parts or self.measures)
        self.counted = plain and solved and loaded.in_memory
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        named = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations["asked"] = named["asked"] if self.keeps_asked else inline(self.asked_text())
        self.relations["figure"] = named["figure"]
        self.people = self.loaded.relations["person"]
        if self.query.parts:
            self.people = inline(self.loaded.text("possible", self.relations, parts=self.query.parts))
        self.relations["hit"] = named["hit"] if self.quasi_keys else inline(self.hit_text())

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
        pairs = inline(self.loaded.text("possible_pair", self.relations, parts=self.query.parts))
        hit = self.loaded.text(
            "hit",
            {**self.relations, "person": pairs},
            quasi_conditions=both,
            quasi_keys=[],
            measures=[],
            case_column=Sql("case_number"),
        )
        return self.loaded.text("moment", {**self.relations, "hit": inline(hit)}, measures=[])

    # -- running -------------------------------------------------------------------------------

    def found(self, estimate: Estimator) -> tuple[list[Estimate], NDArray[np.bool_]]:
        """Read the moments, weigh the evidence, and estimate."""
        asked, weights = self.read_asked()
        if self.quasi_keys:
            self.keep("hit", self.hit_text())
        moments = self._read_moments(asked)
        inference = self._inference(moments, asked)
        aggregates = [self.measured(aggregate, weights) for aggregate in self.query.aggregates]
        evidence = [inference.evidence(measured) for measured in aggregates]
        exact = np.all([found.exact for found in evidence], axis=(0, 1))
        self._tell(inference, int((~inference.reachable & ~exact).sum()), bool(exact.all()))
        return [estimate(one) for one in evidence], self.occurring(asked, inference.rows)

    def _inference(self, moments: Moments, asked: Asked) -> Inference:
        system = self._system()
        if system is None:
            return Inference(moments, asked)
        return Pooled(moments, asked, system, self.loaded.spreads, self._pairs(asked))

    def _tell(self, inference: Inference, unsolved: int, exact: bool) -> None:
        """Say where least squares has no answer, and where an interval is only a bound."""
        if unsolved and isinstance(inference, Pooled):
            system = inference.system
            self.messages.append(
                f"{unsolved} of {inference.asked.set_count} asked sets of values always stand in groups together with"
                " others, so that least squares cannot tell them apart: answered by uniform, without error bars (the"
                f" groups tell {system.rank} of {len(system.totals)} values apart; a release published with a smaller"
                " --block has more different groups)"
            )
        if inference.upper_bound and not exact:
            self.messages.append(
                "the condition joins quasi and sensitive columns in a way whose cases are not followed pair by pair:"
                " standard errors and intervals are upper bounds"
            )

    def _system(self) -> System | None:
        system = self.loaded.system() if self.solved else None
        if self.solved and system is None:
            self.messages.append(f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform")
        return system

    def _read_moments(self, asked: Asked) -> Moments:
        totals = self.loaded.totals()
        if self.counted:
            groups = self.loaded.engine.frame(self.hit_row_text())["group_id"].to_numpy(dtype=np.int64)
            return Moments({name: x[None, None] for name, x in self.loaded.counted(groups).items()}, totals)
        frame = self.loaded.engine.frame(self.moment_text())
        cases = int(asked.case.max(initial=0)) + 1
        cells = int(frame["cell"].max()) + 1 if len(frame) else int(not self.quasi_keys)
        if cells * cases * len(totals) > LARGEST_ANSWER:
            raise AnswerError(
                f"the query asks for {cells} groups x {cases} cases x {len(totals)} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        place = tuple(frame[name].to_numpy(dtype=np.int64) for name in ("cell", "case_number", "code"))
        self.require_finite(frame, "endless_uniform", "case_number")
        columns = {}
        for name in frame.columns.drop(["cell", "case_number", "code", *frame.filter(regex="^endless_").columns]):
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
