"""From moments to evidence class by class: the ridge's posterior for every aggregate. Arrays only, no engine.

What the rest (groups of several classes) adds is answered uniformly; its variance is that of values dealt to the hits
at random. Axes: C cells, K cases, V sensitive values, J value sets, as in `inference`; L classes.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.estimators.aggregates import LinearAggregate, Pair, correlate
from sqlanon.estimators.class_systems import OWN_GRID, TOLERANCE, ClassSystems, centre_outcome
from sqlanon.estimators.evidence import Array, BoolArray, IntArray, join_fields
from sqlanon.estimators.inference import Inference, SolvedAggregate, round_whole
from sqlanon.estimators.moments import ClassSums, HitSums, Moments, SelectedValues, Summand
from sqlanon.estimators.ridge import SHARED_GRID, MergedClasses, MergedPosterior, Posterior

CHUNK = 4_000_000  # numbers in the directions that are estimated at once
MOST_KEPT = 25_000_000  # numbers in the posteriors that are kept for the aggregates to come; others are solved again
POSTERIOR = 2 * len(OWN_GRID) + 1  # numbers that are kept for a value of a class, with what holds them
HITS = Summand()
GRADES = 12  # kinds of a set's values, by what they weigh: of the values of a kind only the sum is looked for
FREQUENT = 0.02  # of the rows: such values are never merged; merged, they cost a column of 96 values twice the error
MOST_MERGED = 4000  # classes that are prepared anew for the sets of one question
FEW_VALUES = 10  # of so few values that stand in every group, one may have all rows that a release leaves out
VALUE_WEIGHT = 0.5  # of each such value in the Dirichlet distribution of these rows
LIKELY = 2.0  # times what rows like those of the smallest classes would count; by measurement, see benchmarks
TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class _MergedSets:
    """Value sets (Q) of which values of one case are merged, and the release's classes by their kinds."""

    case: int
    sets: IntArray
    classes: MergedClasses


@dataclass(frozen=True)
class _WeighedValues:
    """Selected values of one case with a weight each: code, place of the value set, weight; length n."""

    code: IntArray
    place: IntArray
    weight: Array

    def of(self, chosen: BoolArray) -> "_WeighedValues":
        """Return those that are chosen (n)."""
        return _WeighedValues(self.code[chosen], self.place[chosen], self.weight[chosen])


class ClassInference(Inference):
    """Solve each class of a release for one query, aggregate by aggregate."""

    def __init__(
        self,
        moments: Moments,
        selected: SelectedValues,
        systems: ClassSystems,
        hit_sums: HitSums,
        left_out: float = 0,
        thresholds: int = 1,
    ) -> None:
        """Take moments over all classes, selected values, the release's classes and the hits' sums by class.

        left_out: rows of the source that the release leaves out. thresholds: how many cells in a row are of the same
        hits.
        """
        super().__init__(moments, selected)
        self.thresholds = thresholds
        self.systems, self.hit_sums, self.left_out = systems, hit_sums, left_out
        self._merges = len(find_merged(systems, selected.code, selected.set)) > 0
        self._posteriors: dict[tuple[int, int, Summand], Posterior] = {}
        self._counted: dict[int, tuple[Array, Array]] = {}  # by the first cell of these hits
        self._merged: list[_MergedSets] = []

    def _solve(self, aggregate: LinearAggregate) -> SolvedAggregate:
        """Solve some value sets at a time where values are merged: their classes are held for all cells."""
        sets, found = self.selected.set_count, list[SolvedAggregate]()
        step = max(1, CHUNK // _count_merged(self.systems)) if self._merges else max(sets, 1)
        for start in range(0, max(sets, 1), step):
            some, inside = self.selected.cut(start, min(start + step, sets))
            part, of_part = self.about(some), aggregate.choose(inside)
            part._counted, part._merged = {}, part._merge_sets(of_part.weights)
            cells = [part._solve_cell(of_part, cell) for cell in range(len(self.rows))]
            found.append(stack_cells(cells, some.set_count))
            self.upper_bound |= part.upper_bound
        return join_fields(found, axis=1)

    # -- sums and averages, one cell ------------------------------------------------------------

    def _solve_cell(self, aggregate: LinearAggregate, cell: int) -> SolvedAggregate:
        """Return the estimate of one cell, each field of length J."""
        if aggregate.function.is_ratio and aggregate.number is None:
            return self._solve_average_of_values(aggregate, cell)
        summand = self._summand(aggregate, cell)
        value, error = self._solve_sums(cell, summand)(aggregate.weights)
        if aggregate.function.is_ratio:
            return self._divide_sum(aggregate, summand, cell, (value, error))
        none = np.zeros_like(value)
        return SolvedAggregate(round_whole(value), error, none, none)

    def _divide_sum(
        self, aggregate: LinearAggregate, summand: Summand, cell: int, above: tuple[Array, Array]
    ) -> SolvedAggregate:
        """Solve c + Σ(e - c)/n with c the mean of e over all hits: the sum, which is `above`, and n are two outcomes.

        Their errors are taken for independent: what e - c says of a value says nothing of how many rows count.
        """
        count, rows = (self.moments.columns[name][cell].sum() for name in (aggregate.column(0), "uniform"))
        # where no e is NULL all hits count, whatever e is: they are solved once for many expressions
        counted = HITS if count == rows else Summand(aggregate.number)
        first = cell - cell % self.thresholds
        if first not in self._counted or counted != HITS:
            self._counted[first] = self._solve_sums(cell, counted)(aggregate.present)
        return divide_sums(summand.centre or 0.0, above, self._counted[first])

    def _solve_average_of_values(self, aggregate: LinearAggregate, cell: int) -> SolvedAggregate:
        """Return the ratio r = A/B of two sums over the same shares; its variance is that of A - r B over B²."""
        weigh = self._solve_sums(cell, HITS)
        (top, top_error), (rows, rows_error) = weigh(aggregate.weights), weigh(aggregate.present)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(rows > 0, top / rows, np.nan)
            if (rows_error <= TOLERANCE * rows).all():  # all values count: how many rows do is known
                return _bound_ratio(value, top_error / rows, *np.zeros((2, len(rows))))
            away = aggregate.weights - np.nan_to_num(value)[self.selected.set] * aggregate.present
            _, away_error = weigh(away)
            # Cov(X, B) = (Var(X + B) - Var X - Var B) / 2 with X = A - r B: the posterior gives variances only.
            _, both = weigh(away + aggregate.present)
            crossed = np.clip(
                (both**2 - away_error**2 - rows_error**2) / 2, -away_error * rows_error, away_error * rows_error
            )
            return _bound_ratio(value, away_error / rows, -2 * crossed / rows**2, rows_error**2 / rows**2)

    def correlate(self, pair: Pair, other: Inference, both: Moments | None = None) -> Array | None:
        """Return the correlation of the errors of a pair, the second over values of `other`, C x J; None: not known.

        The posterior gives variances of one measure only: of the pair's directions, under the first's measure, from
        Var(a + a') = Var a + 2 Cov + Var a'. What two sums measure differs on top of that as it does from row to row.
        What e less its mean says of a value says nothing of how many rows count (as in `_divide_sum`).
        both: moments of the hits that both count, where these are not the same hits.
        """
        shape = (len(self.rows), self.selected.set_count)
        averages = [aggregate for aggregate in (pair.one, pair.other) if aggregate.function.is_ratio]
        if averages and both is not None and not both.columns["uniform"].any():
            return np.zeros(shape)
        if len(set(self.selected.case) | set(other.selected.case)) > 1 or any(
            average.number is None for average in averages
        ):
            return None
        same = both is None and pair.one.number == pair.other.number
        if averages and not same:
            return np.zeros(shape) if len(averages) == 1 and None in (pair.one.number, pair.other.number) else None
        rows = np.ones((len(self.rows), 1)) if same else self._correlate_rows(pair, other.moments, both or self.moments)
        if not rows.any():
            return np.zeros(shape)
        joined, apart = copy(self), np.repeat([True, False], [len(self.selected.code), len(other.selected.code)])
        joined.selected, joined._merged = self.selected.join(other.selected), []
        weights = np.concatenate([pair.one.weights, pair.other.weights])
        correlations = np.zeros(shape)
        for cell in range(len(correlations)):
            weigh = joined._solve_sums(cell, self._summand(pair.one, cell))
            together, variance, other_variance = (weigh(weights * inside)[1] ** 2 for inside in (True, apart, ~apart))
            with np.errstate(invalid="ignore"):  # where groups tell nothing, variances are infinite
                covariance = (together - variance - other_variance) / 2
            correlations[cell] = correlate(covariance, variance, other_variance)
        return correlations * rows

    def _summand(self, aggregate: LinearAggregate, cell: int) -> Summand:
        """Return what an aggregate sums: of an average what is measured less its mean over all hits.

        What is multiplied by what values say is summed as it is.
        """
        if aggregate.number is None:
            return HITS
        total, count = (self.moments.columns[aggregate.column(degree)][cell].sum() for degree in (1, 0))
        centred = aggregate.function.is_ratio and not aggregate.is_product
        return Summand(aggregate.number, total / count if centred and count else 0.0)

    def _correlate_rows(self, pair: Pair, other: Moments, both: Moments) -> Array:
        """Return the correlation over the release's rows of what two sums measure on hits, C x 1.

        other, both: moments of the second's hits, and of those that both count.
        """
        sides = ((self.moments, pair.one), (other, pair.other))
        mean, other_mean = (_mean_column(side, one.column(one.degree)) for side, one in sides)
        product, square, other_square = (
            _mean_column(side, pair.turned(turn).product_column)
            for turn, side in enumerate((both, self.moments, other))
        )
        return correlate(product - mean * other_mean, square - mean**2, other_square - other_mean**2)[:, None]

    # -- rows that the release leaves out ---------------------------------------------------------

    def _bound_left_out(self, aggregate: LinearAggregate, value: Array) -> tuple[Array, Array]:
        low, high = np.zeros_like(value), np.zeros_like(value)
        if not self.left_out or not len(self.systems.rows):
            return low, high
        # A row more moves AVG by what it counts less the mean, over the rows that are counted.
        average = aggregate.function.is_ratio
        size = self._sum_uniform(aggregate, aggregate.parts()[-1]) if average else np.ones_like(value)
        for cell, case in itertools.product(range(len(value)), np.unique(self.selected.case)):
            surplus, like_class = self._weigh_left_out(aggregate, cell, int(case), value[cell])
            rows = np.maximum(size[cell], 1.0)[:, None]
            reaches = [bound_like_classes(like_class / rows, 1 / self.systems.groups, self.left_out)]
            if len(self.systems.everywhere.share):
                reaches.append(bound_left_out(surplus / rows, self.systems.everywhere.share, self.left_out))
            # How many rows are of classes that left no group is not known: the wider reach is that of all.
            low[cell] += np.min([reach[0] for reach in reaches], axis=0)
            high[cell] += np.max([reach[1] for reach in reaches], axis=0)
        return low, high

    def _weigh_left_out(self, aggregate: LinearAggregate, cell: int, case: int, value: Array) -> tuple[Array, Array]:
        """Return what one more row would count (of AVG: times rows), as it is of the values that stand in every group
        of their class, J x n, or of a class that is like one of the release's, J x L.
        """
        systems, everywhere = self.systems, self.systems.everywhere
        inside = self.selected.case == case
        weights, present = np.zeros((2, self.selected.set_count, len(self.moments.totals)))
        place = (self.selected.set[inside], self.selected.code[inside])
        weights[place], present[place] = aggregate.weights[inside], aggregate.present[inside]
        # It is a hit as often, and has as much of e, as the rows of its class on average.
        top, bottom = (
            self.hit_sums.total_hits(cell, case, aggregate.number, degree)[:-1] / systems.rows
            for degree in (aggregate.degree, 0)
        )
        values = systems.totals / systems.rows[:, None]
        surplus = weights[:, everywhere.code] * top[everywhere.owner]
        like_class = weights @ values.T * top
        if aggregate.function.is_ratio:
            mean = np.nan_to_num(value)[:, None]
            surplus = surplus - mean * present[:, everywhere.code] * bottom[everywhere.owner]
            like_class = like_class - mean * (present @ values.T) * bottom
        return surplus, like_class

    # -- linear sums over p ---------------------------------------------------------------------

    def _solve_sums(self, cell: int, summand: Summand) -> Callable[[Array], tuple[Array, Array]]:
        """Return what finds sums over the selected v of w_v times the sum of x over v's rows, with standard errors.

        It takes w (n) and returns both (J). Of cases the covariances are not followed: the standard errors' sum is an
        upper bound.
        """
        sums = {int(case): self.hit_sums.sum_hits(cell, int(case), summand) for case in np.unique(self.selected.case)}
        merged = [
            (one, MergedPosterior(one.classes, centre_outcome(self.systems, sums[one.case]))) for one in self._merged
        ]

        def weigh(weights: Array) -> tuple[Array, Array]:
            value, error = np.zeros((2, self.selected.set_count))
            uncertain = np.zeros(self.selected.set_count, dtype=int)
            for case, hits in sums.items():
                inside = self.selected.case == case
                values = _WeighedValues(self.selected.code[inside], self.selected.set[inside], weights[inside])
                apart, estimated = np.ones(len(values.code), dtype=bool), []
                for one, posterior in merged:
                    if one.case == case:
                        some = np.isin(values.place, one.sets)
                        apart &= ~some
                        estimated.append(_estimate(posterior, hits, one.sets, values.of(some)))
                if apart.any():
                    solved = self._solve_apart(cell, case, summand, hits)
                    estimated += self._estimate_sets(solved, hits, values.of(apart))
                for value_sets, mean, variance in estimated:
                    value[value_sets] += mean
                    error[value_sets] += np.sqrt(variance)
                    uncertain[value_sets] += variance > 0
            self.upper_bound |= bool((uncertain > 1).any())
            return value, error

        return weigh

    def _merge_sets(self, grades: Array) -> list[_MergedSets]:
        """Return the value sets of which several rare values are merged.

        The prior takes values for unrelated: it draws each of many to the mean, and with them what they have in
        common, a trend. Merged they have moments of their own, of which the groups tell far more. What stands beside
        them in groups is then as at random, which of frequent values would not be true: these are kept apart. grades:
        by which the values of a set are merged, n.
        """
        if not self._merges:
            return []
        totals, often, merged = self.systems.totals.sum(axis=0), _tell_frequent(self.systems), []
        for case in np.unique(self.selected.case):
            chosen = self.selected.case == case
            code, place = self.selected.code[chosen], self.selected.set[chosen]
            if not len(sets := find_merged(self.systems, code, place)):
                continue
            kind = np.zeros((len(sets), len(totals)), dtype=np.int64)
            for line, value_set in zip(kind, sets, strict=True):
                own = code[place == value_set]
                line[own] = 1 + _grade(grades[chosen][place == value_set], totals[own])
                line[often] = GRADES + 1 + np.arange(often.sum())
                line[:] = np.unique(line, return_inverse=True)[1]
            merged.append(_MergedSets(int(case), sets, MergedClasses(self.systems, kind)))
        return merged

    def _estimate_sets(
        self, posterior: Posterior, hits: ClassSums, values: _WeighedValues
    ) -> Iterator[tuple[IntArray, Array, Array]]:
        """Yield value sets with mean and variance, as many at once as memory allows."""
        systems = self.systems
        all_sets, count = np.unique(values.place), systems.totals.shape[1]
        step = max(1, CHUNK // max(1, count, len(OWN_GRID) * len(systems.shared_codes)))
        for start in range(0, len(all_sets), step):
            value_sets = all_sets[start : start + step]
            yield _estimate(posterior, hits, value_sets, values.of(np.isin(values.place, value_sets)))

    def _solve_apart(self, cell: int, case: int, summand: Summand, hits: ClassSums) -> Posterior:
        """Solve one x of one cell and case once, as long as there is room to keep it: of all hits before any other."""
        key = (cell, case, summand)
        if key not in self._posteriors:
            if sum(one.size for one in self._posteriors.values()) > MOST_KEPT:
                self._posteriors.clear()
            elif summand != HITS:  # another expression, or another cell's, is not asked again
                for other in [other for other in self._posteriors if other[0] != cell and other[2] != HITS]:
                    del self._posteriors[other]
            self._posteriors[key] = Posterior(self.systems, centre_outcome(self.systems, hits))
        return self._posteriors[key]


def _estimate(
    posterior: Posterior | MergedPosterior, hits: ClassSums, value_sets: IntArray, values: _WeighedValues
) -> tuple[IntArray, Array, Array]:
    """Return value sets (D) with mean and variance; values: of these, in their order."""
    place = np.searchsorted(value_sets, values.place)
    directions = np.zeros((len(value_sets), hits.shared.shape[1]))
    np.add.at(directions, (place, values.code), values.weight)  # a pair of sums may name a value twice
    mean, variance = posterior.estimate_sums(directions)
    rest, rest_variance = _deal_rest(hits, len(value_sets), replace(values, place=place))
    return value_sets, mean + rest, np.maximum(variance, 0.0) + rest_variance


def _mean_column(moments: Moments, name: str) -> Array:
    """Return the sum of a column of moments over the release's rows, C."""
    return np.asarray(moments.columns[name].sum(axis=(1, 2)) / moments.row_count)


def count_solved(systems: ClassSystems, cells: int, selected: SelectedValues) -> int:
    """Return how many numbers are kept of what is solved for so many cells: posteriors, and the one being solved."""
    values, shared = systems.cell_count, len(systems.shared_codes)
    if len(find_merged(systems, selected.code, selected.set)) == selected.set_count:
        each = _count_merged(systems)
        return 3 * each * min(selected.set_count, max(1, CHUNK // each))
    size = POSTERIOR * values + len(OWN_GRID) * len(SHARED_GRID) * shared**2
    return int(min(cells * size, MOST_KEPT) + 2 * size)


def _count_merged(systems: ClassSystems) -> int:
    """Return how many numbers are held of one value set that is merged."""
    kinds, (classes, values) = 1 + GRADES + int(_tell_frequent(systems).sum()), systems.totals.shape
    return int(max(len(OWN_GRID) * classes * kinds**2, values * kinds))


def _tell_frequent(systems: ClassSystems) -> BoolArray:
    """Tell which values of a release are frequent, V."""
    totals = systems.totals.sum(axis=0)
    return np.asarray(totals >= FREQUENT * totals.sum())


def find_merged(systems: ClassSystems, code: IntArray, place: IntArray) -> IntArray:
    """Return the value sets of which several rare values are merged; none, where so many sets would take too long.

    code, place: the selected values, and the set of each.
    """
    sets = np.flatnonzero(np.bincount(place[~_tell_frequent(systems)[code]]) > 1)
    return sets if len(sets) * len(systems.rows) <= MOST_MERGED else sets[:0]


def _grade(grades: Array, totals: Array) -> IntArray:
    """Return a kind for each of n values, from 0 on: equal grades share one, and kinds have about as many rows."""
    order = np.argsort(grades, kind="stable")
    below = np.cumsum(totals[order]) - totals[order]
    kinds = np.empty(len(grades), dtype=np.int64)
    kinds[order] = below * GRADES // max(float(totals.sum()), 1.0)
    different, place = np.unique(grades, return_inverse=True)
    first = np.full(len(different), GRADES, dtype=np.int64)
    np.minimum.at(first, place, kinds)
    return first[place]


def _deal_rest(sums: ClassSums, count: int, values: _WeighedValues) -> tuple[Array, Array]:
    """Return the rest's uniform sums and their variance at most, Σ x² - (Σ x)²/n, each of length `count`."""
    rest, squares = np.zeros((2, count))
    np.add.at(rest, values.place, values.weight * sums.uniform[-1, values.code])
    np.add.at(squares, values.place, values.weight**2 * sums.square[-1, values.code])
    rows = max(float(sums.count[-1].sum()), 1.0)
    return rest, np.maximum(squares - rest**2 / rows, 0.0)


def stack_cells(cells: Sequence[SolvedAggregate], set_count: int) -> SolvedAggregate:
    """Return the estimates of C cells, each of J value sets, as one of C x J."""
    stacked = [np.stack(line) for line in zip(*(vars(solved).values() for solved in cells), strict=True)]
    return SolvedAggregate(*(stacked or np.zeros((4, 0, set_count))))


def divide_sums(centre: float, above: tuple[Array, Array], rows: tuple[Array, Array]) -> SolvedAggregate:
    """Return the ratio centre + A/B of two sums, each with its standard error, whose errors are independent."""
    (top, top_error), (count, count_error) = above, rows
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(count > 0, top / count, np.nan)
        error = np.sqrt(top_error**2 + distance**2 * count_error**2) / count
        curve = count_error**2 / count**2
        return _bound_ratio(centre + distance, error, 2 * distance * curve, curve)


def _bound_ratio(value: Array, error: Array, growth: Array, curve: Array) -> SolvedAggregate:
    """Return a ratio; where its denominator may be none, it may be anything that the release allows (curve = inf)."""
    defined = ~np.isnan(value)
    return SolvedAggregate(
        value,
        np.where(defined, np.where(np.isnan(error), np.inf, error), np.nan),  # 0 times what is not told
        np.where(defined & np.isfinite(growth), growth, 0.0),
        np.where(defined, curve, np.inf),
    )


# How far rows that a release leaves out may move an answer. Of a class with groups such rows have values that stand in
# every one of them; how many have which is not published. Other classes leave no group at all, for they have too few
# different values: they are like the smallest classes.
def bound_left_out(each: Array, share: Array, rows: float) -> tuple[Array, Array]:
    """Return what `rows` rows that a release leaves out may take off and add, for D value sets: low <= 0 <= high.

    each: what one row of each kind would count (of a value that stands in every group of its class), D x n.
    share: how likely a row left out is one of them, n. Few such values may each have all of the rows: the range is
    that of `each`. Among more the rows are shared out by a Dirichlet distribution with a weight of a half for each
    (few values of a class have most of what it leaves out); the range is the middle 95 % of the beta distribution
    with the same range, mean and variance.
    """
    from scipy.special import betaincinv  # slow to load, and few answers need it

    least, most = each.min(axis=1), each.max(axis=1)
    low, high = least, most
    if len(share) > FEW_VALUES:
        # On [0, 1], by moments: mean μ, variance v = (Σ share each² - μ²)/(Σ weights + 1), size μ (1 - μ)/v - 1, and
        # the beta distribution has the parameters μ size and (1 - μ) size.
        reach = np.where(most > least, most - least, 1.0)
        mean = each @ share
        place = np.clip((mean - least) / reach, TOLERANCE, 1 - TOLERANCE)
        variance = np.maximum(each**2 @ share - mean**2, 0.0) / (len(share) * VALUE_WEIGHT + 1) / reach**2
        size = np.maximum(place * (1 - place) / np.maximum(variance, TOLERANCE**2) - 1, TOLERANCE)
        low, high = (least + (most - least) * betaincinv(place * size, (1 - place) * size, tail) for tail in TAILS)
    return rows * np.minimum(low, 0.0), rows * np.maximum(high, 0.0)


def bound_like_classes(each: Array, weight: Array, rows: float) -> tuple[Array, Array]:
    """Return what `rows` rows of classes that left no group may take off and add, for D value sets: low <= 0 <= high.

    each: what one row of each class would count, D x L. weight: how much such rows are like those of a class, L.
    """
    share = LIKELY * weight / weight.sum()
    low = np.maximum(np.minimum(each, 0.0) @ share, np.minimum(each.min(axis=1), 0.0))
    high = np.minimum(np.maximum(each, 0.0) @ share, np.maximum(each.max(axis=1), 0.0))
    return rows * low, rows * high
