"""Two releases of one ledger: groups that changed their lines are found, and other releases are refused."""

import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import UsageError
from sqlanon.plans.templates import Sql
from sqlanon.releases.verification_run import check_since
from sqlanon.verification.checks import PublishedTables
from tests.databases import connect


@pytest.fixture
def releases():
    with connect() as con:
        lines = "(0, 'a', 1), (0, 'b', 1), (1, 'a', 1), (1, null, 1)"
        con.execute(f"create table earlier_st as from (values {lines}) t(g, s, n)")
        con.execute(f"create table st as from (values (2, 'c', 1), {lines}) t(g, s, n)")
        yield con, published(con, "st", 2), published(con, "earlier_st", 1)


def published(con, st, number, **parameters):
    columns = {"quasi": ["q"], "sensitive": ["s"], "group": "g", "count": "n"}
    manifest = {"method": "anatomy", "columns": columns, "parameters": {"l": 2, "release": number, **parameters}}
    return PublishedTables(DuckDBEngine(con), {"st": Sql(st)}, manifest)


def test_groups_in_both_keep_their_lines(releases):
    con, now, earlier = releases
    check = check_since(now, earlier)
    assert check.holds and check.found == {"groups_in_both": 2, "changed_groups": 0}
    con.execute("update st set s = 'x' where g = 1 and s is null")
    check = check_since(now, earlier)
    assert not check.holds and check.found == {"groups_in_both": 2, "changed_groups": 1}
    con.execute("insert into st values (0, 'c', 1)")
    assert check_since(now, earlier).found["changed_groups"] == 2


def test_randomized_values_that_were_drawn_again_are_found():
    columns = {"quasi": ["q", "r"], "sensitive": ["s"]}
    with connect() as con:
        con.execute("create table earlier_data as select i // 2 as q, i % 2 as r, i % 7 as s from range(200) t(i)")
        con.execute("insert into earlier_data values (5, 0, 1), (null, 0, 2)")
        con.execute("create table data as select q::varchar as q, r, s from earlier_data where q > 1 or q is null")
        parameters = {"gamma": {"s": 4}, "release": 2}
        now, earlier = (
            PublishedTables(
                DuckDBEngine(con),
                {"data": Sql(name)},
                {"method": "splu", "columns": columns, "parameters": {**parameters, "release": number}},
            )
            for name, number in (("data", 2), ("earlier_data", 1))
        )
        check = check_since(now, earlier)
        # (5, 0) stands there twice, NULL is a value
        assert check.holds and check.found == {"alone_in_both": 196, "same_value": 196}
        con.execute("update data set s = (s + r) % 7")
        assert check_since(now, earlier).holds and check_since(now, earlier).found["same_value"] == 98
        con.execute("update data set s = s + 1 where q::int % 3 > 0")
        assert check_since(now, earlier).holds is None
        con.execute("delete from data where q <> '90'")
        assert check_since(now, earlier).holds is None
        earlier.manifest["columns"] = {**columns, "quasi": ["other"]}
        with pytest.raises(UsageError, match="no quasi column in common"):
            check_since(now, earlier)


@pytest.mark.parametrize(("parameters", "words"), [
    ({"release": None}, "one ledger"), ({"release": 2}, "does not follow"), ({"release": True}, "one ledger"),
])  # fmt: skip
def test_releases_that_do_not_follow_are_refused(releases, parameters, words):
    con, now, _ = releases
    with pytest.raises(UsageError, match=words):
        check_since(now, published(con, "earlier_st", 1, **parameters))


def test_another_ledgers_releases_are_refused(releases):
    _, now, earlier = releases
    earlier.manifest["method"] = "robust"
    with pytest.raises(UsageError, match="another ledger"):
        check_since(now, earlier)
    now.manifest["method"] = earlier.manifest["method"] = "mondrian"
    with pytest.raises(UsageError, match="have none"):
        check_since(now, earlier)
