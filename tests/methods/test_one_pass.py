"""Groups in one pass: the same release, row for row, as in many steps under the same key."""

import pytest

import sqlanon
from sqlanon.engines.duckdb import DuckDBEngine
from tests.databases import connect
from tests.facts import each

KEY = "5" * 64
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
    monkeypatch.setattr(DuckDBEngine, "row_by_row", True)
    monkeypatch.setattr(DuckDBEngine, "few_tables", True)
    monkeypatch.setattr(DuckDBEngine, "shares_hashes", False)


def tables(con, **asked):
    release = sqlanon.anatomy(con, "people", quasi="age", sensitive="disease", **asked)
    return [con.execute(f"from {release.tables[name]}").fetchall() for name in ("qit", "st")]


@each(TABLES)
def test_one_pass_makes_the_groups_that_many_steps_make(name):
    con = connect()
    con.execute(f"create table people as {TABLES[name]}")
    keyed = {"l": 4, "block": 5, "id": "i", "key": KEY}
    expected = tables(con, **keyed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "few_tables", True)
        assert tables(con, **keyed) == expected  # shard by shard
        patched.setattr(DuckDBEngine, "row_by_row", True)
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
