"""Is there more order inside groups than chance would make? A randomization test, exact for any number of people.

Where groups were drawn at random, people with the same value (and class) could have changed places: each such
arrangement is as likely as the published one, and all of them keep how values depend on columns. So the published
arrangement is compared with others that are drawn anew.

People of a group are ranked by a column, and the group's values in an order of values. Four statistics are computed:
how many people have the value at their rank, counted from the first, from the last, and from the place that the group's
number gives (`attack` names people by these three), and how strongly the two orders agree over all ranks (the sum of
the products of ranks, as in Spearman's coefficient). Each statistic of each column is standardized with the mean and
standard deviation of separately drawn arrangements, and the largest decides: it is one test.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
LEVEL = 9.9e-5  # how often drawn groups are refused, at most
DRAWS = math.ceil(1 / LEVEL) - 1  # arrangements that the published one has to surpass, each of them
SURE = 0.95  # how surely an order is refused that is said to be seen
_PILOT = 256  # arrangements that the statistics' means and deviations are of
_MOST_NUMBERS = 2**21  # numbers that are held at once
_STATISTICS = 4  # statistics of a column and an order of values
_ROUNDING = 1e-9  # statistics that are equal stay so, whatever standardizing does to their last digits


@dataclass(frozen=True)
class PlacedPeople:
    """People in published groups, as arrays with a number for each.

    group: the published number. stratum: who has the same value and class. value_ranks: for each order of the values,
    the rank of the person's value among all. columns: for each column, the person's place in its order, one for each.
    """

    group: Numbers
    stratum: Numbers
    value_ranks: Sequence[Numbers]
    columns: Mapping[str, Numbers]


@dataclass(frozen=True)
class Outcome:
    """What a randomization test comes to.

    aligned: the columns whose statistics surpass all arrangements. by_chance: the share of the people whom an order
    names right in drawn groups; seen_from: the share from which on it would be refused with 95 %: of the column that
    takes most. Above 1 nothing is sure to be seen.
    """

    aligned: tuple[str, ...]
    by_chance: float
    seen_from: float


@dataclass(frozen=True)
class _Shape:
    """The groups of one size: the slots of their members, G x n, and what the values say of each slot.

    number: the groups' numbers, G x 1. bounds: for each order of the values the first and last place of the slot's own.
    """

    slots: Numbers
    number: Numbers
    bounds: tuple[tuple[Numbers, Numbers], ...]

    @property
    def size(self) -> int:
        return int(self.slots.shape[1])


def judge_orders(people: PlacedPeople, seed: int, draws: int = DRAWS) -> Outcome | None:
    """Compare the published arrangement with so many drawn ones, until one of them reaches it; None: nobody has rivals.

    seed: of the draws. draws: with D of them a sound release is refused once in D + 1.
    """
    shapes = list(_find_shapes(people))
    if not shapes:
        return None
    # what is said to be seen is alike for equal releases, whatever the seed
    pilots = _arrange(people, np.random.default_rng(0), _PILOT)
    pilot = np.concatenate([_measure(people, shapes, part) for part in pilots])
    random = np.random.default_rng(seed)
    mean, deviation = pilot.mean(axis=0), pilot.std(axis=0)
    published = _measure(people, shapes, np.arange(len(people.group))[None])
    scores = _standardize(published, mean, deviation)[0]
    surpassed: NDArray[np.bool_] = np.greater(scores, 0)
    for part in _arrange(people, random, draws):
        largest = _standardize(_measure(people, shapes, part), mean, deviation).max()
        surpassed &= scores > largest + _ROUNDING
        if not surpassed.any():
            break
    return _conclude(tuple(people.columns), sum(shape.slots.size for shape in shapes), surpassed, mean, deviation)


def _conclude(
    names: tuple[str, ...], count: int, surpassed: NDArray[np.bool_], mean: Array, deviation: Array
) -> Outcome:
    by_column = surpassed.reshape(len(names), -1)
    aligned = tuple(names[number] for number in np.flatnonzero(by_column.any(axis=1)))
    normal = NormalDist()
    # the largest of so many statistics, none of which is told apart from the others
    margin = normal.inv_cdf(1 - LEVEL / len(mean)) + normal.inv_cdf(SURE)
    forward = np.arange(0, len(mean), _STATISTICS)
    thresholds = mean[forward] + margin * deviation[forward]
    worst = int(thresholds.argmax())
    return Outcome(aligned, float(mean[forward][worst]) / count, float(thresholds[worst]) / count)


def _find_shapes(people: PlacedPeople) -> Iterator[_Shape]:
    order = np.argsort(people.group, kind="stable")
    numbers, starts, sizes = np.unique(people.group[order], return_index=True, return_counts=True)
    for size in np.unique(sizes):
        if size == 1:  # who is alone is always at the own value's place
            continue
        of_size = sizes == size
        slots = order[starts[of_size][:, None] + np.arange(size)]
        bounds = tuple(_find_bounds(ranks[slots]) for ranks in people.value_ranks)
        yield _Shape(slots, numbers[of_size][:, None], bounds)


def _find_bounds(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first and the last place of each slot's value among those of its group; equal values share theirs."""
    ordered = np.sort(values, axis=1)
    before = (ordered[:, None, :] < values[:, :, None]).sum(axis=2)
    return before, before + (ordered[:, None, :] == values[:, :, None]).sum(axis=2) - 1


def _arrange(people: PlacedPeople, random: np.random.Generator, draws: int) -> Iterator[Numbers]:
    """Yield arrangements, D x N: the person in each slot, of the same stratum as the one who was published there."""
    base = np.argsort(people.stratum, kind="stable")
    stratum = people.stratum[base].astype(float)
    # few at first: most sound releases need no more
    many, most = 16, max(1, _MOST_NUMBERS // max(1, len(base)))
    while draws > 0:
        count = min(many, most, draws)
        keys = random.random((count, len(base))) + stratum
        arranged = np.empty(keys.shape, dtype=np.int64)
        arranged[:, base] = base[np.argsort(keys, axis=1)]
        yield arranged
        draws, many = draws - count, many * 4


def _measure(people: PlacedPeople, shapes: list[_Shape], arranged: Numbers) -> Array:
    """Return the statistics of each arrangement, D x (columns x orders of values x statistics)."""
    orders = len(people.value_ranks)
    statistics = np.zeros((len(arranged), len(people.columns), orders, _STATISTICS))
    for number, places in enumerate(people.columns.values()):
        ranks = places.astype(np.int32)[arranged]
        for shape in shapes:
            rank = _rank(ranks[:, shape.slots])
            from_last, shifted = shape.size - 1 - rank, (rank + shape.number % shape.size) % shape.size
            for order, (first, last) in enumerate(shape.bounds):
                for statistic, place in enumerate((rank, from_last, shifted)):
                    statistics[:, number, order, statistic] += ((place >= first) & (place <= last)).sum(axis=(1, 2))
                statistics[:, number, order, 3] += (rank * (first + last - shape.size + 1)).sum(axis=(1, 2))
    return statistics.reshape(len(arranged), -1)


def _rank(ranks: NDArray[np.int32]) -> Numbers:
    """Return everybody's place in the group, from 0: D x G x n."""
    rank = np.zeros(ranks.shape, dtype=np.int64)
    size = ranks.shape[2]
    if size > 32:  # comparisons grow with the square
        return np.argsort(np.argsort(ranks, axis=2), axis=2)
    for member in range(size):
        rank += ranks > ranks[:, :, member : member + 1]
    return rank


def _standardize(statistics: Array, mean: Array, deviation: Array) -> Array:
    """Return statistics as deviations off their means; of orders that go together either way the size counts."""
    scores = np.where(deviation > 0, (statistics - mean) / np.where(deviation > 0, deviation, 1), 0.0)
    together = scores[:, _STATISTICS - 1 :: _STATISTICS]
    np.abs(together, out=together)
    return scores
