"""Answer questions about crowds: who is in one has the same quasi values as all others, so that answers are exact."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.plain_counts import PlainCount
from sqlanon.estimation.qit_st import GroupRun, GroupTables
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimators.evidence import BoolArray, Estimate
from sqlanon.sql.aggregate_query import Query


class CrowdRun(GroupRun):
    """One query on its way through crowds."""

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Return the shares of the groups as what they are here: the truth."""
        estimates, occurring = super().estimate_aggregates(estimate)
        return [
            replace(each, std_error=np.where(np.isnan(each.value), np.nan, 0.0), low=each.value, high=each.value)
            for each in estimates
        ], occurring


class CrowdTables(GroupTables):
    """Crowds, which are read as groups, each question by itself."""

    def start(self, query: Query, name: str) -> GroupRun:
        """Start the run of a question about crowds."""
        return CrowdRun(self, query, by_class=False)

    def answer_together(
        self, plain: Iterator[tuple[int, PlainCount]], name: str, estimate: Estimator
    ) -> dict[int, Answered]:
        """Answer none together."""
        return {}
