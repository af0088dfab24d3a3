"""DuckDB's own faults that our SQL goes around, in bare SQL: each is there on the lines named, and on no other.

A test that fails because a fault is gone says that a template may be written as it reads best again, once no version
that pyproject.toml allows has the fault. The table of `sqlanon guide engines` lists them.
"""

import re

import duckdb
import numpy
import pyarrow
import pytest
from pyarrow import parquet

from sqlanon.plans.plan import Source
from sqlanon.plans.templates import ident
from tests.caller_settings import PUBLICATIONS
from tests.documents import text_of

LINE = duckdb.__version__[:3]
# a window over a window, each over the draws of the engine's own generator
SUMS = (
    "select bool_and(inner_sum = outer_sum) from (select inner_sum, sum(number) over () as outer_sum from (select"
    " number, sum(number) over (partition by part) as inner_sum from {drawn}))"
)
DRAWN = "select 1 as part, random() * 1000000 // 1 as number from range(1000)"


def value_of(sql):
    with duckdb.connect() as connection:
        ((value,),) = connection.execute(sql).fetchall()
        return value


def test_a_null_in_a_cte_has_a_type():
    typed = "select typeof(nothing) from {}"
    assert (value_of(f"with named as materialized (select null as nothing) {typed.format('named')}") == "INTEGER") is (
        LINE == "1.4"
    )
    assert value_of(typed.format("(select null as nothing)")) == '"NULL"'  # as macros/table reads it


def test_texts_that_are_read_under_a_collation_have_no_largest():
    texts = "select 'x' || range as word from range(9)"
    listed = f'(select [word] as words from (select word collate "C" as word from ({texts})))'
    assert value_of(f"select max(list_sort(words, 'asc', 'nulls last')[1]) from {listed}") == "x8"
    if LINE == "1.4":
        with pytest.raises(duckdb.InvalidInputException, match="arg_max"):
            value_of(f"select max(list_max(words)) from {listed}")
    else:
        assert value_of(f"select max(list_max(words)) from {listed}") == "x8"


def test_a_file_keeps_every_table_of_a_with_beside_each(tmp_path):
    """Stored flat, 30 tables take 30 times as much room; each in a WITH of its own, as macros are written, do not."""
    steps = [
        f"step_{number} as materialized (select {number} as number, '{'text' * 300}' as text)" for number in range(30)
    ]
    bodies = {
        "flat": f"with {', '.join(steps)} select * from step_29",
        "nested": "".join(f"with {step} select * from (" for step in steps) + "select * from step_29" + ")" * 30,
    }
    sizes = {}
    for name, body in bodies.items():
        path = tmp_path / f"{name}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"create macro kept() as table {body}").fetchall()
        sizes[name] = path.stat().st_size
    assert (sizes["flat"] > 3 * sizes["nested"]) is (LINE == "1.4"), sizes


@pytest.mark.parametrize("drawn", [f"({DRAWN})", "drawn"])
def test_a_window_over_draws_draws_them_twice(drawn):
    assert value_of(f"with drawn as not materialized ({DRAWN}) {SUMS.format(drawn=drawn)}") is (LINE != "1.5")


def test_what_is_materialized_is_drawn_once():
    assert value_of(f"with drawn as materialized ({DRAWN}) {SUMS.format(drawn='drawn')}") is True


NO_NUMBERS = (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123)  # bits of what is no number


def test_statistics_that_leave_out_what_is_no_number_hide_it(tmp_path):
    """Writers may leave it out of a column's smallest and largest value, and most do."""
    bits = numpy.array([*NO_NUMBERS, 0] * 9, "<u8")
    parquet.write_table(pyarrow.table({"x": bits.view("<f8")}), tmp_path / "numbers.parquet")
    numbers = f"from '{tmp_path / 'numbers.parquet'}'"
    assert (value_of(f"select count(*) {numbers} where isnan(x)") == 0) is (LINE == "2.0")
    read = Source(ident("numbers"), floats={"x": "DOUBLE"}).expression("x")
    with duckdb.connect() as connection:
        (column,) = connection.execute(f"select {read} as x {numbers}").fetchnumpy().values()
    assert {*column.view("<u8")} == {NO_NUMBERS[0], 0}


MADE = re.compile(r'create temporary (view|table) ("[^"]+") as')
RANDOM = {"mondrian": {"partition": "relaxed"}, "robust": {"background_from": "age"}}


@pytest.mark.filterwarnings("ignore:the engine's random")
@pytest.mark.parametrize("method", PUBLICATIONS)
def test_every_draw_is_drawn_once_and_under_no_window(con, method):
    """A view of draws is read by one statement only; what runs random() in the end is a table, and holds no window."""
    con.execute(
        "create table patients as select i as ssn, 20 + i % 9 as age, 'd' || i % 7 as disease from range(90) t(i)"
    )
    verb, roles = PUBLICATIONS[method]
    options = {name: value for name, value in roles.items() if name not in ("key", "quasi")} | RANDOM.get(method, {})
    release = verb(con, "patients", quasi=["age"], draws="random", **options)
    statements = {made[2]: (made[1], text) for text in release.sql.split(";") if (made := MADE.search(text))}
    drawing = [name for name, (_, text) in statements.items() if "random()" in text]
    assert drawing
    for name in drawing:
        kind, text = statements[name]
        assert " over (" not in text
        if kind == "view":
            readers = [reader for reader, (_, text) in statements.items() if reader != name and name in text]
            assert len(readers) == 1, readers
            drawing += readers


def test_a_join_that_spills_loses_no_row(tmp_path):
    """As builds before 2.0.0 did, by a filter made of the part of a table that was in memory."""
    settings = {"threads": 1, "temp_directory": str(tmp_path / "spilled"), "memory_limit": "40MB"}
    with duckdb.connect(str(tmp_path / "a.duckdb"), config=settings) as connection:
        connection.execute("create table built as select range % 2000 as number from range(600000)").fetchall()
        connection.execute("create table probed as select range % 4000 as number from range(600000)").fetchall()
        connection.execute("set memory_limit = '16MB'").fetchall()
        kept = "select count(*) from probed where number in (select number from built)"
        assert connection.execute(kept).fetchall() == [(300000,)]


@pytest.mark.parametrize("thread", ["24807", "24302", "25702"])
def test_the_guide_names_the_threads(thread):
    assert f"(DuckDB's issue {thread})" in text_of("engines")
