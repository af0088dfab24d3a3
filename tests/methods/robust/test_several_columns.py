"""Several sensitive columns against distributions: groups judged row by row, worlds counted, refusals, what is kept."""

import collections
import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from tests.examples import examples
from tests.methods.test_several_columns import differ, fill
from tests.oracles.suppression import most_groups

KEY = "0f" * 32
ASKED = {"quasi": ["q", "ward"], "background_from": "ward", "id": "person", "unique_quasi": "keep", "nulls": "value"}
VALUES = st.sampled_from(["a", "b", "c", "d", "e", None])


def fill_wards(con, rows, wards):
    """Make the table t: each person with a ward, which is the signature, and the sensitive values of a row."""
    names = fill(con, rows)
    con.execute("alter table t add column ward integer").fetchall()
    con.executemany("update t set ward = ? where person = ?", [(ward, n) for n, ward in enumerate(wards)])
    return names


def left_over_at_least(rows, wards, size):
    """Return how many rows the values of the worst column of each ward leave over."""
    total = 0
    for ward in set(wards):
        held = [row for row, own in zip(rows, wards, strict=True) if own == ward]
        surplus = []
        for column in zip(*held, strict=True):
            counts = collections.Counter(column)
            groups = most_groups(list(counts.values()), size)
            surplus.append(len(held) - sum(min(count, groups) for count in counts.values()))
        total += max(surplus)
    return total


@pytest.mark.property
@given(
    people=st.one_of(
        st.lists(st.tuples(st.integers(0, 2), VALUES, VALUES), min_size=2, max_size=40),
        st.lists(st.tuples(st.integers(0, 1), VALUES, VALUES, VALUES), min_size=2, max_size=24),
    ),
    r=st.sampled_from([1.5, 2, 3]),
    block=st.sampled_from([1, 64]),
    key=st.integers(0, 5),
    most=st.sampled_from([0, 0.4, 0.99]),
)
@examples(6, HealthCheck.function_scoped_fixture)
def test_groups_are_of_one_signature_and_differ_in_every_column(con, people, r, block, key, most):
    wards, rows = [one[0] for one in people], [one[1:] for one in people]
    names = fill_wards(con, rows, wards)
    least = left_over_at_least(rows, wards, math.ceil(r))
    asked = {"sensitive": names, "r": r, "block": block, "key": f"{key:064x}", "max_suppressed": most, **ASKED}
    try:
        release = sqlanon.robust(con, "t", **asked)
    except sqlanon.DataError as refused:
        before = least > round(most * 1e6) * len(rows) / 1e6 or least == len(rows)
        assert ("by itself leaves" if before else "frequent values of these columns go together") in str(refused)
        assert not before or f"at least {least} of {len(rows)} rows" in str(refused)
        return
    members = collections.defaultdict(list)
    for person, _, group in release.table("qit").fetchall():
        members[group].append(person)
    assert set(members) == set(range(len(members)))
    for place, table in enumerate([name for name in release.tables if name != "qit"]):
        listed = collections.defaultdict(list)
        for group, value, count in release.table(table).fetchall():
            listed[group] += [value] * count
        assert all(
            collections.Counter(rows[person][place] for person in held) == collections.Counter(listed[group])
            for group, held in members.items()
        )
    for held in members.values():
        assert len(held) >= r
        assert len({wards[person] for person in held}) == 1
        assert all(differ(rows[one], rows[other]) for one, other in itertools.combinations(held, 2))
    left_out = len(rows) - sum(map(len, members.values()))
    assert least <= left_out == release.manifest["dropped_rows"] <= most * len(rows)


def test_what_several_columns_cannot_do_is_said(con):
    names = fill_wards(con, [(f"s{n % 7}", f"t{n % 3}") for n in range(60)], [n % 2 for n in range(60)])
    asked = {"sensitive": names, **ASKED}
    with pytest.raises(sqlanon.DataError, match=r"'t' by itself leaves .* the largest whole r .* in the way of is 3"):
        sqlanon.robust(con, "t", r=4, **asked)
    con.execute("create or replace table known as select 0 as ward, 's0' as s, 0.5 as probability").fetchall()
    with pytest.raises(sqlanon.UsageError, match="in mixed ones no condition on each column holds"):
        sqlanon.robust(con, "t", r=2, **asked, background="known")
    con.execute("update t set t = null where person = 3").fetchall()
    with pytest.raises(sqlanon.DataError, match="1 row has no value in the sensitive column 't'"):
        sqlanon.robust(con, "t", r=2, **{**asked, "nulls": "refuse"})


def test_a_release_proves_itself_and_each_columns_distribution_is_kept(con, tmp_path):
    names = fill_wards(con, [(f"s{n % 7}", n // 7 % 5) for n in range(210)], [n % 3 for n in range(210)])
    kept = [tmp_path / "s.csv", tmp_path / "t.csv"]
    asked = {"sensitive": names, "r": 2.5, "key": KEY, "save_background": kept, **ASKED, "quasi": ["ward"]}
    release = sqlanon.robust(con, "t", **asked)
    release.write(tmp_path / "rel")
    assert release.verify(against="t").holds
    assert release.manifest["guarantee"] == {"r": 2.5, "posterior": 0.4}
    assert sqlanon.open(tmp_path / "rel").verify().holds
    for path, column in zip(kept, names, strict=True):
        (known,) = con.execute(f"select sum(probability), count(distinct {column}) from '{path}'").fetchall()
        assert known == (pytest.approx(3), 7 if column == "s" else 5)
    answer = release.estimate("SELECT t, COUNT(*) AS n FROM release GROUP BY t ORDER BY t")
    assert answer["n"].sum() == pytest.approx(release.manifest["rows"])


def posteriors(joint):
    """Return p(row has value) of the first column by counting worlds: every pairing of values of two columns.

    joint: p(first, second) of each row, n x n for n rows, values and values.
    """
    rows = range(len(joint))
    found = np.zeros((len(joint), len(joint)))
    for first in itertools.permutations(rows):
        for second in itertools.permutations(rows):
            weight = math.prod(joint[row][first[row], second[row]] for row in rows)
            for row in rows:
                found[row, first[row]] += weight
    return found / found.sum(axis=1, keepdims=True)


def test_one_signature_is_safe_whatever_is_known_of_the_columns_together_and_two_are_not():
    draws = np.random.default_rng(7)
    for size in (2, 3, 4):
        joint = draws.random((size, size)) ** 4
        assert posteriors([joint] * size) == pytest.approx(np.full((size, size), 1 / size))
    # in every column by itself all values are as likely for everybody, and yet each of the two signatures pairs them in
    # a way of its own
    straight, crossed = (0.01 + 0.91 / 3 * np.eye(3)[list(order)] for order in ((0, 1, 2), (0, 2, 1)))
    for one in (straight, crossed):
        assert all(one.sum(axis=axis) == pytest.approx(1 / 3) for axis in (0, 1))
    assert posteriors([straight, crossed, crossed])[0, 0] == pytest.approx(0.88, abs=0.01)
