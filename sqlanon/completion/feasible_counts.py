"""Turn estimated counts into counts that could be: none negative, with the sums that are known.

Estimates x_cv without bias may be negative. The nearest table t >= 0 with row sums n_c and column sums f_v,

    min Σ_cv (t_cv - x_cv)² / u_cv,     u_cv = n_c f_v / N,

is found by Dykstra's alternating projections; cutting and scaling instead would take from what is large and well known.
A count that an estimate finds to be nothing is seldom 0, and a 0 would end in regressions without a solution: the least
that a count may be is a small part of what independence says.
"""

import numpy as np

from sqlanon.estimators.evidence import Array

LEAST_SHARE, LEAST_ERROR = 0.01, 0.05  # of the count that independence says, and of its square root: the smaller counts
ROUNDS = 20  # of alternating projections
HALVINGS = 40  # that find a row's multiplier
SCALINGS = 20  # of the last step, proportional fitting


def make_feasible(estimates: Array, levels: Array, values: Array) -> Array:
    """Return the feasible table nearest to estimated counts T x V, none of its counts below the least.

    levels: row sums, T. values: column sums, V.
    """
    spread = np.maximum(np.outer(levels, values) / max(values.sum(), 1), 1e-12)
    counts, row_rest, column_rest = estimates, np.zeros_like(estimates), np.zeros_like(estimates)
    for _ in range(ROUNDS):
        in_rows = _project(counts + row_rest, spread, levels)
        row_rest = counts + row_rest - in_rows
        counts = _project((in_rows + column_rest).T, spread.T, values).T
        column_rest = in_rows + column_rest - counts
    smallest = np.minimum(LEAST_SHARE * spread, LEAST_ERROR * np.sqrt(spread))
    return _scale(np.maximum(counts, smallest), levels, values)


def _project(table: Array, spread: Array, sums: Array) -> Array:
    """Return the nearest table >= 0 whose rows have these sums: max(0, x - λ u), λ found by halving."""
    ratio = table / spread
    low, high = ratio.min(axis=1) - sums / spread.sum(axis=1), ratio.max(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = np.maximum(0, table - middle[:, None] * spread).sum(axis=1) > sums
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(np.maximum(0, table - ((low + high) / 2)[:, None] * spread))


def _scale(table: Array, levels: Array, values: Array) -> Array:
    """Fit both sums by turns; what is left of the projections is small."""
    for _ in range(SCALINGS):
        table = table * (levels / np.maximum(table.sum(axis=1), 1e-12))[:, None]
        table = table * (values / np.maximum(table.sum(axis=0), 1e-12))
    return table
