"""What groups say of how values go with levels, in draws of weights of the groups (a Bayesian bootstrap, Rubin 1981).

Least squares of how many rows of a level have a value, around what independence inside classes of groups says; a value
stands here for a kind of values, those of one code.

With s_g(v) a group's values, n_g(c) its rows in a level c, |g| its size, and in its class k the totals f_kv and n_kc
over N_k rows,

    n_g(c) - |g| n_kc/N_k = Σ_v (s_g(v) - |g| f_kv/N_k) δ_v(c) + noise,

and Σ_k f_kv (n_kc/N_k + δ_v(c) - Σ_u f_ku/N_k δ_u(c)) rows of the level have the value: without bias wherever values
reach the groups of a class at random. An Anatomy release is one class. What the groups do not tell is left at
independence: the pseudo-inverse says 0 of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sqlanon.completion.feasible_counts import make_feasible
from sqlanon.completion.model_rows import ModelRows
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

CUTOFF = 1e-9  # of the largest eigenvalue: what is smaller is none


@dataclass(frozen=True)
class ClassTotals:
    """Hold totals of K classes: rows by value, K x V, and by level, K x T, each row of every column counted.

    sized_values, sized_levels: Σ_g w_g |g| s_g(v) and Σ_g w_g |g| n_g(c), the groups weighed by w.
    """

    values: Array
    levels: Array
    sized_values: Array
    sized_levels: Array


def estimate_level_counts(normal: Array, shared: Array, totals: ClassTotals) -> Array:
    """Return the estimated rows by level and value, T x V.

    normal: Σ_g w_g s_g s_g^T, V x V. shared: Σ_g w_g n_g(c) s_g(v), T x V. The estimates
    sum to the values' totals over the levels of a column, and to the levels' over values; they may be negative.
    """
    rows = totals.values.sum(axis=1, keepdims=True)
    value_share, level_share = totals.values / rows, totals.levels / rows
    sized_share = value_share * totals.sized_values.sum(axis=1, keepdims=True)
    evidence = shared.T - totals.sized_values.T @ level_share - value_share.T @ totals.sized_levels
    evidence += sized_share.T @ level_share
    centred = normal - totals.sized_values.T @ value_share - value_share.T @ totals.sized_values
    centred += sized_share.T @ value_share
    deviations = np.linalg.pinv(centred, rcond=CUTOFF, hermitian=True) @ evidence
    added = totals.values.sum(axis=0)[:, None] * deviations - totals.values.T @ (value_share @ deviations)
    return np.asarray((totals.values.T @ level_share + added).T)


def read_level_counts(space: ModelRows, given: Mapping[str, Sql], draws: list[str], values: Array) -> Array:
    """Return how many rows by level and value are to be dealt in each draw, draws x T x V, none negative.

    given: coded_row, holding, group_class, group_weight with its columns of `draws`. values: the values' totals, V.
    """

    def frame(section: str, **more: object) -> pd.DataFrame:
        sql = space.render_own(f"completion/groups/{section}", given, **more, draws=draws)
        return space.engine.frame(sql)

    def weighed(found: pd.DataFrame) -> Array:
        return found[draws].to_numpy(dtype=float).T

    levels = space.rows_of_levels
    products = frame("value_product")
    value, other = (products[name].to_numpy(dtype=int) - 1 for name in ("code", "other_code"))
    # S, draws x V x V, is symmetric; the query sums each pair of values once
    normal = np.zeros((len(draws), len(values), len(values)))
    normal[:, value, other] = normal[:, other, value] = weighed(products)
    shared = np.zeros((len(draws), len(levels), len(values)))
    for level in space.levels:
        products = frame("level_product", level=level)
        place = (products["level"].to_numpy(dtype=int), products["code"].to_numpy(dtype=int) - 1)
        shared[:, *place] = weighed(products)

    def classes(name: str, items: Sequence[str], first: int, count: int, **read: object) -> tuple[Array, Array]:
        """Return rows by class and value or level, K x count, and the sized sums of every draw, draws x K x count."""
        found = pd.concat([frame("class_value", item=item, name=name, **read) for item in items])
        place = (found["class_number"].to_numpy(dtype=int), found[name].to_numpy(dtype=int) - first)
        rows = np.zeros((int(place[0].max()) + 1, count))
        rows[place] = found["row_count"]
        sized = np.zeros((len(draws), *rows.shape))
        sized[:, *place] = weighed(found)
        return rows, sized

    holding, row = {"counted": given["holding"]}, {"counted": given["coded_row"]}
    rows, sized_values = classes("code", ["code"], 1, len(values), **holding, row_count=Sql("counted.held"))
    level_rows, sized_levels = classes("level", space.levels, 0, len(levels), **row, row_count=Sql("1"))
    targets = []
    for draw in range(len(draws)):
        totals = ClassTotals(rows, level_rows, sized_values[draw], sized_levels[draw])
        estimates = estimate_level_counts(normal[draw], shared[draw], totals)
        targets.append(np.concatenate([make_feasible(estimates[part], levels[part], values) for part in space.parts]))
    return np.stack(targets)
