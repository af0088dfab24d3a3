"""ST in memory: lines in any order are summed as a sparse matrix sums them, to the last bit."""

import numpy as np
import pytest

from sqlanon.estimation.qit_st import tables
from sqlanon.estimation.qit_st.tables import GroupLines


def test_lines_sum_as_their_matrix_does(monkeypatch):
    monkeypatch.setattr(tables, "CHUNK", 7)  # several chunks of lines, and of groups
    rng = np.random.default_rng(4)
    group, code = np.divmod(rng.permutation(40 * 6)[:150], 6)
    lines = {"group_id": group, "code": code, "occurrences": rng.integers(1, 4, 150)}
    lines = {name: np.concatenate([column, column[:20]]) for name, column in lines.items()}  # 20 values stand twice
    found, dense = GroupLines(lines, 6), np.zeros((group.max() + 1, 6))
    np.add.at(dense, (lines["group_id"], lines["code"]), lines["occurrences"])
    of_groups, of_values = rng.random(len(dense)), rng.random((2, 6))

    def sums():
        return [found.by_value(of_groups), found.by_group(of_values), found.normal(), found.sizes]

    from_lines = sums()
    assert found._matrix is None and (found.as_matrix().toarray() == dense).all()
    for one, other in zip(from_lines, sums(), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(from_lines[2], dense.T @ dense) and np.array_equal(from_lines[3], dense.sum(axis=1))
    assert from_lines[0] == pytest.approx(of_groups @ dense)
    assert from_lines[1] == pytest.approx(of_values @ dense.T)


@pytest.mark.parametrize("limit", ["MOST_LINES", "MOST_DENSE"])
def test_what_is_large_is_a_matrix_from_the_start(monkeypatch, limit):
    monkeypatch.setattr(tables, limit, 0)
    lines = {name: np.array([0, 1]) for name in ("group_id", "code", "occurrences")}
    assert GroupLines(lines, 2)._matrix is not None
