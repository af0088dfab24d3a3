"""What γ near a column's largest makes of counts: the formula against simulated releases, and the warning's words."""

import numpy as np
import pytest

from sqlanon.estimators.channels import ClosedForm
from sqlanon.methods.splu.channel_noise import expected_error, warning


@pytest.mark.parametrize(("gamma", "sizes"), [(2, [20, 30, 30, 20]), (4, [23, 22, 20, 18, 17]), (3, [32, 28, 20, 20])])
def test_the_expected_error_is_what_draws_through_the_channel_give(gamma, sizes):
    """A condition with 1 % of 100,000 rows in the most frequent value, and its independent share of the others."""
    counts, rows = 1000.0 * np.array(sizes), 100_000
    channel = ClosedForm(counts, rows, gamma)
    largest = int(counts.argmax())
    condition = np.rint(counts * 1000 / counts[largest])
    random = np.random.default_rng(4)
    kept = random.binomial(int(condition[largest]), 1 / gamma, 4000)
    others = random.binomial(int(condition.sum() - condition[largest]), channel.others[largest], 4000)
    found = (kept + others - channel.others[largest] * condition.sum()) / channel.difference[largest]
    error = np.abs(found - condition[largest]).mean() / condition[largest]
    assert expected_error(gamma, rows, int(counts[largest])) == pytest.approx(error, rel=0.06)


def test_the_warning_names_column_and_figure():
    assert warning("age", 5, 148_318, 14_832) is None
    said = warning("age", 8, 148_318, 14_832)
    assert said.startswith("gamma = 8 is near the largest of 'age' (9): for a count of 1% of the rows")
    assert "the published values alone are off by 71% on average" in said
    assert "tell next to nothing" in warning("age", 10, 148_320, 14_832)
