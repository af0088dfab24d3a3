"""Least squares of how many rows of a cell have a value, around what independence says.

With s_g(v) a group's values, n_g(c) its rows in a cell c, |g| its size and f_v, n_c the totals over N rows,

    n_g(c) - |g| n_c/N = Σ_v (s_g(v) - |g| f_v/N) δ_v(c) + noise,     Σ_v f_v δ_v(c) = 0,

and f_v (n_c/N + δ_v(c)) rows of the cell have the value, without bias wherever values reach their groups at random.
What the groups do not tell is left at independence: the pseudo-inverse says 0 of it.
"""

import numpy as np

from sqlanon.estimators.evidence import Array

CUTOFF = 1e-9  # of the largest eigenvalue: what is smaller is none


def estimate_cell_counts(normal: Array, shared: Array, values: Array, cells: Array) -> Array:
    """Return the estimated rows by cell and value, T x V.

    normal: Σ_g w_g s_g s_g^T, V x V. shared: Σ_g w_g n_g(c) s_g(v), T x V, the groups weighed by w. values: f, V.
    cells: n, T. The estimates sum to f over the cells of a column and to n over values; they may be negative.
    """
    rows = values.sum()
    value_share, cell_share = values / rows, cells / rows
    sized_values, sized_cells = normal.sum(axis=1), shared.sum(axis=1)
    sized = sized_values.sum()
    centred = normal - np.outer(sized_values, value_share) - np.outer(value_share, sized_values)
    centred += sized * np.outer(value_share, value_share)
    told = shared.T - np.outer(sized_values, cell_share) - np.outer(value_share, sized_cells)
    told += sized * np.outer(value_share, cell_share)
    deviations = np.linalg.pinv(centred, rcond=CUTOFF, hermitian=True) @ told
    deviations -= values @ deviations / rows
    return np.asarray((values[:, None] * (cell_share + deviations)).T)
