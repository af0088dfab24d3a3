"""Two releases of one ledger: groups that changed their lines are found, and other releases are refused."""

import duckdb
import pytest

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import UsageError
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables
from sqlanon.verification.succession import check_since


@pytest.fixture
def releases():
    with duckdb.connect() as con:
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
    earlier.manifest["columns"] = {"quasi": ["q"], "sensitive": ["s"]}
    with pytest.raises(UsageError, match="have none"):
        check_since(now, earlier)
