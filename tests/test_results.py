"""What verbs take in the place of a connection, and what `print` shows of what they return."""

import duckdb
import pyarrow
import pytest

import sqlanon
from sqlanon.errors import UsageError

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease"}
PEOPLE = (
    "select i as ssn, (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 'd' || (hash(i) % 6) as disease from range(300) t(i)"
)


@pytest.fixture
def sources(tmp_path):
    con = duckdb.connect()
    frame = con.execute(PEOPLE).df()
    con.execute(f"copy ({PEOPLE}) to '{tmp_path / 'people.parquet'}'")
    path = tmp_path / "people.parquet"
    return {"pandas": frame, "arrow": pyarrow.Table.from_pandas(frame), "path": path, "text": str(path)}


@pytest.mark.parametrize("name", ["pandas", "arrow", "path", "text"])
def test_a_table_by_itself_opens_a_session(sources, name):
    release = sqlanon.anatomy(sources[name], **ROLES, id="ssn", l=3)
    assert len(release) == 300
    assert list(release.qit.df().columns) == ["age", "sex", "group_id"]
    assert release.st.df()["count"].sum() == 300
    assert release.verify(against=sources[name]).holds
    assert name != "arrow" or release.attack(against=sources[name], id="ssn").scored
    assert sqlanon.check(sources[name], **ROLES).figures["rows"] == 300


def test_polars_is_a_table_too():
    polars = pytest.importorskip("polars")
    assert sqlanon.check(polars.DataFrame({"a": [1, 2]})).figures["rows"] == 2


def test_what_is_no_table_and_no_connection_is_refused(sources):
    with pytest.raises(UsageError, match="is no connection"):
        sqlanon.anatomy(3, **ROLES, l=3)
    with pytest.raises(UsageError, match="is no connection"):
        sqlanon.check(sources["text"], "patients")
    with pytest.raises(AttributeError, match="its tables are qit, st"):
        _ = sqlanon.anatomy(sources["pandas"], **ROLES, id="ssn", l=3).data


def test_a_column_that_tells_another_stops_though_nobody_is_alone():
    con = duckdb.connect()
    con.execute("create table told as select i % 20 as age, 'd' || (i % 5) as disease from range(400) t(i)")
    verdict = sqlanon.check(con, "told", quasi="age", sensitive="disease").verdict
    assert verdict.colour == "red" and "age tells disease: in a group it makes" in verdict.words
    con.execute("create table untold as select i % 4 as age, 'd' || (i // 4 % 5) as disease from range(400) t(i)")
    assert sqlanon.check(con, "untold", quasi="age", sensitive="disease").verdict.colour == "green"


def test_every_result_is_said_in_ten_lines_at_most_and_shown_with_its_verdict_first():
    con = duckdb.connect()
    con.execute(f"create table people as {PEOPLE}")
    release = sqlanon.anatomy(con, "people", **ROLES, id="ssn", l=3)
    views = ["SELECT ssn, age FROM people", "SELECT age, disease FROM people"]
    shown = [
        release, release.verify(), release.attack(), release.report(), sqlanon.check(con, "people", **ROLES),
        sqlanon.breach(con, base="people", views=views, secret="SELECT ssn, disease FROM people"),
        sqlanon.compare(con, "people", **ROLES, methods="anatomy,mondrian", l=3, quick=True, queries=6),
    ]  # fmt: skip
    for each in shown:
        for text in (repr(each), str(each)):
            assert len(text.splitlines()) <= 10 and max(map(len, text.splitlines())) <= 160
            assert not text.startswith(f"{type(each).__name__}(")
        assert "verdict" in each._repr_html_().partition("<table")[0]
    for each in (sqlanon.Key.fresh(), release.complete(1)):
        assert repr(each).startswith("<") and len(repr(each)) < 120
