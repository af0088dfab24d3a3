"""Rubin's rules against numbers that were found by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sqlanon


def test_three_tables_by_hand():
    # w = (1 + 4 + 4) / 3 = 3; b = (4 + 0 + 4) / 2 = 4; t = 3 + 4/3 * 4 = 25/3; r = 16/9; ν = 2 (25/16)² = 4.8828125
    (row,) = sqlanon.pool([10, 12, 14], [1, 2, 2]).itertuples()
    assert (row.estimate, row.std_error) == (12, pytest.approx(math.sqrt(25 / 3)))
    assert (row.df, row.missing_information) == (pytest.approx(4.8828125), pytest.approx(0.64))
    half = stats.t.ppf(0.975, 4.8828125) * math.sqrt(25 / 3)
    assert (row.low, row.high) == (pytest.approx(12 - half), pytest.approx(12 + half))


def test_barnard_and_rubin_by_hand():
    # ν_obs = 31/33 * 30 * (1 - 0.64) = 10.1454…; 1/ν = 1/4.8828125 + 1/10.1454… = 0.30337
    (row,) = sqlanon.pool([10, 12, 14], [1, 2, 2], complete_df=30).itertuples()
    assert row.df == pytest.approx(1 / (1 / 4.8828125 + 33 / (31 * 30 * 0.36)))


def test_tables_that_agree_have_the_normal_interval():
    frame = sqlanon.pool(pd.DataFrame({"a": [1.0, 1.0], "b c": [2.0, 4.0]}), [[0.5, 1.0], [0.5, 1.0]])
    assert list(frame.index) == ["a", "b c"] and frame.loc["a", "df"] == np.inf
    assert frame.loc["a", "high"] == pytest.approx(1 + 1.959964 * 0.5) and frame.loc["a", "missing_information"] == 0


def test_a_list_of_series_is_a_row_each():
    rows = [pd.Series({"x": 1.0, "y": 2.0}), pd.Series({"x": 3.0, "y": 2.0})]
    assert list(sqlanon.pool(rows, [[1, 1], [1, 1]])["estimate"]) == [2.0, 2.0]


@pytest.mark.parametrize(
    ("estimates", "errors", "told"),
    [
        ([1.0], [1.0], "at least 2"),
        ([1.0, 2.0], [1.0], "estimates are 2 x 1 and std_errors 1 x 1"),
        ([1.0, 2.0], [1.0, -1.0], "negative"),
        (["a", "b"], [1.0, 1.0], "one row of numbers"),
        (3, 4, "one row of numbers"),
    ],
)
def test_other_shapes_are_refused(estimates, errors, told):
    with pytest.raises(sqlanon.UsageError, match=told):
        sqlanon.pool(estimates, errors)
