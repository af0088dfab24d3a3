"""Objects as sources: a frame or a table of another library is published as the table with its rows is."""

import pandas as pd
import pytest

import sqlanon
from sqlanon.engines.connect import engine_of
from sqlanon.errors import SourceError
from tests.databases import connect
from tests.engines.hostile import rows_of

ASKED = {"quasi": ["age", "born"], "sensitive": "disease", "id": "ssn", "l": 4, "key": "ab" * 32}
PEOPLE = (
    "select i as ssn, i % 40 as age, date '1950-01-01' + cast(i % 50 as integer) as born,"
    " case when i % 8 > 0 then 'd' || i % 8 end as disease from range(400) r(i)"
)


def pandas(rows: pd.DataFrame) -> list[object]:
    return [rows]


def pyarrow(rows: pd.DataFrame) -> list[object]:
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows)
    return [table, pytest.importorskip("pyarrow.dataset").dataset(table)]


def polars(rows: pd.DataFrame) -> list[object]:
    frame = pytest.importorskip("polars").from_pandas(rows)
    return [frame, frame.lazy()]


@pytest.mark.parametrize("library", [pandas, pyarrow, polars])
def test_a_frame_is_published_as_a_table_is(library):
    con = connect()
    con.execute(f"create table people as {PEOPLE}")
    asked = {**ASKED, "nulls": "value"}
    wanted = sqlanon.anatomy(con, "people", **asked)
    people = con.execute("from people").df()
    people["born"] = people["born"].dt.date
    for frame in library(people):
        release = sqlanon.anatomy(con, frame, **asked)
        assert rows_of(release) == rows_of(wanted) and release.verify(against=frame).holds
    named = library(people)[-1]  # noqa: F841 - a query finds it by its name
    assert sqlanon.check(con, query="SELECT ssn, age FROM named WHERE age < 20", quasi="age").figures["rows"] == 200


def test_what_can_be_read_once_is_no_source(con):
    reader = pytest.importorskip("pyarrow").table({"age": [1, 2]}).to_reader()
    with pytest.raises(SourceError, match=r"read_all\(\)"):
        sqlanon.check(con, reader)


def test_a_column_that_duckdb_cannot_read_is_named_with_its_type(con):
    arrow = pytest.importorskip("pyarrow")
    value, numbers = ["a", "b", "c", "d"] * 10, range(40)
    frames = {
        r"period\[M\]": pd.DataFrame({"d": value, "m": pd.period_range("2024-01", periods=40, freq="M")}),
        "interval": pd.DataFrame({"d": value, "m": pd.cut(numbers, 8)}).astype({"m": pd.IntervalDtype("float64")}),
        "complex128": pd.DataFrame({"d": value, "m": [complex(number) for number in numbers]}),
        "decimal256": arrow.table({"d": value, "m": arrow.array(numbers, arrow.decimal256(40, 2))}),
        "halffloat": arrow.table({"d": value, "m": arrow.array([1.0] * 40).cast(arrow.float16())}),
    }
    for python_type, frame in frames.items():
        with pytest.raises(SourceError, match=rf"column 'm' is of type {python_type}.*cast it"):
            sqlanon.anatomy(con, frame, quasi="m", sensitive="d", l=2)


def test_columns_that_files_of_a_pattern_lack_are_counted_whatever_is_in_them(con, tmp_path):
    laid = {
        "one": "1 as x, {'p': 1, 'q': [1, 2]} as s, map {'a': 1} as pairs, [{'z': 2}] as list, 2 as z",
        "two": '1 as x, 2 as A, 3 as "b c"',
        "[1]/three": "1 as X, 2 as a, 3 as p",
    }
    for name, columns in laid.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        con.execute(f"copy (select {columns}) to '{tmp_path / name}.parquet'").fetchall()
    source, _ = engine_of(con).find_source(f"{tmp_path}/**/*.parquet")
    found = {name.lower(): counts for name, counts in source.lacking.items()}
    assert found == dict.fromkeys(("s", "pairs", "list", "z", "b c", "p"), (2, 3)) | {"a": (1, 3)}
