"""What groups say of people who have several values each: every value by itself, in closed form.

A value v belongs to f_v of N people, in f_v groups: to one of each. With x of each person (1 of a hit; what is measured
of it), b_v, the sum of x over the people of v's groups, holds the sum T_v over v's owners, and what the others of these
groups add: m_v = sum of n_g - 1 people, as if drawn from the N - f_v who do not have v. So E b_v = T_v + r_v (X - T_v)
with r_v = m_v/(N - f_v) and X the sum of x over everybody. Classes (signatures of an r-robust release) are dealt apart:

    T_v = U_v + sum over c of (b_cv - r_cv X_c - (1 - r_cv) f_cv X_c/N_c) / ρ_v,    U_v = sum over c of f_cv X_c/N_c,
    ρ_v = sum over c of (1 - r_cv) f_cv / f_v,    Var T_v = sum over c of m_cv (1 - r_cv) Var_c x / ρ_v²,

where what owners have more of x than their class is alike in all classes. The others are not quite drawn evenly: an
owner keeps out who shares another value, and people are dealt by their most frequent values. So the variance is taken
1.6 times, and 3 % of f_v are added to the error, in deviations of x; by measurement, see tests/benchmarks/persons.py.
Errors of two values go together in the groups that hold both.

Most of all an owner of many values keeps out others of many values. So x is taken as b k + x', with k the number of
somebody's values: b from how the sum of x over a group goes with K_g, its number of values, for sets were dealt before
anybody looked at x. What T_v misses is then b times what the same formula misses of the sum of k over v's owners. That
one is known for all values together: the sum of k² over everybody, which the release publishes as the mean κ of k over
the pairs of person and value. It is parted by the square of what owners have besides v, and may be off by half of it.
Axes: C cells, K cases, L classes, V values, P pairs of class and value, J value sets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sqlanon.estimators.aggregates import LinearAggregate
from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.estimators.inference import Inference, SolvedAggregate
from sqlanon.estimators.inference_by_class import LIKELY, divide_sums, stack_cells
from sqlanon.estimators.moments import HitSums, Moments, SelectedValues, Summand

FULL = 0.8  # of r: from which on a value stands in most groups of a class
WIDER, UNEVEN = 1.6, 0.03  # times the variance, and a share of f
UNSURE = 0.5  # of what is added to a value for what sizes miss: its standard error
LEAST_TOLD = 0.05  # of 1 - r: a value in more groups tells no more of sizes
LEAST_SOLVED = 1e-4  # of ρ, of squares of sizes: below it a value stands in every group, or sizes are alike in all


@dataclass(frozen=True)
class PlacedValues:
    """The values of a release by class: of each pair its class, code, f, m, and K added over its groups (length P).

    people, mates, people_facts: of everybody of each class the same (L): N, and n - 1 and K_g added over people.
    owner_values: κ. shared: in how many groups two values stand, V x V; read where a question asks for several values.
    """

    owner: IntArray
    code: IntArray
    totals: Array
    others: Array
    facts: Array
    people: Array
    mates: Array
    people_facts: Array
    owner_values: float
    value_count: int
    shared: Callable[[], sparse.csr_array]

    @property
    def drawn(self) -> Array:
        """Return r of each pair."""
        return np.asarray(self.others / (self.people[self.owner] - self.totals))

    @cached_property
    def solved(self) -> Array:
        """Return ρ of each value, V."""
        whole = self.by_value((1 - self.drawn) * self.totals) / self.by_value(self.totals)
        return np.maximum(whole, LEAST_SOLVED)

    def by_value(self, each: Array) -> Array:
        """Add what is said of pairs, V."""
        return np.asarray(np.bincount(self.code, each, self.value_count))

    def by_class(self, each: Array) -> Array:
        """Add what is said of pairs, L."""
        return np.asarray(np.bincount(self.owner, each, len(self.people)))

    def attribute(self, shared: Array, total: Array) -> Array:
        """Return T of each value (V): shared, b of each pair; total, X of each class."""
        likely = self.totals * (total / self.people)[self.owner]
        more = shared - self.drawn * total[self.owner] - (1 - self.drawn) * likely
        return np.asarray(self.by_value(likely) + self.by_value(more) / self.solved)

    @cached_property
    def missed(self) -> Array:
        """Return what T misses of the sum of k over the owners of each value, V."""
        counted, owners = self.attribute(self.facts, self.by_class(self.totals)), self.by_value(self.totals)
        part = np.maximum(counted - owners, 0.0) ** 2 / owners
        most = min(self.owner_values, float(self.value_count))
        return np.asarray((most * owners.sum() - counted.sum()) * part / max(part.sum(), 1.0))

    def slope(self, shared: Array, total: Array, spread: Array) -> tuple[float, float]:
        """Return b and its standard error; shared (P), total (L): as for `attribute`, spread: the variance of x (L).

        With h_g the sum of x in a group of n people, h = a n + b K is solved where both sides agree in the groups of
        each class, and over all groups weighed by their values. A value counts 1 / (1 - r): what frequent values say
        of x goes with sizes among people as it does with rare ones, and groups that lack a frequent value are few.
        """
        people, facts, owner = self.people, self.people_facts, self.owner
        mean = self.by_class(self.totals) / people
        rows = self.others + self.totals  # n added over the value's groups
        weight = 1 / np.maximum(1 - self.drawn, LEAST_TOLD)
        squares, own = self.by_class(self.facts), self.mates + people  # K² and n² added over groups
        span = float(np.sum(weight * (self.facts - mean[owner] * rows)))
        apart = float((squares - mean * facts).sum())
        if min(span, apart) <= LEAST_SOLVED * squares.sum():  # all groups have about as many values for each person
            return 0.0, 0.0
        found = float(np.sum(weight * (shared - (total / people)[owner] * rows)))
        noise = float((own / people * spread * (squares - 2 * mean * facts + mean**2 * own)).sum())
        return found / span, np.sqrt(max(noise, 0.0)) / apart


class SetInference(Inference):
    """Solve each value of a release of people who have several."""

    def __init__(
        self, moments: Moments, selected: SelectedValues, values: PlacedValues, hit_sums: HitSums, left_out: float
    ) -> None:
        """Take moments, selected values, the release's values by class, and the hits' sums by class.

        left_out: people of the source that the release leaves out.
        """
        super().__init__(moments, selected)
        self.values, self.hit_sums, self.left_out = values, hit_sums, left_out

    def _bound(self, aggregate: LinearAggregate) -> tuple[Array, Array]:
        """Return bounds of each value's owners among the hits: a person's values are counted apart, not the person."""
        if aggregate.function.is_ratio:
            return super()._bound(aggregate)
        selected, weights, totals = self.selected, aggregate.weights, self.moments.totals[self.selected.code]
        if aggregate.number is not None:
            least = most = np.full((len(self.rows), selected.set_count), np.nan)
            return least, most
        rows = self.rows[:, selected.case]
        most = np.minimum(np.minimum(selected.gather(self.moments.columns["shared"]), totals), rows)
        least = np.maximum(rows + totals - self.moments.row_count, 0.0)
        low, high = np.where(weights < 0, most, least), np.where(weights < 0, least, most)
        return selected.sum_by_set(low, weights), selected.sum_by_set(high, weights)

    def _bound_left_out(self, aggregate: LinearAggregate, value: Array) -> tuple[Array, Array]:
        """Return by how much those who are left out may move a sum: they have the values that groups are full of.

        Of a value that stands in most groups of a class each of them may be an owner, of another a share as of those
        published, or twice as many; they are hits as often as those are.
        """
        if not self.left_out or aggregate.function.is_ratio:
            return np.zeros_like(value), np.zeros_like(value)
        values, code = self.values, self.selected.code
        crowded = np.zeros(values.value_count, dtype=bool)
        crowded[values.code[values.drawn > FULL]] = True
        likely = np.where(crowded, 1.0, np.minimum(LIKELY * self.moments.totals[:-1] / self.moments.row_count, 1.0))
        column = self.moments.columns[aggregate.column(aggregate.degree)][:, :, -1]
        each = self.left_out * likely[code] * column[:, self.selected.case] / self.moments.row_count
        ones = np.ones(len(code))
        low = self.selected.sum_by_set(np.minimum(each * aggregate.weights, 0.0), ones)
        return low, self.selected.sum_by_set(np.maximum(each * aggregate.weights, 0.0), ones)

    def _solve(self, aggregate: LinearAggregate) -> SolvedAggregate:
        cells = [self._solve_cell(aggregate, cell) for cell in range(len(self.rows))]
        return stack_cells(cells, self.selected.set_count)

    def _solve_cell(self, aggregate: LinearAggregate, cell: int) -> SolvedAggregate:
        """Return the estimate of one cell, each field of length J."""
        if not aggregate.function.is_ratio:
            summand = Summand() if aggregate.number is None else Summand(aggregate.number, 0.0)
            value, error = self._weigh(cell, summand, aggregate.weights)
            return SolvedAggregate(value, error, np.zeros_like(value), np.zeros_like(value))
        number, centre = aggregate.number, 0.0
        if number is not None:
            count = self.moments.columns[f"count_uniform_{number}"][cell, :, -1].sum()
            centre = self.moments.columns[f"sum_uniform_{number}"][cell, :, -1].sum() / count if count else 0.0
        above = self._weigh(cell, Summand() if number is None else Summand(number, centre), aggregate.weights)
        rows = self._weigh(cell, Summand() if number is None else Summand(number), aggregate.present)
        return divide_sums(centre, above, rows)

    def _weigh(self, cell: int, summand: Summand, weights: Array) -> tuple[Array, Array]:
        """Return the sum over the selected v of w_v T_v, and its standard error, each J."""
        value, variance, moved = np.zeros((3, self.selected.set_count))
        for case in np.unique(self.selected.case):
            inside = self.selected.case == case
            code, place = self.selected.code[inside], self.selected.set[inside]
            total, noise, slope, error = self._estimate(cell, int(case), summand)
            np.add.at(value, place, weights[inside] * total[code])
            weighed = weights[inside] * np.sqrt(noise[code])
            np.add.at(variance, place, weighed**2)
            if len(np.unique(place)) < len(code):
                variance += self._go_together(code, place, weighed)
            # what sizes add goes with the same slope in all values
            missed = weights[inside] * self.values.missed[code]
            np.add.at(value, place, slope * missed)
            np.add.at(moved, place, error * missed)
            np.add.at(variance, place, (UNSURE * slope * missed) ** 2)
        return value, np.sqrt(variance + moved**2)

    def _go_together(self, code: IntArray, place: IntArray, weighed: Array) -> Array:
        """Return what errors of values that stand in the same groups add to the variances of their sets, J."""
        shared = self.values.shared()[code][:, code].tocoo()
        pairs = (shared.row != shared.col) & (place[shared.row] == place[shared.col])
        one, other = shared.row[pairs], shared.col[pairs]
        totals = np.sqrt(self.moments.totals[code])
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.nan_to_num(weighed / totals)
        together = shared.data[pairs] * each[one] * each[other]
        return np.asarray(np.bincount(place[one], together, self.selected.set_count))

    def _estimate(self, cell: int, case: int, summand: Summand) -> tuple[Array, Array, float, float]:
        """Return T and its variance by value, V each; and b with its standard error."""
        values, sums = self.values, self.hit_sums.sum_hits(cell, case, summand)
        shared = sums.shared[values.owner, values.code]
        total, square = (of_class[:-1, -1] for of_class in (sums.uniform, sums.square))  # of everybody
        drawn, mean = values.drawn, total / values.people
        spread = np.maximum(square / values.people - mean**2, 0.0)
        noise = WIDER * values.others * (1 - drawn) + (UNEVEN * values.totals * (1 - drawn)) ** 2
        slope, error = values.slope(shared, total, spread)
        value = values.attribute(shared, total)
        return value, values.by_value(noise * spread[values.owner]) / values.solved**2, slope, error
