"""Quantiles from shares below thresholds: against numpy where shares are exact, and looked for where few are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.estimators.aggregates import MEDIAN, QUANTILE_CONT, QUANTILE_DISC
from sqlanon.estimators.inversion import Shares, choose_ranks, invert
from tests.examples import examples


def shares_of(columns, values, ranks, known=None, error=0.0):
    """Return the exact shares of several columns of rows, as far as `known` tells, with a margin around them."""
    value = np.array([[np.mean(column <= values[rank]) for column in columns] for rank in ranks])
    known = np.ones(value.shape, dtype=bool) if known is None else known
    margin = np.where(np.array(ranks)[:, None] == len(values) - 1, 0.0, error)
    shown = np.where(known, value, np.nan)
    rows = np.array([len(column) for column in columns], dtype=float)
    return Shares(np.array(ranks), shown, shown - margin, shown + margin, known, rows, rows)


def look(columns, quantile, error=0.0):
    """Ask for shares until nothing is left to ask; return the values, brackets, and how many were asked."""
    values = np.unique(np.concatenate(columns))
    last = len(values) - 1
    wanted = {rank: np.ones(len(columns), dtype=bool) for rank in {0, last}}
    turn = 0
    while True:
        ranks = sorted(wanted)
        shares = shares_of(columns, values, ranks, np.array([wanted[rank] for rank in ranks]), error)
        bracket = invert(shares, quantile)
        more = choose_ranks(shares, bracket, halving=turn >= 2)
        if not more:
            return values, shares, bracket
        for rank, answers in more.items():
            assert not (wanted.get(rank, np.zeros(len(columns), dtype=bool)) & answers).any()  # nothing is asked twice
            wanted[rank] = wanted.get(rank, False) | answers
        turn += 1


rows = st.lists(st.integers(-30, 30), min_size=1, max_size=60).map(np.array)


@given(st.lists(rows, min_size=1, max_size=3), st.integers(0, 20))
@examples(60)
def test_exact_shares_give_the_databases_quantiles(columns, twentieths):
    level = twentieths / 20
    values, shares, bracket = look(columns, QUANTILE_CONT.at(level))
    first, second = (values[shares.rank[target.place]] for target in (bracket.first, bracket.second))
    between = first * (1 - bracket.nearness) + second * bracket.nearness
    assert between == pytest.approx([np.quantile(column, level) for column in columns])
    assert bracket.exact.all() and not bracket.null.any()
    values, shares, bracket = look(columns, QUANTILE_DISC.at(level))
    expected = [np.sort(column)[max(-(-twentieths * len(column) // 20), 1) - 1] for column in columns]
    assert values[shares.rank[bracket.first.place]].tolist() == expected


@given(rows, st.integers(1, 40))
@examples(60)
def test_ends_are_those_that_all_thresholds_would_give(column, hundredths):
    """Asking for few shares of a curve that does not fall finds the same ends as asking for all of them."""
    error, values = hundredths / 100, np.unique(column)
    _, few, bracket = look([column], MEDIAN, error)
    every = shares_of([column], values, range(len(values)), error=error)
    lower, upper = (level[0] for level in MEDIAN.bound_levels(np.array([float(len(column))])))
    low = next(rank for rank in range(len(values)) if every.high[rank, 0] >= max(lower - 1e-9, 1e-9))
    surely = [rank for rank in range(len(values)) if every.low[rank, 0] >= upper - 1e-12]
    assert bracket.low.before[0] + 1 == min(low, few.rank[bracket.first.place[0]]) or bracket.exact[0]
    assert few.rank[bracket.high.place[0]] == max(min(surely), few.rank[bracket.second.place[0]]) or bracket.exact[0]


def test_few_thresholds_of_many_values():
    column = np.random.default_rng(3).normal(size=50_000)
    _, shares, bracket = look([column], MEDIAN, 0.01)
    assert len(shares.rank) < 60
    ranks = [
        bracket.low.before[0] + 1,
        *(shares.rank[t.place[0]] for t in (bracket.first, bracket.second, bracket.high)),
    ]
    assert ranks == [24_499, 24_999, 25_000, 25_500]


def test_estimates_that_fall_are_put_in_order():
    value = np.array([[0.1], [0.6], [0.4], [1.0]])
    known, rows = np.ones((4, 1), dtype=bool), np.array([100.0])
    shares = Shares(np.arange(4), value, value - 0.2, np.minimum(value + 0.2, 1), known, rows, rows)
    bracket = invert(shares, QUANTILE_DISC.at(0.45))
    assert bracket.first.place.tolist() == [1]  # midway between .6 so far and .4 to come
    assert (bracket.low.place.tolist(), bracket.high.place.tolist()) == ([1], [3])


def test_no_row_and_no_error_bar():
    rank, value = np.arange(2), np.array([[np.nan, 0.5], [1.0, 1.0]])
    rows = np.array([0.0, 10.0])
    bracket = invert(Shares(rank, value, value * np.nan, value * np.nan, value > -1, rows, rows), MEDIAN)
    assert bracket.null.tolist() == [True, False]
    assert bracket.is_open.tolist()[1]
