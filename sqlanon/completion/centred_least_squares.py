"""Least squares of how many rows of a cell have a value, around what independence inside classes of groups says.

With s_g(v) a group's values, n_g(c) its rows in a cell c, |g| its size, and in its class k the totals f_kv and n_kc
over N_k rows,

    n_g(c) - |g| n_kc/N_k = Σ_v (s_g(v) - |g| f_kv/N_k) δ_v(c) + noise,

and Σ_k f_kv (n_kc/N_k + δ_v(c) - Σ_u f_ku/N_k δ_u(c)) rows of the cell have the value: without bias wherever values
reach the groups of a class at random. An Anatomy release is one class. What the groups do not tell is left at
independence: the pseudo-inverse says 0 of it.
"""

from dataclasses import dataclass

import numpy as np

from sqlanon.estimators.evidence import Array

CUTOFF = 1e-9  # of the largest eigenvalue: what is smaller is none


@dataclass(frozen=True)
class ClassTotals:
    """Hold totals of K classes: rows by value, K x V, and by cell, K x T, each row of every column counted.

    sized_values, sized_cells: Σ_g w_g |g| s_g(v) and Σ_g w_g |g| n_g(c), the groups weighed by w.
    """

    values: Array
    cells: Array
    sized_values: Array
    sized_cells: Array


def estimate_cell_counts(normal: Array, shared: Array, totals: ClassTotals) -> Array:
    """Return the estimated rows by cell and value, T x V.

    normal: Σ_g w_g s_g s_g^T, V x V. shared: Σ_g w_g n_g(c) s_g(v), T x V. The estimates sum to the values' totals over
    the cells of a column, and to the cells' over values; they may be negative.
    """
    rows = totals.values.sum(axis=1, keepdims=True)
    value_share, cell_share = totals.values / rows, totals.cells / rows
    sized_share = value_share * totals.sized_values.sum(axis=1, keepdims=True)
    centred = normal - totals.sized_values.T @ value_share - value_share.T @ totals.sized_values
    centred += sized_share.T @ value_share
    told = shared.T - totals.sized_values.T @ cell_share - value_share.T @ totals.sized_cells
    told += sized_share.T @ cell_share
    deviations = np.linalg.pinv(centred, rcond=CUTOFF, hermitian=True) @ told
    added = totals.values.sum(axis=0)[:, None] * deviations - totals.values.T @ value_share @ deviations
    return np.asarray((totals.values.T @ cell_share + added).T)
