"""Shrinkage: U + w (LS - U) with w = max(0, 1 - se^2 / (LS - U)^2)."""

import dataclasses

import numpy as np
import pytest

from sqlanon.estimators import shrinkage
from sqlanon.estimators.evidence import Evidence


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
    found = shrinkage.estimate(evidence_of(uniform, squares, error))
    np.testing.assert_allclose(found.value, [[wanted]])


def test_the_interval_is_least_squares_cut_to_the_bounds():
    found = shrinkage.estimate(evidence_of(10, 3, 5, 0, 12))
    np.testing.assert_allclose([found.low[0, 0], found.high[0, 0]], [0, 12])
    found = shrinkage.estimate(evidence_of(10, 50, 5))
    np.testing.assert_allclose([found.low[0, 0], found.high[0, 0]], [50 - 9.79982, 50 + 9.79982])


@pytest.mark.parametrize(("shrunk", "wanted"), [(12, 12), (-3, 0), (200, 100), (float("nan"), 17.5)])
def test_a_methods_own_mixture_goes_before_and_lies_in_its_interval(shrunk, wanted):
    evidence = dataclasses.replace(evidence_of(10, 20, 5), shrunk=np.array([[float(shrunk)]]))
    found = shrinkage.estimate(evidence)
    np.testing.assert_allclose(found.value, [[wanted]])
    assert found.low[0, 0] == pytest.approx(min(20 - 9.79982, wanted))
    assert found.high[0, 0] == pytest.approx(max(20 + 9.79982, wanted))
