"""Several sensitive columns in one set of groups: judged row by row by a slow oracle, then refusals and recipients."""

import collections
import itertools

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.plans.templates import Sql
from tests.databases import connect, insert
from tests.examples import examples

KEY = "0f" * 32
ASKED = {"quasi": ["q"], "id": "person", "unique_quasi": "keep", "nulls": "value"}
# any two of the first three rows have a value in common: at most one of them finds a group of two
CROSSED = [("a", "x", "p"), ("a", "y", "q"), ("b", "x", "q"), ("c", "z", "s")]


def fill(con, rows, names=("s", "t", "u")):
    """Make the table t: each person with a quasi value of their own, and the sensitive values of a row."""
    width = len(rows[0])
    columns = ", ".join(f'"{name}" varchar' for name in names[:width])
    con.execute(f"create or replace table t (person integer, q integer, {columns})").fetchall()
    insert(con, "t", [(n, n, *row) for n, row in enumerate(rows)])
    return list(names[:width])


def groups_of(release, rows):
    """Return per group the true rows of its members; check each ST against them."""
    members = collections.defaultdict(list)
    for person, group in release.table("qit").fetchall():
        members[group].append(rows[person])
    for place, table in enumerate([name for name in release.tables if name != "qit"]):
        listed = collections.defaultdict(collections.Counter)
        for group, value, count in release.table(table).fetchall():
            listed[group][value] += count
        assert listed == {group: collections.Counter(row[place] for row in held) for group, held in members.items()}
    return dict(members)


def differ(first, second):
    """Tell whether two rows have no value in common, in any column."""
    return all(one != other for one, other in zip(first, second, strict=True))


VALUES = st.sampled_from(["a", "b", "c", "d", "e", "f", None])


def test_no_quasi_value_decides_who_is_in_whose_group(con):
    """Draws are made of the identifier alone, so that other quasi values leave everybody where they were."""
    rows = [(f"s{n * n % 7}", f"t{n * n % 7 + n % 2}") for n in range(300)]
    asked = {"sensitive": fill(con, rows), "l": 3, "key": KEY, "max_suppressed": 0.2, **ASKED}
    before = dict(sqlanon.anatomy(con, "t", **asked).table("qit").fetchall())
    con.execute("update t set q = 1000 - q").fetchall()
    after = sqlanon.anatomy(con, "t", **asked).table("qit").fetchall()
    assert before == {1000 - q: group for q, group in after}


@given(
    rows=st.one_of(
        st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=40),
        st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=24),
    ),
    l=st.integers(2, 4),
    block=st.sampled_from([1, 3, 64]),
    key=st.integers(0, 5),
    most=st.sampled_from([0, 0.2, 0.9]),
)
@examples(12, HealthCheck.function_scoped_fixture)
def test_rows_of_a_group_differ_in_every_column_or_it_is_refused(con, rows, l, block, key, most):
    names = fill(con, rows)
    asked = {"sensitive": names, "l": l, "block": block, "key": f"{key:064x}", "max_suppressed": most, **ASKED}
    largest = max(max(collections.Counter(column).values()) for column in zip(*rows, strict=True))
    try:
        release = sqlanon.anatomy(con, "t", **asked)
    except sqlanon.DataError as refused:
        if largest > len(rows) // l:  # a column by itself stands in the way
            assert len(rows) < l or ("the most frequent value of" in str(refused))
            assert len(rows) < l or len(rows) // largest < 2 or f"is {len(rows) // largest};" in str(refused)
        else:
            assert "find no group" in str(refused) or "there are no groups" in str(refused)
        return
    assert largest <= len(rows) // l
    members = groups_of(release, rows)
    assert set(members) == set(range(len(members)))
    for held in members.values():
        assert len(held) >= l
        assert all(differ(*pair) for pair in itertools.combinations(held, 2))
    left_out = len(rows) - sum(map(len, members.values()))
    assert release.manifest["dropped_rows"] == left_out <= most * len(rows)
    assert release.verify(against="t").holds


def test_columns_that_go_together_are_left_out_as_far_as_is_allowed(con):
    fill(con, CROSSED)
    asked = {"sensitive": ["s", "t", "u"], "l": 2, "key": KEY, **ASKED}
    with pytest.raises(sqlanon.DataError, match=r"2 of 4 rows \(50.00%\) find no group.*max_suppressed=0.5"):
        sqlanon.anatomy(con, "t", **asked)
    release = sqlanon.anatomy(con, "t", max_suppressed=0.5, **asked)
    (held,) = groups_of(release, CROSSED).values()
    assert CROSSED[3] in held
    fill(con, [*CROSSED[:3], ("b", "y", "p")])
    with pytest.raises(sqlanon.DataError, match="there are no groups whose rows differ in every one of 's' and 't'"):
        sqlanon.anatomy(con, "t", max_suppressed=0.9, **asked)


def test_the_column_that_stands_in_the_way_is_named_and_the_nearest_l(con):
    fill(con, [(str(n), str(n % 5)) for n in range(20)])
    with pytest.raises(sqlanon.DataError, match=r"value of 't' stands in 4 of 20 .* in the way of is 5") as refused:
        sqlanon.anatomy(con, "t", sensitive=["s", "t"], l=6, **ASKED)
    assert "'0'" not in str(refused.value)
    with pytest.raises(sqlanon.DataError, match=r"value of 't' \('\d'\) stands"):
        sqlanon.anatomy(con, "t", sensitive=["s", "t"], l=6, show_values=True, **ASKED)
    con.execute("update t set t = null where person = 3").fetchall()
    with pytest.raises(sqlanon.DataError, match="1 row has no value in the sensitive column 't'"):
        sqlanon.anatomy(con, "t", sensitive=["s", "t"], l=2, **{**ASKED, "nulls": "refuse"})
    release = sqlanon.anatomy(con, "t", sensitive=["s", "t"], l=2, **{**ASKED, "nulls": "drop"})
    assert (release.manifest["rows"], release.manifest["dropped_rows"]) == (19, 1)


def test_people_with_equal_values_are_equally_likely_to_be_anywhere(con):
    """Who is whose neighbour follows draws and sensitive values: of two with the same ones either is as likely."""
    names = fill(con, [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "z")] * 200)
    release = sqlanon.anatomy(con, "t", sensitive=names, l=2, key=KEY, max_suppressed=0.5, **ASKED)
    group = dict(release.table("qit").fetchall())
    with_d = {group[person] for person in range(5, 1200, 6) if person in group}
    first, second = (sum(group.get(person, -1) in with_d for person in range(n, 1200, 6)) for n in (0, 1))
    assert first + second >= 50
    assert (first - second) ** 2 / (first + second) < 10.8  # 0.999 quantile with 1 degree of freedom


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_value_as_frequent_as_can_be_finds_every_group_in_any_column(con, order):
    rows = [(f"s{n * n % 13}", "t" if n % 4 == 0 else f"t{n * 7 % 23}") for n in range(400)]
    names = fill(con, rows)
    release = sqlanon.anatomy(con, "t", sensitive=[names[n] for n in order], l=4, key=KEY, max_suppressed=0, **ASKED)
    for held in groups_of(release, [tuple(row[n] for n in order) for row in rows]).values():
        assert sum(row[order.index(1)] == "t" for row in held) == 1


@pytest.fixture(scope="module")
def published():
    """Return a connection with 600 people, and a release of two columns that depend on each other."""
    con = connect()
    con.execute(
        "create table t as select i as person, i * 7 % 60 as q, i * 13 % 2 as r,"
        " 'd' || (i * i % 11 + i % 2) as disease, (i * i % 11 + i // 11 % 3) % 9 as \"in come\" from range(600) x(i)"
    ).fetchall()
    asked = {"quasi": ["q", "r"], "sensitive": ["disease", "in come"], "id": "person", "max_suppressed": 0.2}
    return con, sqlanon.anatomy(con, "t", l=4, key=KEY, **asked), asked


def test_a_query_is_answered_by_the_one_column_that_it_reads(published):
    con, release, _ = published
    for column in ("disease", "in come"):
        answer = release.estimate(f'SELECT "{column}" AS v, COUNT(*) AS n FROM release GROUP BY ALL ORDER BY ALL')
        known = con.execute(f'select "{column}", count(*) from t group by all order by all').fetchall()
        if not release.manifest["dropped_rows"]:
            assert [tuple(row) for row in answer[["v", "n"]].itertuples(index=False)] == known
        assert "differ in 'disease' and 'in come' at once" in answer.attrs["messages"][-1]
    asked = [
        'SELECT COUNT(*) FROM release WHERE "in come" = 3 AND q < 30',
        "SELECT AVG(q) FROM release WHERE r = 1",
    ] * 5
    together, alone = release.estimate_many(asked), [release.estimate(sql) for sql in asked]
    for one, other in zip(together, alone, strict=True):
        assert one.iloc[0].tolist() == pytest.approx(other.iloc[0].tolist())
    with pytest.raises(sqlanon.QueryError, match="reads 'disease' and 'in come' together"):
        release.estimate("SELECT COUNT(*) FROM release WHERE disease = 'd1' AND \"in come\" = 3")


def test_a_written_release_proves_itself_and_what_was_changed_is_seen(published, tmp_path):
    _, release, _ = published
    release.write(tmp_path / "rel")
    opened = sqlanon.open(tmp_path / "rel")
    assert opened.verify().holds
    readme = (tmp_path / "rel" / "README.md").read_text(encoding="utf-8")
    assert "pairs of values of which hardly any belongs to one person" in readme
    with connect() as shell:
        shell.execute(f"set variable release = '{tmp_path}/rel'").fetchall()
        shell.execute((tmp_path / "rel" / "estimate.sql").read_text(encoding="utf-8")).fetchall()
        for view in ("weighted_1", "weighted_2", "weighted_1_paper", "weighted_2_paper"):
            assert shell.execute(f"select sum(weight) from {view}").fetchone()[0] == pytest.approx(
                opened.manifest["rows"]
            )


def test_a_value_that_stands_twice_in_a_group_is_seen_in_any_column(published):
    con, release, asked = published
    forged = sqlanon.anatomy(con, "t", l=4, key=KEY, **asked)
    told = forged.tables["st_2"]
    con.execute(
        'create or replace table forged as select group_id, case when group_id = 0 then 0 else "in come" end as'
        f' "in come", cast(sum("count") as bigint) as "count" from {told} group by all order by all'
    ).fetchall()
    forged.tables["st_2"] = Sql("forged")
    failed = {check.name for check in forged.verify().checks if check.holds is False}
    assert {"diversity", "confidence"} <= failed
    assert release.verify().holds


def test_attacks_look_at_every_column_and_two_releases_intersect(published):
    con, release, asked = published
    other = sqlanon.anatomy(con, "t", l=4, **{**asked, "sensitive": "in come"})
    attack = sqlanon.attack(release, against="t", id="person", others=[other])
    told = [finding.attack for finding in attack.findings]
    assert any(text.startswith("disease: ") for text in told) and any(text.startswith("in come: ") for text in told)
    assert "in come: 2 releases intersected" in told and "disease: 2 releases intersected" not in told


def test_what_several_columns_cannot_do_is_said(published, tmp_path):
    con, release, asked = published
    with pytest.raises(sqlanon.UsageError, match="keeps one sensitive column in step, 2 were given"):
        sqlanon.anatomy(con, "t", l=4, key=KEY, ledger=tmp_path / "ledger.duckdb", out=tmp_path / "rel", **asked)
    with pytest.raises(sqlanon.UsageError, match="is completed one column at a time, named with sensitive"):
        release.complete()
    con.execute("create or replace table b as select 1 as r, 'd1' as disease, 0.5 as probability").fetchall()
    with pytest.raises(sqlanon.UsageError, match="several sensitive columns cannot be used to hold against"):
        release.verify(background="b")
