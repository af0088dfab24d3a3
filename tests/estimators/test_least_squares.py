"""Least squares and its variance: unbiased, and the standard error is the spread that simulation shows."""

from unittest.mock import Mock

import numpy as np
import pytest

from sqlanon.estimators import least_squares
from sqlanon.estimators.aggregates import AVG, COUNT, FUNCTIONS, SUM, LinearAggregate
from sqlanon.estimators.evidence import Evidence
from sqlanon.estimators.inference_pooled import PooledInference
from sqlanon.estimators.moments import Moments, SelectedValues

VALUES, GROUPS, SIZE = 6, 240, 3


@pytest.fixture(scope="module")
def world():
    """Places of values in groups (one group may repeat a value), and the rows' quasi values by value."""
    random = np.random.default_rng(11)
    value = np.sort(random.choice(VALUES, GROUPS * SIZE, p=[0.25, 0.2, 0.2, 0.15, 0.12, 0.08]))
    group = random.permutation(np.arange(GROUPS * SIZE) % GROUPS)
    age = 20 + 4 * value + random.integers(0, 30, len(value))
    held = np.zeros((GROUPS, VALUES))
    np.add.at(held, (group, value), 1)
    return value, group, age.astype(float), held


def moments_of(world, hits, measure):
    """Write the moment query in numpy. hits: rows x cases; measure: per row, or None."""
    _, group, _, held = world
    sizes = held.sum(axis=1)
    columns = {name: [] for name in ("shared", "uniform")}
    for case in hits.T:
        n = np.bincount(group, case, GROUPS)
        columns["shared"].append(n @ held)
        columns["uniform"].append((n / sizes) @ held)
        if measure is None:
            continue
        for name, x in (("count", case), ("sum", case * measure), ("square", case * measure**2)):
            total = np.bincount(group, x, GROUPS)
            columns.setdefault(f"{name}_shared_1", []).append(total @ held)
            columns.setdefault(f"{name}_uniform_1", []).append((total / sizes) @ held)
        columns.setdefault("positive_uniform_1", []).append(columns["sum_uniform_1"][-1])
        columns.setdefault("least_1", []).append(np.full(VALUES, measure.min()))
        columns.setdefault("largest_1", []).append(np.full(VALUES, measure.max()))
    return Moments({name: np.array(x)[None] for name, x in columns.items()}, held.sum(axis=0))


def spreads_of(world, system):
    held = world[3]

    def spreads(wanted):
        return np.stack([((held @ system.inverse @ a) * (held @ system.inverse @ b)) @ held for a, b in wanted])

    return Mock(measure_spreads=spreads)


def dealt(world, random):
    """Deal the rows of each value to its places at random, as a release does."""
    value, group, age, held = world
    order = np.concatenate([random.permutation(np.flatnonzero(value == v)) for v in range(VALUES)])
    return value, group, age[order], held


def one(codes, cases=None):
    codes = np.array(codes)
    return SelectedValues(codes, np.zeros_like(codes) if cases is None else np.array(cases), np.zeros_like(codes), 1)


ONES = np.ones(2)
QUESTIONS = {
    "count": (
        LinearAggregate(COUNT, None, ONES, ONES),
        one([1, 4]),
        lambda v, a: ((a > 40) & np.isin(v, [1, 4])).sum(),
    ),
    "sum": (LinearAggregate(SUM, 1, ONES, ONES), one([1, 4]), lambda v, a: a[(a > 40) & np.isin(v, [1, 4])].sum()),
    "avg": (
        LinearAggregate(AVG, 1, ONES, ONES),
        one([1, 4]),
        lambda v, a: a[(a > 40) & np.isin(v, [1, 4])].mean(),
    ),
    "sum of values": (
        LinearAggregate(SUM, None, np.array([2.0, 7.0]), ONES),
        one([1, 4]),
        lambda v, a: 2 * ((a > 40) & (v == 1)).sum() + 7 * ((a > 40) & (v == 4)).sum(),
    ),
    "avg of values": (
        LinearAggregate(AVG, None, np.array([2.0, 7.0]), ONES),
        one([1, 4]),
        lambda v, a: np.where(v == 1, 2.0, 7.0)[(a > 40) & np.isin(v, [1, 4])].mean(),
    ),
    "count of two cases": (
        LinearAggregate(COUNT, None, ONES, ONES),
        one([1, 4], [0, 1]),
        lambda v, a: ((a > 40) & (v == 1)).sum() + ((a > 35) & (v == 4)).sum(),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", QUESTIONS)
def test_unbiased_and_the_standard_error_is_the_spread(world, name):
    measured, asked, truth = QUESTIONS[name]
    system = least_squares.prepare_equations(world[3].T @ world[3], world[3].sum(axis=0))
    random = np.random.default_rng(7)
    wanted = truth(world[0], world[2])
    found, errors, covered = [], [], []
    for _ in range(400):
        drawn = dealt(world, random)
        age = drawn[2]
        paired = asked.case.max() > 0
        hits = np.stack([age > 40, age > 35] if paired else [age > 40], axis=1).astype(float)
        moments = moments_of(drawn, hits, age if measured.number else None)
        pairs = None
        if paired:
            both = moments_of(drawn, hits[:, :1] * hits[:, 1:], None).columns["shared"]
            pairs = np.zeros((1, 2, 2, VALUES))
            pairs[:, 0, 1] = both[:, 0]
        evidence = PooledInference(moments, asked, system, spreads_of(world, system), pairs).gather_evidence(measured)
        answer = least_squares.estimate(evidence)
        found.append(evidence.unbiased[0, 0])
        errors.append(evidence.std_error[0, 0])
        covered.append(answer.low[0, 0] <= wanted <= answer.high[0, 0])
    assert abs(np.mean(found) - wanted) < 4 * np.std(found) / 20 + (0.02 * wanted if "avg" in name else 0)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(found), rel=0.12)
    assert np.mean(covered) > 0.91


def test_without_the_pairs_the_standard_error_is_an_upper_bound(world):
    measured, asked, _ = QUESTIONS["count of two cases"]
    system = least_squares.prepare_equations(world[3].T @ world[3], world[3].sum(axis=0))
    hits = np.stack([world[2] > 40, world[2] > 35], axis=1).astype(float)
    moments = moments_of(world, hits, None)
    pairs = np.zeros((1, 2, 2, VALUES))
    pairs[:, 0, 1] = moments_of(world, hits[:, :1] * hits[:, 1:], None).columns["shared"][:, 0]
    exact, bound = (
        PooledInference(moments, asked, system, spreads_of(world, system), p).gather_evidence(measured).std_error[0, 0]
        for p in (pairs, None)
    )
    assert 0 < exact <= bound * (1 + 1e-9)


def test_a_singular_system_knows_what_it_can_answer():
    held = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0], [0, 0, 1, 1]])
    system = least_squares.prepare_equations(held.T @ held, held.sum(axis=0))
    assert system.rank == 3
    assert system.determined.tolist() == [False, False, True, True]
    assert least_squares.tell_determined(system, np.array([[2.0, 0, 0, 0], [2, 2, 0, 0], [0, 0, 2, 0]])).tolist() == [
        False,
        True,
        True,
    ]


def test_a_factor_inverts_as_all_eigenvectors_do(world, monkeypatch):
    held = world[3]
    by_factor = least_squares.prepare_equations(held.T @ held, held.sum(axis=0))
    monkeypatch.setattr(least_squares, "WELL", 0)
    by_roots = least_squares.prepare_equations(held.T @ held, held.sum(axis=0))
    np.testing.assert_allclose(by_factor.inverse, by_roots.inverse, rtol=1e-9, atol=1e-15)
    assert by_factor.rank == by_roots.rank == VALUES and by_factor.determined.all()


def test_shares_solve_the_normal_equations():
    held = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1.0]])
    system = least_squares.prepare_equations(held.T @ held, held.sum(axis=0))
    share = np.array([0.2, 0.5, 0.9])
    assert least_squares.solve_shares(system, (held @ share) @ held) == pytest.approx(share)


@pytest.mark.thorough
def test_intervals_of_sums_and_averages_hold_in_small_releases():
    """700 rows in groups of 3, 7 frequent values and a rare one: the truth lies inside at least 94 of 100 times."""
    random = np.random.default_rng(3)
    count = 700
    value = random.choice(8, count, p=[0.07, *[0.93 / 7] * 7])
    age, gain = np.arange(count) % 10 * 5 + 20, (np.arange(count) % 13 - 6) * 1.5
    inside = {name: [] for name in ("sum", "avg", "sum of few", "avg of few")}
    widths = {name: [] for name in inside}
    for _ in range(300):
        group = _dealt_in_blocks(value, 3, random)
        held = np.zeros((count // 3, 8))
        np.add.at(held, (group, value), 1)
        system = least_squares.prepare_equations(held.T @ held, held.sum(axis=0))
        for name, found in inside.items():
            hits = (age < 40) if "few" in name else np.ones(count, dtype=bool)
            moments = _moments(group, held, hits.astype(float), gain)
            measured = LinearAggregate(FUNCTIONS[name[:3]], 1, np.ones(1), np.ones(1))
            spreads = spreads_of((None, None, None, held), system)
            evidence = PooledInference(moments, one([1]), system, spreads, None).gather_evidence(measured)
            answer = least_squares.estimate(evidence)
            asked = gain[hits & (value == 1)]
            truth = asked.sum() if name.startswith("sum") else asked.mean()
            found.append(answer.low[0, 0] <= truth <= answer.high[0, 0])
            widths[name].append((evidence.unbiased[0, 0] - truth, evidence.std_error[0, 0]))
    for name, found in inside.items():
        assert np.mean(found) >= 0.94, name
    errors = np.array(widths["sum"])
    assert np.median(errors[:, 1]) < 1.3 * np.std(errors[:, 0])


def _dealt_in_blocks(value, l, random):
    """Group rows as the method does: blocks of some 64 groups, each with an order of values of its own."""
    groups = len(value) // l
    blocks = max(1, groups // 64)
    rank = np.argsort(np.argsort(-np.bincount(value), kind="stable"))
    place = np.empty(len(value), dtype=int)
    place[np.lexsort((random.random(len(value)), rank[value]))] = np.arange(len(value))
    block, group = place % groups % blocks, np.empty(len(value), dtype=int)
    for number in range(blocks):
        members, own = np.flatnonzero(block == number), len(range(number, groups, blocks))
        order = np.lexsort((random.random(len(members)), random.random(value.max() + 1)[value[members]]))
        group[members[order]] = np.arange(len(members)) % own * blocks + number
    return group


def _moments(group, held, hits, measure):
    sizes, columns = held.sum(axis=1), {}
    for name, x in {"": hits, "count_": hits, "sum_": hits * measure, "square_": hits * measure**2}.items():
        total, end = np.bincount(group, x, len(held)), "_1" if name else ""
        columns[f"{name}shared{end}"], columns[f"{name}uniform{end}"] = total @ held, (total / sizes) @ held
    positive = np.bincount(group, hits * np.maximum(measure, 0), len(held))
    columns["positive_uniform_1"] = (positive / sizes) @ held
    columns["least_1"], columns["largest_1"] = (np.full(held.shape[1], f(measure)) for f in (np.min, np.max))
    return Moments({name: x[None, None] for name, x in columns.items()}, held.sum(axis=0))


def test_an_average_over_a_count_that_may_be_none_is_as_wide_as_the_bounds():
    answer = least_squares.estimate(_average(unbiased=5.0, curve=0.3))
    assert (answer.low[0], answer.high[0]) == (0.0, 9.0)
    answer = least_squares.estimate(_average(unbiased=np.nan, curve=np.inf))
    assert (answer.low[0], answer.high[0]) == (0.0, 9.0)
    answer = least_squares.estimate(_average(unbiased=5.0, curve=0.0))
    assert answer.low[0] == pytest.approx(5 - 1.96, abs=0.01)
    wider = least_squares.estimate(_average(unbiased=5.0, curve=0.1))
    assert wider.low[0] < answer.low[0] and answer.high[0] < wider.high[0] < 9


def _average(unbiased, curve):
    figures = [np.array([x]) for x in (4.0, unbiased, 1.0, 0.0, 9.0)]
    return Evidence(*figures, np.array([False]), 0.0, np.array([curve]))
