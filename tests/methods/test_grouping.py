"""Draws of groups: each of a part of a hash of its own, and rows that share one in any order."""

import sqlanon
from tests.databases import connect


def test_each_of_several_draws_is_of_a_part_of_the_hash_of_its_own():
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
