"""Answer questions about crowds: who is in one has the same quasi values as all others, so that answers are exact."""

from dataclasses import replace

import numpy as np

from sqlanon.estimation.qit_st.session import GroupRun, GroupSession
from sqlanon.estimation.query_run import Estimator
from sqlanon.estimators.evidence import BoolArray, Estimate


class CrowdRun(GroupRun):
    """One query on its way through crowds."""

    def estimate_aggregates(self, estimate: Estimator) -> tuple[list[Estimate], BoolArray]:
        """Return the shares of the groups as what they are here: the truth."""
        estimates, occurring = super().estimate_aggregates(estimate)
        return [
            replace(each, std_error=np.where(np.isnan(each.value), np.nan, 0.0), low=each.value, high=each.value)
            for each in estimates
        ], occurring


class CrowdSession(GroupSession):
    """A session of a release of crowds, which are read as groups, each question by itself."""

    runs = CrowdRun
    together = False
