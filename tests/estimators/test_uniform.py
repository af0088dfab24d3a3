"""Uniform: the paper's estimate, cut to what the release proves, an interval only where it is exact."""

import numpy as np

from sqlanon.estimators import uniform
from sqlanon.estimators.evidence import Evidence


def test_values_bounds_and_null_intervals():
    evidence = Evidence(
        plain=np.array([[3.0, 9.0, 4.0, np.nan]]),
        unbiased=np.array([[2.0, 2.0, 4.0, np.nan]]),
        std_error=np.array([[1.0, 1.0, 0.0, np.nan]]),
        least=np.array([[0.0, 0.0, 4.0, np.nan]]),
        most=np.array([[8.0, 8.0, 4.0, np.nan]]),
        exact=np.array([[False, False, True, False]]),
    )
    found = uniform.estimate(evidence)
    np.testing.assert_array_equal(found.value, [[3, 8, 4, np.nan]])
    for array, exact in ((found.std_error, 0), (found.low, 4), (found.high, 4)):
        np.testing.assert_array_equal(array, [[np.nan, np.nan, exact, np.nan]])
