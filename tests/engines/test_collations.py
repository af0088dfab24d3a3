"""Columns whose texts differ and are one value for the database: no promise counts them by their bytes."""

import pytest

import sqlanon
from tests.conftest import METHODS
from tests.databases import connect

PEOPLE = (
    "select i as pid, i % 20 as age, ['Flu', 'flu', 'FLU', 'Gout', 'gout', 'x'][1 + (i * 5) % 6] as d, 'F' as sex"
    " from range(120) as t(i)"
)
REFUSED = 'column \'d\' has a collation, .* lower[(]"d"[)] collate "C" as "d" in its place'
ROLES = {"quasi": "age", "sensitive": "d", "id": "pid"}
CALLS = {
    **{
        method: lambda con, t, method=method: getattr(sqlanon, method)(con, t, **ROLES, **METHODS[method])
        for method in METHODS
    },
    "quasi": lambda con, t: sqlanon.mondrian(con, t, quasi=["age", "d"], sensitive="sex", k=2),
    "id": lambda con, t: sqlanon.mondrian(con, t, quasi="age", sensitive="sex", id="d", k=2),
    "check": lambda con, t: sqlanon.check(con, t, quasi="age", sensitive="d"),
    "compare": lambda con, t: sqlanon.compare(con, t, quasi="age", sensitive="d"),
    "breach": lambda con, t: sqlanon.breach(
        con, base=t, views=["SELECT pid, age FROM base", "SELECT age, d FROM base"], secret="SELECT pid, d FROM base"
    ),
}


@pytest.fixture(scope="module")
def con():
    connection = connect()
    for number, collation in enumerate(("nocase", "noaccent", "nfc")):
        connection.execute(
            f"create table people_{number} (pid int, age int, d varchar collate {collation}, sex varchar)"
        )
        connection.execute(f"insert into people_{number} {PEOPLE}")
    connection.execute("create view people as select * from people_0")
    connection.execute('create view spelled as select * replace (lower(d) collate "C" as d) from people')
    connection.execute("create view quick as select * replace (d collate nocase as d) from spelled")
    return connection


@pytest.mark.parametrize("name", CALLS)
def test_a_column_with_a_collation_is_refused_with_the_way_on(name, con):
    tables = ["people_0", "people_1", "people_2", "people", "quick", con.sql("from people_0")]
    for table in tables if name == "anatomy" else tables[3:4]:
        with pytest.raises(sqlanon.UsageError, match=REFUSED):
            CALLS[name](con, table)


def test_the_way_on_is_one(con):
    release = sqlanon.anatomy(con, "spelled", **ROLES, l=2)
    assert dict(release.table("st").aggregate("d, sum(count)").fetchall()) == {"flu": 60, "gout": 40, "x": 20}
    # what has no role may have any collation
    assert sqlanon.mondrian(con, "people", quasi="age", sensitive="sex", id="pid", k=4).verify(against="people").holds


def test_check_suggests_no_column_with_a_collation(con):
    (column,) = [line for line in sqlanon.check(con, "people").columns if line["column"] == "d"]
    assert (column["type"], column["suggested_role"]) == ("VARCHAR COLLATE", "leave out")
