"""Many plain counts on their way through QIT and ST together: each is a cell, and each asks a set of values."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sqlanon.estimation.coded_rows import CellSums
from sqlanon.estimation.count_batch import CountBatch
from sqlanon.estimation.qit_st.pooled_run import tell_undetermined
from sqlanon.estimation.qit_st.tables import GroupTables
from sqlanon.estimation.qit_st.uniform_run import TOO_MANY_VALUES
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.aggregates import COUNT, LinearAggregate
from sqlanon.estimators.evidence import Array, Estimate, Evidence
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_pooled import PooledInference
from sqlanon.estimators.moments import Moments, SelectedValues
from sqlanon.plans.templates import Sql


class BatchRun(CountBatch):
    """Answer plain counts of one release of groups; their moments are sums of cells' moments."""

    def __init__(self, loaded: GroupTables, name: str, estimate: Estimator) -> None:
        """Take the release, and an estimator with its name."""
        values = len(loaded.load_totals())
        super().__init__(loaded.code_rows(), loaded.relations["value"], values, name)
        self.loaded, self.estimate = loaded, estimate

    def read_sums(self, celled: Sql) -> CellSums:
        """Run the moment query."""
        hit = inline(self.loaded.render("estimation/qit_st/cell_hit", {"celled": celled}))
        relations = {**self.loaded.relations, "hit": hit, "group_class": Sql("")}
        lines = self.loaded.engine.arrays(
            self.loaded.render("estimation/qit_st/moment", relations, measures=[], by_class=[])
        )
        cell, code = (lines[name].astype(np.int64) for name in ("cell", "code"))
        return CellSums(cell, code, {name: lines[name].astype(float) for name in ("shared", "uniform")})

    def estimate_own(self, sums: Mapping[str, Array], selected: SelectedValues) -> tuple[Estimate, list[list[str]]]:
        """Weigh what the moments say of each query's own values."""
        moments = Moments({name: array[:, None] for name, array in sums.items()}, self.loaded.load_totals())
        inference = self._infer(moments, selected)
        ones = np.ones(len(selected.code))
        evidence = _take_own(inference.gather_evidence(LinearAggregate(COUNT, None, ones, ones)))
        messages = [self._tell(inference, number, bool(exact)) for number, exact in enumerate(evidence.exact)]
        return self.estimate(evidence), messages

    def _infer(self, moments: Moments, selected: SelectedValues) -> Inference:
        equations = None if self.name == "uniform" else self.loaded.load_equations()
        if equations is None:
            return Inference(moments, selected)
        return PooledInference(moments, selected, equations, self.loaded.measure_spreads, None)

    def _tell(self, inference: Inference, number: int, exact: bool) -> list[str]:
        """Return what is special about one answer."""
        if isinstance(inference, PooledInference):
            return [] if inference.determined[number] or exact else [tell_undetermined(1, 1, inference.equations)]
        return [] if self.name == "uniform" else [TOO_MANY_VALUES]


def _take_own(evidence: Evidence) -> Evidence:
    """Return each query's own line of the evidence on queries x value sets: query q asks set q."""
    arrays = {name: value for name, value in vars(evidence).items() if isinstance(value, np.ndarray)}
    return replace(evidence, **{name: np.diagonal(array) for name, array in arrays.items()})
