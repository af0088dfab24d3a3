"""Ranges and sets of a randomized column: planted trends, sets that stand out, and what has nothing to say."""

import numpy as np
import pandas as pd
import pytest

from sqlanon.estimators.pooling import NOT_APART, follow, gained, trends
from tests.estimation.test_randomized import session_of
from tests.oracles import decoys

SHARES = np.array([0.3, 0.05, 0.2, 0.15, 0.1, 0.2])


def test_trends_are_uncorrelated_polynomials_of_the_rank():
    found = trends(SHARES)
    np.testing.assert_allclose(found @ SHARES, 0, atol=1e-12)
    np.testing.assert_allclose(found * SHARES @ found.T, np.eye(len(found)), atol=1e-9)
    assert (np.diff(found[0]) > 0).all() and len(found) == 4
    assert len(trends(np.array([0.4, 0.6]))) == 1 and trends(np.array([1.0])).shape == (0, 1)


def test_what_lies_far_away_is_believed_and_what_lies_near_is_not():
    distance = np.array([0.0, 1.0, 2.0, 4.0, 10.0, 100.0])
    gain = gained(distance, np.ones(6), 100.0, NOT_APART)
    assert (np.diff(gain) > 0).all() and gain[0] < 0.05 and gain[-1] > 0.99
    np.testing.assert_allclose(gained(distance, np.ones(6), 0.0, NOT_APART), 0, atol=1e-12)
    assert gained(distance[1:], np.zeros(5), 1.0, NOT_APART).min() > 0.99  # no error at all


def test_the_gain_is_the_posterior_of_a_mixture_of_normals():
    """By quadrature: d = θ + noise, θ normal with one of the variances κ S."""
    from sqlanon.estimators.pooling import LIKELY, SIZES

    grid = np.linspace(-80, 80, 400_001)
    for distance in (0.5, 2.0, 5.0):
        noise = np.exp(-((distance - grid) ** 2) / 2 / 2.0)
        prior = sum(
            0.1 * share / LIKELY.sum() * np.exp(-(grid**2) / 2 / (size * 9)) / np.sqrt(2 * np.pi * size * 9)
            for share, size in zip(LIKELY, SIZES[1:], strict=True)
        )
        width = grid[1] - grid[0]
        nothing = 0.9 * np.exp(-(distance**2) / 2 / 2.0)
        mean = (grid * noise * prior).sum() * width / ((noise * prior).sum() * width + nothing)
        found = gained(np.array([distance]), np.array([2.0]), 9.0, 0.9)[0]
        assert found * distance == pytest.approx(mean, rel=1e-4)


def test_a_trend_is_followed_where_the_channel_shows_it():
    root, strengths, chance = np.sqrt(SHARES), np.full(6, 0.3), np.array([1e-4, 1.0])
    along = trends(SHARES) * root
    true = np.array([0.2, 0.0, 0.0, 0.0]) @ along
    observed = np.stack([strengths * true] * 2)
    followed = follow(np.zeros((2, 6)), observed, strengths, chance, chance, along)
    np.testing.assert_allclose(followed[0], true, atol=0.02)
    assert np.abs(followed[1]).max() < 0.2 * np.abs(true).max()


@pytest.fixture(scope="module")
def wages():
    """Releases of 6,000 rows whose wage (110 values, γ = 5) goes with the year; of region it is independent."""
    random = np.random.default_rng(5)
    n = 6000
    year = random.integers(0, 40, n)
    truth = pd.DataFrame({"year": year, "region": random.integers(0, 3, n), "hours": 20 + random.integers(0, 25, n)})
    truth["wage"] = np.clip(20 + year + random.normal(0, 15, n), 0, 109).astype(int)
    releases = []
    for _ in range(16):
        release = truth.copy()
        _, release["wage"] = decoys.published(truth["wage"].to_numpy(), 5, random, "keep")
        releases.append(session_of(release, ["wage"], [5], truth))
    return releases


CONDITIONS = [
    *(f"wage > 55 and year < {year}" for year in (5, 10, 15, 20)),
    *(f"wage between 10 and 30 and year > {year}" for year in (20, 25, 30)),
    *("wage > 70 and year > 30", "wage < 25 and year < 10", "wage in (20, 21, 22, 23, 40) and year < 20"),
    *("wage > 50 and region = 1", "wage < 30 and hours > 30", "wage between 35 and 45 and region < 2"),
]


FIGURES = {"n": "count(*)", "h": "sum(hours)", "w": "sum(wage)"}


def compared(releases, estimator=None):
    """Return by figure truths, answers, lower and upper ends: by question and release."""
    found = {name: [] for name in FIGURES}
    for condition in CONDITIONS:
        asked = ", ".join(f"{text} as {name}" for name, text in FIGURES.items())
        sql = f"select {asked} from release where {condition}"
        truths = releases[0].con.execute(sql.replace("release", "microdata")).fetchone()
        answers = [session.answer(sql, estimator).iloc[0] for session in releases]
        for name, truth in zip(FIGURES, truths, strict=True):
            columns = (name, f"{name}_low", f"{name}_high")
            found[name].append([(truth, *answer[[*columns]]) for answer in answers])
    return {name: np.moveaxis(np.array(each, dtype=float), -1, 0) for name, each in found.items()}


def test_ranges_that_depend_on_other_columns_are_near_and_their_intervals_hold(wages):
    found, inverted = compared(wages), compared(wages, "closed_form")
    for name, (truth, value, low, high) in found.items():
        assert ((low <= truth) & (truth <= high)).mean() >= 0.93, name
        assert ((low <= value) & (value <= high)).all(), name
        assert np.abs(value - truth).sum() < 0.75 * np.abs(inverted[name][1] - truth).sum(), name
        bias = (value - truth).mean(axis=1) / np.abs(truth).mean()
        assert np.abs(bias).max() < 0.2, name


def test_counts_sums_and_averages_of_one_question_agree(wages):
    for condition in CONDITIONS:
        select = (
            "count(*) as n, sum(hours) as hours, avg(hours) as mean_hours, sum(wage) as wage, avg(wage) as mean_wage"
        )
        answer = wages[0].answer(f"select {select} from release where {condition}").iloc[0]
        assert answer.hours == pytest.approx(answer.n * answer.mean_hours, rel=1e-6)
        assert answer.wage == pytest.approx(answer.n * answer.mean_wage, rel=1e-6)


@pytest.mark.parametrize("estimator", ["shrinkage", "closed_form"])
def test_every_average_has_an_interval_within_what_the_rows_allow(wages, estimator):
    sql = "select wage, avg(hours) as n, min(hours) as least from release where year < 2 group by wage order by wage"
    answer = wages[0].answer(sql.replace(", min(hours) as least", ""), estimator)
    known = answer[answer["n"].notna()]
    assert len(known) and known[["n_std_error", "n_low", "n_high"]].notna().all(axis=None)
    assert (known["n_low"] >= 20).all() and (known["n_high"] <= 44).all()
    assert ((known["n_low"] <= known["n"]) & (known["n"] <= known["n_high"])).all()
