"""What estimators make of evidence: shrinkage U + w (LS - U) with w = max(0, 1 - se^2 / (LS - U)^2), uniform U."""

import dataclasses

import numpy as np
import pytest

from sqlanon.estimators.evidence import Evidence, shrinkage, uniform


def evidence_of(uniform, squares, error, least=0.0, most=100.0):
    arrays = [np.array([[float(x)]]) for x in (uniform, squares, error, least, most)]
    return Evidence(*arrays, np.array([[error == 0]]))


@pytest.mark.parametrize(
    ("uniform", "squares", "error", "wanted"),
    [
        (10, 20, 0, 20),  # no noise: least squares
        (10, 20, 5, 17.5),  # w = 1 - 25/100
        (10, 12, 5, 10),  # noise above the difference: uniform
        (10, 10, 5, 10),
        (10, 10, 0, 10),
        (10, -40, 5, 0),  # cut to the bounds
        (10, float("nan"), float("nan"), 10),  # least squares says nothing
        (float("nan"), float("nan"), float("nan"), float("nan")),
    ],
)
def test_the_mixture(uniform, squares, error, wanted):
    found = shrinkage(evidence_of(uniform, squares, error))
    np.testing.assert_allclose(found.value, [[wanted]])


def test_the_interval_is_least_squares_cut_to_the_bounds():
    found = shrinkage(evidence_of(10, 3, 5, 0, 12))
    np.testing.assert_allclose([found.low[0, 0], found.high[0, 0]], [0, 12])
    found = shrinkage(evidence_of(10, 50, 5))
    np.testing.assert_allclose([found.low[0, 0], found.high[0, 0]], [50 - 9.79982, 50 + 9.79982])


@pytest.mark.parametrize(("shrunk", "wanted"), [(12, 12), (-3, 0), (200, 100), (float("nan"), 17.5)])
def test_a_methods_own_mixture_goes_before_and_lies_in_its_interval(shrunk, wanted):
    evidence = dataclasses.replace(evidence_of(10, 20, 5), shrunk=np.array([[float(shrunk)]]))
    found = shrinkage(evidence)
    np.testing.assert_allclose(found.value, [[wanted]])
    assert found.low[0, 0] == pytest.approx(min(20 - 9.79982, wanted))
    assert found.high[0, 0] == pytest.approx(max(20 + 9.79982, wanted))


def test_uniform_has_an_interval_only_where_it_is_exact():
    evidence = Evidence(
        plain=np.array([[3.0, 9.0, 4.0, np.nan]]),
        unbiased=np.array([[2.0, 2.0, 4.0, np.nan]]),
        std_error=np.array([[1.0, 1.0, 0.0, np.nan]]),
        least=np.array([[0.0, 0.0, 4.0, np.nan]]),
        most=np.array([[8.0, 8.0, 4.0, np.nan]]),
        exact=np.array([[False, False, True, False]]),
    )
    found = uniform(evidence)
    np.testing.assert_array_equal(found.value, [[3, 8, 4, np.nan]])
    for array, exact in ((found.std_error, 0), (found.low, 4), (found.high, 4)):
        np.testing.assert_array_equal(array, [[np.nan, np.nan, exact, np.nan]])
