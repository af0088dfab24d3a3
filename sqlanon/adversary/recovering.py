"""Draw plausible true values of randomized rows.

A row with codes c that shows y has the true value x of the kind k with probability in proportion to
exp(Σ_j β_j(c_j, k)) f_x/f_k T_xy; T is the channel of the closed form. The effects β are such that tables have as many
rows by code and kind as the closed form finds without bias, in draws of weights of the rows (a Bayesian bootstrap): by
the greatest likelihood, as those of groups, they are found too slowly where a row tells little of its own value. Each
sensitive column is recovered on its own.

Estimates x_cv without bias may be negative. The nearest table t >= 0 with row sums n_c and column sums f_v,

    min Σ_cv (t_cv - x_cv)² / u_cv,     u_cv = n_c f_v / N,

is found by Dykstra's alternating projections; cutting and scaling instead would take from what is large and well known.
A count that an estimate finds to be nothing is seldom 0, and a 0 would end in regressions without a solution: the least
that a count may be is a small part of what independence says.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.adversary.model_rows import ModelRows, Whole, salt_of
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.estimation.randomized import Randomized
from sqlanon.estimators.channels import ClosedForm
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")

LEAST_SHARE, LEAST_ERROR = 0.01, 0.05  # of the count that independence says, and of its square root: the smaller counts
ROUNDS = 20  # of alternating projections
HALVINGS = 40  # that find a row's multiplier
SCALINGS = 20  # of the last step, proportional fitting
FIRST_UPDATES = 12  # of the effects, from none to those of all tables together
UPDATES = 3  # of one table's, from these
WORTH = 1.0  # rows that are added to a count before its logarithm is taken
MOST_VALUES = 500  # of a randomized column: every row is weighed with each, in every update


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


class Recovering:
    """The rows of one randomized release, and the models of their true values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Number the release's rows; raise ReleaseError where the manifest does not say γ."""
        self.seed, self.loaded = seed, Randomized(engine, {"data": tables["data"]}, manifest)
        self.sensitive = self.loaded.sensitive
        shown_columns = {name: f"shown_{number}" for number, name in enumerate(self.sensitive, start=1)}
        self.published = tables["data"]
        self.space = ModelRows(engine, self.published, self.loaded.quasi, shown_columns)

    def complete(self, tables: int) -> Iterator[list[tuple[str, Sql, Sql]]]:
        """Yield for each completed table its sensitive columns, each with the relation of its true values' numbers."""
        numbered = [
            self.space.number_values(f"value_{place}", self.published, column, Sql("1"), self.loaded.gamma[place])
            for place, column in enumerate(self.sensitive)
        ]
        most = max(len(codes) for _, codes in numbered)
        if most > MOST_VALUES:
            raise DataError(
                f"the release has {most:,} sensitive values; complete learns of {MOST_VALUES:,} at most where they are"
                " randomized"
            )
        self.coded = self.space.code(int(max(codes.max() for _, codes in numbered)))
        models = [_Column(self, place, value, codes, tables) for place, (value, codes) in enumerate(numbered)]
        for number in range(1, tables + 1):
            log.info("recovering table %d of %d", number, tables)
            yield [model.draw(number) for model in models]

    def close(self) -> None:
        """Drop what was made."""
        self.space.close()
        self.loaded.close()


class _Column:
    """One randomized column of numbered rows: its channel, what each table is to hold of it, and the shared effects."""

    def __init__(self, release: Recovering, place: int, value: Sql, codes: Whole, tables: int) -> None:
        self.release, self.column, self.place, self.value = release, release.sensitive[place], place, value
        self.codes, self.kinds = codes - 1, np.eye(codes.max())[codes - 1]  # V, and V x K
        self.space, self.loaded = release.space, release.loaded
        # the level of the rows that show the first value; levels of quasi columns come before
        self.first = len(self.space.rows_of_levels)
        columns = {"levels": self.space.levels, "shown": f"shown_{place + 1}", "first": self.first}
        inputs = {"coded_row": release.coded, "value": value}
        self.shown = self.space.make(f"shown_row_{place}", "completion/randomized/shown_row", inputs, **columns)
        self.target = self._learn(tables)
        log.info("learning what all tables share of one column")
        none = np.zeros(self.target.shape[1:])
        relation, self.effects = self._converge(self.target.mean(axis=0), none, 0, FIRST_UPDATES)
        self.space.forget([str(relation)])

    def _write_channel(self) -> Array:
        """Return ln(T_xy f_x / f_k) as effects of the level that a row shows: V (y) x V (x).

        Effects say how many rows have values of a kind; inside it values x are as frequent as they are everywhere.
        """
        self.loaded.load([self.place])
        self.form: ClosedForm = self.loaded.closed_form(self.place)
        shares = self.form.expected(np.eye(len(self.form.counts)))  # row y: what is shown as y, by true value
        inside = self.form.counts / (self.form.counts @ self.kinds)[self.codes]
        return np.asarray(np.log(np.maximum(shares, 1e-12)) + np.log(np.maximum(inside, 1e-12)))

    def _solve(self, counts: Array) -> Array:
        """Return feasible counts by kind of the true values, T x K, of weighed rows by level and shown value."""
        levels, parts = self.space.rows_of_levels, self.space.parts
        rows, whole = levels[parts[0]].sum(), counts[parts[0]].sum(axis=0)
        # every draw has published counts, and by these a channel, of its own: with another's, totals would be far off
        values = np.minimum(whole * self.form.rows / whole.sum(), np.floor(self.form.rows / self.form.gamma))
        drawn = replace(self.form, counts=values)
        solved = drawn.solved(counts * (levels / np.maximum(counts.sum(axis=1), 1e-12))[:, None]) @ self.kinds
        values = values @ self.kinds * rows / values.sum()
        return np.concatenate([make_feasible(solved[part], levels[part], values) for part in parts])

    def _learn(self, tables: int) -> Array:
        """Return how many rows by level and kind the closed form finds for each table, tables x T x K.

        Each has weights of the rows of its own.
        """
        draws = {f"weight_{n}": salt_of(self.release.seed, "weight", self.place, n) for n in range(1, tables + 1)}
        name, inputs = f"row_weight_{self.place}", {"numbered": self.space.numbered}
        weights = self.space.make(name, "completion/randomized/row_weight", inputs, draws=list(draws.items()))
        inputs = {"shown_row": self.shown, "row_weight": weights}
        shown_counts = np.zeros((tables, self.first, len(self.codes)))
        for level in self.space.levels:
            sql = self.space.render("completion/randomized/shown_product", inputs, level=level, draws=list(draws))
            read = {name: np.asarray(column, float) for name, column in self.space.engine.arrays(sql).items()}
            place = (read["level"].astype(np.int64), read["value_number"].astype(np.int64) - 1)
            shown_counts[:, *place] = [read[name] for name in draws]
        self.space.forget([str(weights)])
        self.channel = self._write_channel()
        return np.stack([self._solve(counts) for counts in shown_counts])

    def draw(self, number: int) -> tuple[str, Sql, Sql]:
        """Return a table's values of this column: its name, the relation of numbers by row, the relation of values."""
        relation, _ = self._converge(self.target[number - 1], self.effects, number, UPDATES)
        return self.column, relation, self.value

    def _converge(self, target: Array, effects: Array, table: int, updates: int) -> tuple[Sql, Array]:
        """Draw until counts are those of the target, T x K, as far as draws allow; return the last draw, and β."""
        before: Sql | None = None
        for update in range(updates + 1):
            listed = self.space.keep_effects(np.concatenate([effects[:, self.codes], self.channel]))
            name, inputs = f"recovered_{self.place}_{table}_{update}", {"shown_row": self.shown, "effects": listed}
            salt = salt_of(self.release.seed, "recover", self.place, table, update)
            values = {"levels": self.space.levels, "salt": salt, "values": len(self.codes)}
            drawn = self.space.make(name, "completion/randomized/recovered", inputs, **values)
            self.space.forget([str(listed), *([] if before is None else [str(before)])])
            before = drawn
            if update < updates:
                effects = effects + find_shared_step(target, self._count(before), update, self.space.parts)
        assert before is not None
        return before, effects

    def _count(self, dealt: Sql) -> Array:
        """Return how many rows were given values by level and kind, T x K."""
        inputs = {"dealt": dealt, "value": self.value}
        sql = self.space.render("completion/rows/level_count", inputs, levels=self.space.levels)
        counted, counts = self.space.engine.arrays(sql), np.zeros(self.target.shape[1:])
        place = (np.asarray(counted["level"], np.int64), np.asarray(counted["code"], np.int64) - 1)
        counts[place] = np.asarray(counted["row_count"], float)
        return counts


def find_shared_step(target: Array, dealt: Array, update: int, parts: Sequence[slice]) -> Array:
    """Return how far effects move; every column finds the same fault in a value's total: together they mend it once."""
    part = parts[0]
    counts = ((target, dealt), (target[part].sum(axis=0), dealt[part].sum(axis=0)))
    step, shared = (np.log((wanted + WORTH) / (found + WORTH)) / (1 + update / 10) for wanted, found in counts)
    return np.asarray(step - shared * (1 - 1 / len(parts)))
