"""A query on its way through QIT and ST: its statements, its moments, and the uniform estimate of its answers."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.errors import AnswerError
from sqlanon.estimation.qit_st.class_tables import Classes
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, Loaded
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun, inline
from sqlanon.estimators.evidence import Estimate
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query


class UniformAsking(QueryRun):
    """One query on its way through QIT and ST, answered by the uniform estimate."""

    solved = False

    def __init__(self, loaded: Loaded, query: Query, classes: Classes) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.classes = loaded, classes
        # One cell, one case, nothing measured: the common query, counted without a join.
        plain = not (self.quasi_keys or query.parts or self.measures)
        self.counted = plain and self.solved and loaded.in_memory
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand: kept where they are read twice, else written in place."""
        named = {name: relation_name(self.loaded.prefix, name) for name in ("asked", "hit", "figure")}
        self.relations |= self.classes.relations
        self.relations["asked"] = named["asked"] if self.keeps_asked else inline(self.render_asked())
        self.relations["figure"] = named["figure"]
        self.people = self.loaded.relations["person"]
        if self.query.parts:
            self.people = inline(
                self.loaded.render("estimation/qit_st/possible", self.relations, parts=self.query.parts)
            )
        self.relations["hit"] = named["hit"] if self.quasi_keys else inline(self.hit_text())

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [*self.preparing(), ("asked", self.render_asked())]
        if self.quasi_keys:
            listed.append(("hit", self.hit_text()))
        listed += [("hit_row", self.hit_row_text())] if self.counted else self.moments()
        listed += self.solving()
        if self.query.grouped:
            listed.append(("answer", self.render_answer()))
        return listed

    def preparing(self) -> list[tuple[str, str]]:
        """Return the tables that this way of answering needs beside the release's own."""
        return []

    def moments(self) -> list[tuple[str, str]]:
        """Return the queries that join hits with groups."""
        return [("moment", self.moment_text([]))]

    def solving(self) -> list[tuple[str, str]]:
        """Return the queries behind what is solved once for a release."""
        return []

    def hit_text(self) -> str:
        """Write the query over QIT."""
        return self.loaded.render(
            "estimation/qit_st/hit",
            {**self.relations, "person": self.people},
            quasi_conditions=[piece.sql for piece in self.query.filters("constant", "quasi", "mixed")],
            quasi_keys=[key.sql for key in self.quasi_keys],
            measures=[piece.sql for piece in self.measures],
            case_column=Sql("case_number" if self.query.parts else "0"),
        )

    def hit_row_text(self) -> str:
        """Write the query for the groups of the rows that are hits."""
        conditions = [piece.sql for piece in self.query.filters("constant", "quasi")]
        return self.loaded.render("estimation/qit_st/hit_row", self.relations, quasi_conditions=conditions)

    def moment_text(self, by_class: list[str]) -> str:
        """Write the query that joins hits with ST."""
        return self.loaded.render("estimation/qit_st/moment", self.relations, measures=self.measures, by_class=by_class)

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], NDArray[np.bool_]]:
        """Read the moments, weigh the evidence, and estimate."""
        asked, weights = self.read_selected()
        if self.quasi_keys:
            self.keep("hit", self.hit_text())
        inference = self.inference(asked)
        aggregates = [self.vectorize(aggregate, weights) for aggregate in self.query.aggregates]
        evidence = [inference.evidence(measured) for measured in aggregates]
        exact = np.all([found.exact for found in evidence], axis=(0, 1))
        self.tell(inference, int((~inference.reachable & ~exact).sum()), bool(exact.all()))
        return [estimate(one) for one in evidence], self.occurring(asked, inference.rows)

    def inference(self, asked: SelectedValues) -> Inference:
        """Read what the hits say."""
        return Inference(self.read_moments(asked), asked)

    def tell(self, inference: Inference, unsolved: int, exact: bool) -> None:
        """Say where an interval is only a bound."""
        if inference.upper_bound and not exact:
            self.messages.append(
                "the condition joins quasi and sensitive columns in a way whose cases are not followed pair by pair:"
                " standard errors and intervals are upper bounds"
            )

    def too_many_values(self) -> None:
        """Say that there is nothing but the uniform estimate."""
        self.messages.append(f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform")

    def read_moments(self, asked: SelectedValues) -> Moments:
        """Run the moment query; return its columns as arrays."""
        return self.arranged(self.loaded.engine.frame(self.moment_text([])), asked)

    def arranged(self, frame: pd.DataFrame, asked: SelectedValues) -> Moments:
        """Write the rows of the moment query as arrays, those of several classes summed."""
        totals = self.loaded.totals()
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
        skipped = ["cell", "case_number", "code", "class", "place", *frame.filter(regex="^endless_").columns]
        for name in frame.columns.difference(skipped):
            extreme = {"least": np.fmin, "largest": np.fmax}.get(name.partition("_")[0])
            columns[name] = np.full((cells, cases, len(totals)), 0.0 if extreme is None else np.nan)
            line = frame[name].to_numpy(dtype=float)
            (np.add if extreme is None else extreme).at(
                columns[name], place, np.nan_to_num(line) if extreme is None else line
            )
        return Moments(columns, totals)
