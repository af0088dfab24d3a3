"""Answer questions about crowds: who is in one has the same quasi values as all others, so that answers are exact."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.qit_st.session import GroupRun, GroupSession
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimators.evidence import BoolArray
from sqlanon.sql.aggregate_query import Query


class CrowdRun(GroupRun):
    """One query on its way through crowds."""

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Return the shares of the groups as what they are here: the truth."""
        estimates, occurring = super().estimate_aggregates(estimate)
        return [
            replace(each, std_error=np.where(np.isnan(each.value), np.nan, 0.0), low=each.value, high=each.value)
            for each in estimates
        ], occurring


class CrowdSession(GroupSession):
    """A session of a release of crowds, which are read as groups, each question by itself."""

    def start(self, query: Query, name: str, **options: Any) -> GroupRun:
        """Start the run of a question about crowds."""
        return CrowdRun(self.loaded, query, by_class=False)

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer none together."""
        return {}
