"""Answer questions about crowds: who is in one has the same quasi values as all others, so that answers are exact."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.qit_st.session import GroupSession
from sqlanon.estimation.qit_st.uniform_run import UniformRun
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.sql.aggregate_query import Query


class CrowdRun(UniformRun):
    """One query on its way through crowds."""

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Return the shares of the groups as what they are here: the truth."""
        estimates, occurring = super().estimate_aggregates(estimate)
        return [
            replace(each, std_error=np.where(np.isnan(each.value), np.nan, 0.0), low=each.value, high=each.value)
            for each in estimates
        ], occurring


class CrowdSession(GroupSession):
    """A session of a release of crowds, which are read as groups."""

    def start(self, query: Query, name: str, **options: Any) -> CrowdRun:
        """Start the run of a query."""
        return CrowdRun(self.loaded, query, self.classes)

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer each by itself."""
        return {}
