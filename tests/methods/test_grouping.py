"""Groups in one pass: the same release, row for row, as in many steps under the same key."""

import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.engines import Traits
from tests.databases import connect
from tests.facts import each

KEY = "5" * 64
RUN_BY_RUN = Traits()
ROW_BY_ROW = Traits(row_by_row=True)
NUMBERED = Traits(shares_hashes=True, numbers_rows=True)
# a value of exactly 1/l of the rows, values of one row, runs of buckets that end at the last one and that go round
TABLES = {
    "even": "select i, i % 7 as age, i % 5 as disease from range(100) as t(i)",
    "one block": "select i, i % 3 as age, i % 11 as disease from range(37) as t(i)",
    "skewed": "select i, i % 9 as age, case when i < 200 then 0 when i < 390 then 1 else i % 17 + 2 end as disease"
    " from range(803) as t(i)",
    "rare": "select i, i % 9 as age, case when i < 300 then i else i % 31 end as disease from range(1009) as t(i)",
}


@pytest.fixture
def one_pass(monkeypatch):
    monkeypatch.setattr(DuckDBEngine, "traits", ROW_BY_ROW)


def tables(con, **asked):
    release = sqlanon.anatomy(con, "people", sensitive="disease", **{"quasi": "age", **asked})
    return [con.execute(f"from {release.tables[name]}").fetchall() for name in ("qit", "st")]


@pytest.mark.thorough
@each(TABLES)
def test_one_pass_makes_the_groups_that_many_steps_make(name):
    con = connect()
    con.execute(f"create table people as {TABLES[name]}")
    keyed = {"l": 4, "block": 5, "id": "i", "key": KEY}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "traits", Traits())  # as scripts have it
        expected = tables(con, **keyed)
    with pytest.MonkeyPatch.context() as patched:
        for traits in (RUN_BY_RUN, ROW_BY_ROW, NUMBERED):
            patched.setattr(DuckDBEngine, "traits", traits)
            assert tables(con, **keyed) == expected


# whole numbers with NULLs, all NULL, as far apart as a bigint goes, and texts; more lines than a double can tell apart
COLUMNS = """
    select
        i, i % 5 as disease, nullif(i % 7, 3) - 4 as small, cast(null as smallint) as none, 't' || i % 3 as text,
        case i % 4 when 0 then -9223372036854775808 when 1 then 9223372036854775807 when 2 then i end as huge,
        i % 6 * 100000000 as wide, i % 2 = 0 as flag
    from range(240) as t(i)
"""
WANTED = ["small", "none", "huge", "text", "huge,small", "small,huge,none", "wide,small,none", "small,wide,wide_too",
          "small,text,huge", "flag,small", "none,flag"]  # fmt: skip


@pytest.mark.thorough
@each(WANTED)
def test_lines_stand_in_the_order_of_their_columns_whatever_these_hold(quasi):
    con = connect()
    con.execute(f"create table people as select *, wide + 7 * (i % 3) as wide_too from ({COLUMNS}) as given")
    keyed = {"l": 4, "block": 5, "id": "i", "key": KEY, "quasi": quasi}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "traits", Traits())
        expected = tables(con, **keyed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "traits", RUN_BY_RUN)
        assert tables(con, **keyed) == expected


@pytest.mark.parametrize("draws", ["keyed", "random"])
@pytest.mark.filterwarnings("ignore:the engine")
def test_draws_of_a_run_of_its_own_are_made_once(draws, one_pass):
    con = connect()
    con.execute(f"create table people as {TABLES['rare']}")
    assert len(tables(con, l=4, block="all", draws=draws)[0]) == 1009


def test_each_of_several_draws_is_of_a_part_of_the_hash_of_its_own(one_pass):
    con = connect()
    con.execute("create table people as select i % 9 as age, i % 7 as disease from range(400) as t(i)")
    release = sqlanon.splu(con, "people", quasi="age", sensitive="disease", gamma=3)
    assert all(f"hash(substr(hash, {part}, 16))" in release.sql for part in (1, 17))
    assert release.verify(against="people").holds


def test_rows_of_one_hash_lie_in_any_order():
    """Eight rows that share a hash are put into order by halves of its digests: none comes first more often."""
    con = connect()
    con.execute("create table people as select 8 * (i // 5) + i % 5 as age, i % 5 as disease from range(20000) as t(i)")
    release = sqlanon.anatomy(con, "people", quasi="age", sensitive="disease", l=5, block="all", unique_quasi="keep")
    assert "row_number % 8" in release.sql and "substr(hash, 49, 16)" in release.sql
    # rows of one value, in the order of their draws, have groups one after the other
    qit = release.tables["qit"]
    ((share,),) = con.execute(
        f"select count(*) filter (where late.group_id > early.group_id) / count(*) from {qit} as early"
        f" join {qit} as late on late.age = early.age + 8"
    ).fetchall()
    assert 0.45 < share < 0.55
