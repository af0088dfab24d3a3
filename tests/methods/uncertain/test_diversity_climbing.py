"""Clusters that are not diverse climb their hierarchies: what their rows show then, and what is refused."""

import collections

import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import DataError, UsageError
from tests.databases import insert
from tests.examples import examples
from tests.oracles.uncertain import leaves_below
from tests.uncertain_release import write_release

KEY = "00" * 32
SCHOOLS = [["low", "any"], ["high", "any"], ["a", "low"], ["b", "low"], ["c", "high"], ["d", "high"], ["e", "high"]]
AGES = [[str(n), f"{n // 10}0s"] for n in range(20, 60)]
AGES += [["20s", "young"], ["30s", "young"], ["40s", "old"], ["50s", "old"], ["young", "*"], ["old", "*"]]
TREES = {"school": SCHOOLS, "age": AGES}
DISEASES = ["cancer", "flu", "gout", "mumps"]
INFLUENCE = pd.DataFrame([
    {"disease": one, "school": 0.4, "age": 1, "weight": weight}
    for one, weight in zip(DISEASES, (0.9, 0.6, 0.7, 0.1), strict=True)
])  # fmt: skip


def published(con, rows, k=2, l=2, **further):
    con.execute("create or replace table t (num bigint, school varchar[], age varchar[], disease varchar)").fetchall()
    insert(con, "t", [(n, *row) for n, row in enumerate(rows)])
    trees = {name: pd.DataFrame(pairs, columns=["child", "parent"]) for name, pairs in TREES.items()}
    asked = {"threshold": 0.5, "undiverse": "generalize", "influence": INFLUENCE, "hierarchy": trees, "key": KEY}
    return sqlanon.uncertain(
        con, "t", quasi=["school", "age"], sensitive="disease", label="num", k=k, l=l, **asked | further
    )


def ancestor(pairs, values):
    """Return the deepest node above or at all values: the one with the fewest leaves."""
    nodes = {node for pair in pairs for node in pair}
    return min(
        (node for node in nodes if set(values) <= set(leaves_below(pairs, node))),
        key=lambda node: (len(leaves_below(pairs, node)), node not in values),
    )


ROW = st.tuples(
    st.one_of(st.none(), st.sets(st.sampled_from("abcde"), min_size=1, max_size=2).map(sorted)),
    st.sets(st.integers(20, 59).map(str), min_size=1, max_size=2).map(sorted),
    st.sampled_from([*DISEASES, "cancer", "cancer", "mumps"]),
)


@examples(6, HealthCheck.function_scoped_fixture)
@given(rows=st.lists(ROW, min_size=8, max_size=40), k=st.integers(2, 3), l=st.integers(2, 3), wide=st.booleans())
def test_rows_show_what_lies_above_them_in_diverse_groups(con, rows, k, l, wide):
    try:
        release = published(con, rows, k, l, **({"max_group": 40} if wide else {}))
    except DataError as error:
        assert "is not possible" in str(error) or "different weights" in str(error)
        return
    report = release.verify(against="t")
    assert report.holds, report.failed()
    groups = collections.defaultdict(list)
    for num, _, marks, *shown, group in release.table("qit").fetchall():
        school, age, disease = rows[num]
        counts = {mark["attribute"]: mark["count"] for mark in marks}
        climbed = 0 in counts.values()
        groups[group].append((tuple(shown) if climbed else None, disease))
        for name, node, values in zip(TREES, shown, (school, age), strict=True):
            if values is None:
                assert node == ("any" if climbed else None)
            elif climbed:
                assert set(values) <= set(leaves_below(TREES[name], node))
                assert counts.get(name, 1) == (0 if leaves_below(TREES[name], node) != [node] else 1)
            else:
                assert (node, counts.get(name, 1)) == (ancestor(TREES[name], values), len(values))
    for members in groups.values():
        assert len({shown for shown, _ in members}) == 1, "a group climbs as a whole"
        held = {disease for _, disease in members}
        assert len(members) >= k and (held == {"mumps"} or len(held) >= l)
    assert sum(found["generalized_rows"] for found in [release.manifest["verified"]["generalized"]]) == sum(
        shown is not None for members in groups.values() for shown, _ in members
    )
    for asked in ("school = 'a'", "age >= '40'", "school IS NULL"):
        certain, possible, expected = release.estimate(f"SELECT COUNT(*) FROM release WHERE {asked}").iloc[0]
        con.execute("create or replace table one as select unnest(coalesce(school, [null])) as school, num from t")
        truth = "select count(distinct num) from (select num, unnest(coalesce(school, [null])) as school, age from t)"
        if "age" not in asked:  # each row's own alternatives: at least one of them, and all of them
            some = con.execute(f"{truth} where {asked}").fetchone()[0]
            every = len(rows) - con.execute(f"{truth} where ({asked}) is not true").fetchone()[0]
            assert certain <= every <= some <= possible, asked
        assert certain <= expected <= possible


LIKE = [(["a"], ["21"], "cancer")] * 3 + [(["b"], ["58"], "flu")] * 3
MIXED = [(["c"], [str(30 + n)], DISEASES[n % 3]) for n in range(6)]


def test_a_group_climbs_no_higher_than_it_must(con):
    """Of two lone groups in one half of a hierarchy, and two in the other, each meets its neighbour."""
    near = [(["a"], ["21"], "cancer")] * 3 + [(["b"], ["29"], "flu")] * 3
    far = [(["d"], ["51"], "gout")] * 3 + [(["e"], ["59"], "cancer")] * 3
    release = published(con, [*near, *far, *MIXED], k=3)
    shown = collections.Counter(row[3:5] for row in release.table("qit").fetchall())
    assert shown["low", "20s"] == shown["high", "50s"] == 6
    assert sum(shown[school[0], age[0]] for school, age, _ in MIXED) == 6
    assert release.manifest["verified"]["generalized"] == {
        "generalized_groups": 4, "generalized_rows": 12, "uneven_groups": 0,
    }  # fmt: skip
    assert {row[1] for row in release.table("qit").fetchall()} == {"0", "2030"}


def test_what_fails_alone_is_joined_by_others(con):
    alone = [(["e"], ["59"], "cancer")] * 3
    near = [(["a"], ["21"], "cancer")] * 3 + [(["b"], ["29"], "flu")] * 6
    release = published(con, [*near, *alone, *MIXED], k=3)
    shown = collections.Counter(row[3:5] for row in release.table("qit").fetchall())
    assert shown["low", "20s"] == shown["any", "*"] == 6 and shown.total() == 18


def test_every_column_has_a_hierarchy_to_climb(con, shell):
    with pytest.raises(UsageError, match="climbs the hierarchy of every quasi column, and 'age' has none; give hier"):
        published(con, LIKE, hierarchy={"school": pd.DataFrame(SCHOOLS, columns=["child", "parent"])})
    (shell.folder / "t.csv").write_text("q,r,s\na,b,c\n")
    done = shell("publish", "uncertain", "t.csv", "--quasi", "q,r", "--sensitive", "s", "-k", "2", "-L", "2", "--out",
                 "o", "--threshold", "0.5", "--influence", "learn", "--undiverse", "generalize")  # fmt: skip
    assert done.returncode == 2 and "and 'q', 'r' has none; give --hierarchy for each" in done.stderr


def test_what_climbed_tells_less_than_what_was_merged_and_more_than_stars(con):
    """The width between certain and possible, where half a decade of age decides on the disease."""
    rows = [(["abc"[n // 40]], [str(20 + n % 40)], DISEASES[n % 10 > 4]) for n in range(120)]
    width, asked = {}, "SELECT COUNT(*) FROM release WHERE age < '30'"
    for way in ("merge", "generalize", "suppress"):
        certain, possible, _ = published(con, rows, undiverse=way, k=4).estimate(asked).iloc[0]
        width[way] = possible - certain
    assert width["merge"] <= width["generalize"] < width["suppress"], width


# -- a release that says it climbed and did not ----------------------------------------------------


def climbed(folder, people, **parameters):
    lines = [(1, ("cancer",), 1), (1, ("flu",), 1)]
    weights = {"cancer": 0.9, "flu": 0.6}
    quasi = {"school": "VARCHAR"}
    told = {"weights": weights, "hierarchies": {"school": SCHOOLS}, "undiverse": "generalize", **parameters}
    return sqlanon.open(write_release(folder, quasi, [("", *person, 1) for person in people], lines, **told))


@pytest.mark.parametrize(
    ("people", "parameters", "failed"),
    [
        ([({"school": 0}, ("low",)), ({"school": 0}, ("low",))], {}, None),
        ([({"school": 0}, ("low",)), ({"school": 0}, ("high",))], {}, "generalized"),
        ([({"school": 0}, ("low",)), ({"school": 2}, ("low",))], {}, "generalized"),
        ([({"school": 0}, ("a",)), ({"school": 0}, ("a",))], {}, "alternatives"),
        ([({"school": -1}, ("low",)), ({"school": -1}, ("low",))], {}, "alternatives"),
        ([({"school": 0}, ("low",)), ({"school": 0}, ("low",))], {"undiverse": "merge"}, "alternatives"),
        ([({}, ("low",)), ({}, ("low",))], {}, "alternatives"),
    ],
)
def test_marks_of_a_group_that_climbed_are_checked(tmp_path, people, parameters, failed):
    report = climbed(tmp_path / "release", people, **parameters).verify()
    assert [check.name for check in report.checks if check.holds is False] == ([] if failed is None else [failed])


def test_estimates_and_attacks_read_what_climbed(con):
    release = published(con, [*LIKE, *LIKE[::-1], *MIXED], k=3)
    frame = release.estimate("SELECT school, COUNT(*) AS n FROM release GROUP BY school ORDER BY school")
    # twelve rows are said to be one of a and b; nobody shows a NULL, which would have led to the root
    assert frame.values.tolist() == [["a", 0, 12, 6], ["b", 0, 12, 6], ["c", 6, 6, 6]]
    assert release.estimate("SELECT COUNT(*) FROM release WHERE school IS NOT NULL").iloc[0, 0] == 18
    found = {one.attack: one for one in sqlanon.attack(release, against="t").findings}
    assert found["who is not shown is among the generalized"].reached == 0.5
    assert "12 rows are generalized" in found["who is not shown is among the generalized"].whom
