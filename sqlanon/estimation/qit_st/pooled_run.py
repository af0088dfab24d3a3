"""A query on its way through QIT and ST, answered by one system for all groups."""

import numpy as np

from sqlanon.estimation.qit_st.uniform_run import UniformAsking
from sqlanon.estimation.query_run import inline
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_pooled import Pooled
from sqlanon.estimators.moments import Array, Moments, SelectedValues
from sqlanon.plans.templates import Sql

MOST_PAIRED_CASES = 16  # cases whose covariances are measured pair by pair


class PooledAsking(UniformAsking):
    """Add the release's system, and the pairs of cases."""

    solved = True

    @property
    def paired(self) -> bool:
        """Tell whether the rows that are hits in two cases are counted."""
        return bool(self.query.parts) and not self.quasi_keys and len(self.measures) == 0

    def moments(self) -> list[tuple[str, str]]:
        """Add the query for pairs of cases."""
        return super().moments() + ([("pair_moment", self.pair_text())] if self.paired else [])

    def solving(self) -> list[tuple[str, str]]:
        """Return the queries for S and the spreads."""
        return self.loaded.solving()

    def pair_text(self) -> str:
        """Write the query for the rows that are hits in two cases."""
        both = [piece.sql for piece in self.query.filters("constant", "quasi", "mixed")]
        both += [piece.other for piece in self.query.filters("mixed")]
        pairs = inline(self.loaded.render("estimation/qit_st/possible_pair", self.relations, parts=self.query.parts))
        hit = self.loaded.render(
            "estimation/qit_st/hit",
            {**self.relations, "person": pairs},
            quasi_conditions=both,
            quasi_keys=[],
            measures=[],
            case_column=Sql("case_number"),
        )
        return self.loaded.render(
            "estimation/qit_st/moment", {**self.relations, "hit": inline(hit)}, measures=[], by_class=[]
        )

    def inference(self, asked: SelectedValues) -> Inference:
        """Read what the hits say, and solve the release's system where there is one."""
        moments, system = self.read_moments(asked), self.loaded.system()
        if system is None:
            self.too_many_values()
            return Inference(moments, asked)
        return Pooled(moments, asked, system, self.loaded.spreads, self._pairs(asked))

    def tell(self, inference: Inference, unsolved: int, exact: bool) -> None:
        """Say also where least squares has no answer."""
        if unsolved and isinstance(inference, Pooled):
            system = inference.system
            self.messages.append(
                f"{unsolved} of {inference.asked.set_count} asked sets of values always stand in groups together with"
                " others, so that least squares cannot tell them apart: answered by uniform, without error bars (the"
                f" groups tell {system.rank} of {len(system.totals)} values apart; a release published with a smaller"
                " --block has more different groups)"
            )
        super().tell(inference, unsolved, exact)

    def read_moments(self, asked: SelectedValues) -> Moments:
        """Count the common query in memory."""
        if not self.counted:
            return super().read_moments(asked)
        groups = self.loaded.engine.frame(self.hit_row_text())["group_id"].to_numpy(dtype=np.int64)
        columns = {name: x[None, None] for name, x in self.loaded.counted(groups).items()}
        return Moments(columns, self.loaded.totals())

    def _pairs(self, asked: SelectedValues) -> Array | None:
        """Read b of the rows that are hits in two cases, C x K x K x V; None where there are too many."""
        cases = int(asked.case.max(initial=0)) + 1
        if not self.paired or not 1 < cases <= MOST_PAIRED_CASES:
            return None
        frame = self.loaded.engine.frame(self.pair_text())
        found = np.zeros((1, cases, cases, len(self.loaded.totals())))
        one, two = np.divmod(frame["case_number"].to_numpy(dtype=np.int64), cases)
        found[0, one, two, frame["code"].to_numpy(dtype=np.int64)] = frame["shared"].to_numpy(dtype=float)
        return found
