"""Quasi values as one number: the same release, row for row, as with columns, wherever they fit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.methods import packing
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql
from tests.databases import connect, insert
from tests.examples import examples
from tests.facts import each

KEY = "7" * 64
ASKED = {"sensitive": "disease", "id": "i", "key": KEY, "unique_quasi": "keep"}
METHODS = {
    "anatomy": {"l": 3},
    "robust": {"r": 3, "background_from": "c1", "max_suppressed": 0.5},
    "anatomy of two columns": {"l": 3, "sensitive": ["disease", "income"], "max_suppressed": 0.3},
    "robust of two columns": {
        "r": 3,
        "background_from": "c1",
        "sensitive": ["disease", "income"],
        "max_suppressed": 0.7,
    },
    "splu": {"gamma": 3},
    "splu of two columns": {"gamma": 3, "sensitive": ["disease", "income"]},
}
# type, and the values of 300 rows
COLUMNS = {
    "TINYINT": "i % 250 - 125",
    "UTINYINT": "(i * 7) % 256",
    "SMALLINT": "i * 200 - 30000",
    "USMALLINT": "i * 200",
    "INTEGER": "case when i % 5 = 0 then null else i * 14000000 - 2100000000 end",
    "UINTEGER": "i * 14000000",
    "BIGINT": "i * 100 - 2305843009213693952",
}


def tables(con, quasi, packs=True, method="anatomy", **asked):
    """Return the tables of a release, their types first, and whether rows were packed; packs: whether they may be."""
    with pytest.MonkeyPatch.context() as patched:
        if not packs:
            patched.setattr(packing, "range_query", lambda request: None)
        publish = getattr(sqlanon, re.split("[ ,]", method)[0])
        release = publish(con, "people", quasi=quasi, **(ASKED | METHODS[method] | asked))
    shown = [con.sql(f"from {relation}") for relation in release.tables.values()]
    return [(one.types, one.fetchall()) for one in shown], '_layout"' in release.sql


def people(columns):
    """Return a session with a table of 300 people."""
    con = connect()
    cast = ", ".join(f"cast({values} as {kind}) as c{place}" for place, (kind, values) in enumerate(columns))
    con.execute(f"create table people as select i, {cast}, i % 7 as disease, i % 5 as income from range(300) as t(i)")
    return con, [f"c{place}" for place, _ in enumerate(columns)]


@each([("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT"), ("INTEGER", "UTINYINT"), ("UINTEGER", "TINYINT"), ("BIGINT",)])
def test_packed_columns_make_the_release_that_columns_make(kinds):
    con, quasi = people([*((kind, COLUMNS[kind]) for kind in kinds), ("INTEGER", "if(i % 3 > 0, i % 4, null)")])
    expected, packed = tables(con, quasi, False)
    assert not packed
    assert tables(con, quasi) == (expected, True)


@each(
    [("VARCHAR", "i % 5"), ("BOOLEAN", "i % 5 = 0"), ("DATE", "date '2020-01-01' + cast(i % 9 as integer)"),
     ("DOUBLE", "i % 9 / 2.0"), ("HUGEINT", "i % 5"), ("BIGINT", "i * 3000000000000000"),
     ("BIGINT", "9223372036854775807 - i % 20"), ("BIGINT", "-9223372036854775808 + i % 20")]
)  # fmt: skip
def test_other_values_and_ranges_that_do_not_fit_stay_columns(column):
    con, quasi = people([column, ("INTEGER", "i * 7000000")])
    assert not tables(con, quasi)[1]


@each(METHODS)
def test_every_method_makes_the_release_that_columns_make(method):
    con, quasi = people([("INTEGER", "(i * 31) % 80 - 5"), ("TINYINT", "case when i % 11 > 0 then i % 3 end")])
    expected, packed = tables(con, quasi, False, method)
    assert not packed
    con.execute("begin")  # where the numbers of new rows begin elsewhere
    try:
        assert tables(con, quasi, True, method) == (expected, True)
    finally:
        con.execute("rollback")


def test_rows_keep_their_places_where_the_session_keeps_no_order():
    con, quasi = people([("INTEGER", "(i * 17) % 90"), ("INTEGER", "null")])
    expected, _ = tables(con, quasi, False)
    con.execute("set preserve_insertion_order = false")
    try:
        assert tables(con, quasi) == (expected, True)
    finally:
        con.execute("reset preserve_insertion_order")


@pytest.mark.filterwarnings("ignore:the engine")
@each([{}, {"draws": "random"}, {"block": "all"}, {"nulls": "drop"}])
def test_releases_of_a_run_of_its_own_hold(asked):
    con = connect()
    con.execute(
        "create table people as select (i * 31) % 70 as age, case when i % 9 > 0 then i % 4 end as sex,"
        " case when i % 50 > 0 then i % 11 end as disease from range(1100) as t(i)"
    )
    given_values = {"nulls": "value", **asked}
    release = sqlanon.anatomy(con, "people", quasi=["age", "sex"], sensitive="disease", l=4, **given_values)
    assert "as packed\n" in release.sql
    assert release.verify(against="people").holds


def test_a_request_that_is_refused_asks_the_source_nothing(monkeypatch, tmp_path):
    con, quasi = people([("INTEGER", "i % 40")])
    sqlanon.anatomy(con, "people", quasi=quasi, sensitive="disease", l=3, out=tmp_path / "there")
    asked, rows = [], DuckDBEngine.rows
    monkeypatch.setattr(DuckDBEngine, "rows", lambda self, sql: asked.append(sql) or rows(self, sql))
    with pytest.raises(sqlanon.UsageError, match="protects nobody"):
        sqlanon.anatomy(con, "people", quasi=quasi, sensitive="disease", l=1)
    with pytest.raises(sqlanon.TargetError):
        sqlanon.anatomy(con, "people", quasi=quasi, sensitive="disease", l=3, out=tmp_path / "there")
    assert asked and all(sql.startswith("describe") for sql in asked)


def test_no_statement_holds_a_number_of_the_source():
    con, quasi = people([("INTEGER", "i + 7654321"), ("INTEGER", "i % 13 + 98765")])
    release = sqlanon.anatomy(con, "people", quasi=quasi, sensitive="disease", l=3, unique_quasi="keep")
    assert "as packed\n" in release.sql
    assert not [number for number in ("7654321", "98765", "7654620", "98777", "300") if number in release.sql]


@pytest.mark.property
@examples(25)
@given(
    st.lists(
        st.tuples(st.none() | st.integers(-(2**40), 2**40), st.none() | st.integers(-3, 3), st.integers(0, 9)),
        min_size=1,
        max_size=40,
    )
)
def test_numbers_are_ordered_as_values_are_and_read_back(rows):
    con = connect()
    con.execute("create table people (a bigint, b tinyint, g bigint)")
    insert(con, "people", rows)
    (found,) = con.sql("select min(a), max(a), min(b), max(b) from people").fetchall()
    measured = dict(zip(("least_1", "most_1", "least_2", "most_2"), found, strict=True)) | {"row_count": 10}
    layout = packing.layout_of(Request(Source(Sql("people")), Roles(("a", "b"), ("c",)), ranges=measured))
    con.execute(f"create table layout as select {', '.join(f'{number} as {name}' for name, number in layout.items())}")
    given = {"layout": Sql("layout"), "population": Sql("people"), "grouped": Sql("grouped")}
    packed = render_query("packing", {"quasi": ["a", "b"], "kept": ["g"]}, given)
    con.execute(f"create table grouped as select packed, g as group_id from ({packed})")
    quasi = [("a", Sql("bigint")), ("b", Sql("tinyint"))]
    qit = render_query("qit", {"packed": True, "quasi": quasi, "group_column": "g", "members": "grouped"}, given)
    assert con.sql(qit).fetchall() == con.sql("from people order by a nulls last, b nulls last, g").fetchall()
