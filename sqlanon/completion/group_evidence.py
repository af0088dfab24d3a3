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


class GroupEvidence:
    """Read the sums of one release's groups, all draws at once."""

    def __init__(self, space: ModelRows, relations: Mapping[str, Sql], draws: Sequence[str], values: Array) -> None:
        """Take coded_row, holding, group_class, group_weight with its columns of draws, and the values' totals, V."""
        self.space, self.values, self.draws, self.given = space, values, list(draws), dict(relations)

    def estimate(self) -> Array:
        """Return how many rows by level and value are to be dealt in each draw, draws x T x V, none negative."""
        levels, parts = self.space.rows_of_levels, self.space.parts
        values, normal, shared = len(self.values), self._read_products(), self._read_shared()
        rows, sized_values = self._read_classes("code", values)
        level_rows, sized_levels = self._read_classes("level", len(levels))
        targets = []
        for draw in range(len(self.draws)):
            totals = ClassTotals(rows, level_rows, sized_values[draw], sized_levels[draw])
            estimates = estimate_level_counts(normal[draw], shared[draw], totals)
            targets.append(
                np.concatenate([make_feasible(estimates[part], levels[part], self.values) for part in parts])
            )
        return np.stack(targets)

    def _read_products(self) -> Array:
        """Return S of each draw, draws x V x V."""
        frame, values = self._frame("completion/groups/value_product"), len(self.values)
        value, other = (frame[name].to_numpy(dtype=int) - 1 for name in ("code", "other_code"))
        # S is symmetric; the query sums each pair of values once
        normal = np.zeros((len(self.draws), values, values))
        normal[:, value, other] = normal[:, other, value] = frame[self.draws].to_numpy(dtype=float).T
        return normal

    def _read_shared(self) -> Array:
        """Return b, draws x T x V."""
        shared = np.zeros((len(self.draws), len(self.space.rows_of_levels), len(self.values)))
        for level in self.space.levels:
            frame = self._frame("completion/groups/level_product", level=level)
            place = (frame["level"].to_numpy(dtype=int), frame["code"].to_numpy(dtype=int) - 1)
            shared[:, *place] = frame[self.draws].to_numpy(dtype=float).T
        return shared

    def _read_classes(self, name: str, count: int) -> tuple[Array, Array]:
        """Return rows by class and value or level, K x count, and the sized sums of every draw, draws x K x count."""
        items, first, counted, row_count = self.space.levels, 0, "coded_row", "1"
        if name != "level":
            items, first, counted, row_count = [name], 1, "holding", "counted.held"
        read: dict[str, object] = {"counted": self.given[counted], "row_count": Sql(row_count)}
        frame = pd.concat(
            [self._frame("completion/groups/class_value", item=item, name=name, **read) for item in items]
        )
        number = frame[name].to_numpy(dtype=int) - first
        place = (frame["class_number"].to_numpy(dtype=int), number)
        rows = np.zeros((int(place[0].max()) + 1, count))
        rows[place] = frame["row_count"]
        sized = np.zeros((len(self.draws), *rows.shape))
        sized[:, *place] = frame[self.draws].to_numpy(dtype=float).T
        return rows, sized

    def _frame(self, template: str, **values: object) -> pd.DataFrame:
        sql = self.space.render_own(template, self.given, **values, draws=self.draws)
        return self.space.engine.frame(sql)
