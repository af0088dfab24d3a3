"""Randomized values undone: the channels by which values were published are inverted, once for all values."""

from dataclasses import replace

import numpy as np

from sqlanon.estimation.query_run import Estimator
from sqlanon.estimation.randomized.published_run import PublishedFigures, PublishedRun
from sqlanon.estimation.randomized.tables import LARGEST_MATRIX
from sqlanon.estimators.evidence import Estimate
from sqlanon.estimators.propagation import Pair
from sqlanon.estimators.randomized.recovery import Recovery


class RecoveredRun(PublishedRun):
    """Estimate by the closed form or the matrix, or by both weighed with what values' margins say."""

    def undo(self, figures: PublishedFigures, estimate: Estimator) -> list[Estimate]:
        """Return an estimate of each aggregate, and keep the correlations of those that an expression reads."""
        recovery, aggregates = self._recovery(figures), figures.aggregates
        narrowed = [recovery.narrow(values) for _, values in aggregates]
        estimates = []
        for narrow_recovery, (measured, _) in zip(narrowed, aggregates, strict=True):
            estimated = estimate(narrow_recovery.evidence(measured, self.estimator))
            highest = narrow_recovery.highest(measured)
            value = estimated.value if highest is None else np.minimum(estimated.value, highest)
            estimates.append(replace(estimated, value=value))
        for first, second in self.pairs():
            pair = Pair(aggregates[first][0], aggregates[second][0], self.number_measure(self.product(first, second)))
            together = narrowed[first].correlate(pair, narrowed[second])
            if together is not None:
                self.correlations[first, second] = together
        return estimates

    def _recovery(self, figures: PublishedFigures) -> Recovery:
        moments, asked_values, touched = figures.moments, figures.asked, self.query.touched
        matrix = self.loaded.joint_matrix(touched)
        if matrix is None:
            self.messages.append(
                f"a sensitive column has more than {LARGEST_MATRIX} values: the closed form stands alone"
            )
        counts = [self.loaded.counts(place) for place in touched]
        unseen = max((_unseen(self.loaded.effective_gamma(place)) for place in touched), default=0.0)
        repeated = self.loaded.repeated(touched)
        weighed = self.estimator == "shrinkage"
        whole = self.loaded.whole(touched, lambda: self.read_whole(figures.shape)) if weighed else None
        departed = max((self.loaded.departed_share(place) for place in touched), default=0.0)
        return Recovery(
            moments, asked_values, counts, self.loaded.joint(touched), matrix, repeated, unseen, whole, departed
        )


def _unseen(gamma: float) -> float:
    """Return the count f of a value that goes unpublished with probability 5 %: (1 - 1/γ)^(γ f) = .05."""
    return float(np.log(0.05) / (gamma * np.log1p(-1 / gamma)))
