"""A query on its way through QIT and ST, answered by one system for all groups."""

import numpy as np

from sqlanon.estimation.qit_st.uniform_run import UniformRun
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_pooled import PooledInference
from sqlanon.estimators.least_squares import NormalEquations
from sqlanon.estimators.moments import SelectedValues
from sqlanon.plans.templates import Sql
from sqlanon.wording import option, spoken

MOST_PAIRED_CASES = 16  # cases whose covariances are measured pair by pair


class PooledRun(UniformRun):
    """Add the release's normal equations, and the pairs of cases."""

    @property
    def counts_pairs(self) -> bool:
        """Tell whether the rows that are hits in two cases are counted."""
        return bool(self.query.parts) and not self.quasi_keys and len(self.measures) == 0

    def moment_statements(self) -> list[tuple[str, str]]:
        """Add the query for pairs of cases."""
        return super().moment_statements() + ([("pair_moment", self._render_pairs())] if self.counts_pairs else [])

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the queries for S and the spreads."""
        return self.loaded.solving_statements()

    def _render_pairs(self) -> str:
        """Write the query for the rows that are hits in two cases: both read the condition with their own parts."""
        both = [piece.sql for piece in self.query.filters("constant", "quasi", "mixed")]
        both += [piece.other for piece in self.query.filters("mixed")]
        hit = self.loaded.render(
            "estimation/qit_st/hit",
            {**self.relations, "person": self._render_people("estimation/qit_st/possible_pair")},
            quasi_conditions=both,
            quasi_keys=[],
            measures=[],
            case_column=Sql("case_number"),
        )
        return self.loaded.render(
            "estimation/qit_st/moment", {**self.relations, "hit": inline(hit)}, measures=[], by_class=[]
        )

    def infer(self, selected: SelectedValues) -> Inference:
        """Read what the hits say, and solve the release's equations where there are any."""
        moments, equations = self.read_moments(selected), self.loaded.load_equations()
        if equations is None:
            self.tell_too_many_values()
            return Inference(moments, selected)
        return PooledInference(moments, selected, equations, self.loaded.measure_spreads, self._read_pairs(selected))

    def tell_limits(self, inference: Inference, undetermined: int, exact: bool) -> None:
        """Say also where least squares has no answer."""
        if undetermined and isinstance(inference, PooledInference):
            message = tell_undetermined(undetermined, inference.selected.set_count, inference.equations)
            self.messages.append(message)
        super().tell_limits(inference, undetermined, exact)

    def _read_pairs(self, selected: SelectedValues) -> Array | None:
        """Read b of the rows that are hits in two cases, C x K x K x V; None where there are too many."""
        cases = int(selected.case.max(initial=0)) + 1
        if not self.counts_pairs or not 1 < cases <= MOST_PAIRED_CASES:
            return None
        frame = self.loaded.engine.frame(self._render_pairs())
        paired = np.zeros((1, cases, cases, len(self.loaded.load_totals())))
        # The template numbers a pair of cases as one: case x cases + other.
        case, other = np.divmod(frame["case_number"].to_numpy(dtype=np.int64), cases)
        paired[0, case, other, frame["code"].to_numpy(dtype=np.int64)] = frame["shared"].to_numpy(dtype=float)
        return paired


def tell_undetermined(undetermined: int, asked: int, equations: NormalEquations) -> str:
    """Say that least squares has no answer for some of the asked value sets, and why."""
    return (
        f"{undetermined} of {asked} asked sets of values always stand in groups together"
        " with others, so that least squares cannot tell them apart: answered by uniform, without error bars"
        f" (the groups tell {equations.rank} of {len(equations.totals)} values apart; a release published with"
        f" a smaller {spoken(option('block'))} has more different groups)"
    )
