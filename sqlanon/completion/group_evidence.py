"""What groups say of how values go with cells, in draws of weights of the groups (a Bayesian bootstrap, Rubin 1981)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sqlanon.completion.centred_least_squares import ClassTotals, estimate_cell_counts
from sqlanon.completion.feasible_counts import make_feasible
from sqlanon.completion.model_rows import ModelRows
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql


class GroupEvidence:
    """Read the sums of one release's groups, all draws at once."""

    def __init__(self, space: ModelRows, relations: Mapping[str, Sql], draws: Sequence[str], values: Array) -> None:
        """Take coded_row, holding, group_class, group_weight with its columns of draws, and the values' totals, V."""
        self.space, self.values, self.draws, self.given = space, values, list(draws), dict(relations)

    def estimate(self) -> Array:
        """Return how many rows by cell and value are to be dealt in each draw, draws x T x V, none of them negative."""
        cells, parts = self.space.rows_of_cells, self.space.parts
        values, normal, shared = len(self.values), self._read_products(), self._read_shared()
        rows, sized_values = self._read_classes("class_value", "value_number", values)
        cell_rows, sized_cells = self._read_classes("class_cell", "cell", len(cells))
        found = []
        for draw in range(len(self.draws)):
            totals = ClassTotals(rows, cell_rows, sized_values[draw], sized_cells[draw])
            one = estimate_cell_counts(normal[draw], shared[draw], totals)
            found.append(np.concatenate([make_feasible(one[part], cells[part], self.values) for part in parts]))
        return np.stack(found)

    def _read_products(self) -> Array:
        """Return S, draws x V x V."""
        normal = np.zeros((len(self.draws), len(self.values), len(self.values)))
        frame = self._frame("value_product")
        one, other = (frame[name].to_numpy(dtype=int) - 1 for name in ("value_number", "other_number"))
        # S is symmetric; the query sums each pair of values once
        normal[:, one, other] = normal[:, other, one] = frame[self.draws].to_numpy(dtype=float).T
        return normal

    def _read_shared(self) -> Array:
        """Return b, draws x T x V."""
        shared = np.zeros((len(self.draws), len(self.space.rows_of_cells), len(self.values)))
        for cell in self.space.cells:
            frame = self._frame("cell_product", cell=cell)
            place = (frame["cell"].to_numpy(dtype=int), frame["value_number"].to_numpy(dtype=int) - 1)
            shared[:, *place] = frame[self.draws].to_numpy(dtype=float).T
        return shared

    def _read_classes(self, template: str, name: str, count: int) -> tuple[Array, Array]:
        """Return rows by class and value or cell, K x count, and the sized sums of every draw, draws x K x count."""
        if name == "cell":
            frame = pd.concat([self._frame(template, cell=cell) for cell in self.space.cells])
            number = frame[name].to_numpy(dtype=int)
        else:
            frame = self._frame(template)
            number = frame[name].to_numpy(dtype=int) - 1
        place = (frame["class_number"].to_numpy(dtype=int), number)
        rows = np.zeros((int(place[0].max()) + 1, count))
        rows[place] = frame["row_count"]
        sized = np.zeros((len(self.draws), *rows.shape))
        sized[:, *place] = frame[self.draws].to_numpy(dtype=float).T
        return rows, sized

    def _frame(self, template: str, **values: object) -> pd.DataFrame:
        sql = self.space.render_own(template, self.given, **values, draws=self.draws)
        return self.space.engine.frame(sql)
