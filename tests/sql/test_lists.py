"""Constants, JSON texts and WITH tables mean the same in other dialects: those that DuckDB can read are run."""

import pytest

from sqlanon.errors import TemplateError
from sqlanon.sql.translate import translate

CONSTANTS = (
    "with line as (select unnest(string_split('a | b''\\ | c', ' | ')) as node, unnest(string_split('1 |  | 3', ' | '))"
    " as depth, ' | ' as separator) select node, nullif(depth, '') as depth from line"
)
NESTED = (
    "with d as (select x.y + w.y as y from (with d as (select 1 as y) select d.y from d) as x"
    " cross join (with d as (select 5 as y) select d.y from d) as w)"
    " select s.y, t.y as z, d.y as v, e.y as u from (with d as (select 2 as y) select d.y from d) as s"
    " cross join (with e as (select 3 as y) select y from e) as t cross join d cross join d as e"
)


def test_with_tables_of_other_names_give_what_duckdb_gives(con):
    written = translate(NESTED, "postgres")
    assert written != NESTED and con.execute(written).fetchall() == con.execute(NESTED).fetchall()


def test_a_number_that_a_type_cannot_hold_is_null_where_no_cast_is_tried():
    written = {"3000000000": "null", "-32769.5": "-32769.5", "30.5": "30.5", "-2147483649": "null"}
    for constant, meant in written.items():
        sql = f"select try_cast({constant} as integer) as read"
        assert translate(sql, "postgres").split() == f'select cast({meant} as int) as "read"'.split()
        assert "try_cast" in translate(sql, "spark")
    decimal = "select try_cast(10000000 as decimal(9, 2)) as read"
    assert "cast(null as" in translate(decimal, "postgres")


def test_the_longest_table_of_constants_is_one_text_per_column(con):
    many = " | ".join(str(number) for number in range(5000))
    sql = CONSTANTS.replace("'a | b''\\ | c'", f"'{many}'").replace("'1 |  | 3'", f"'{many}'")
    assert con.execute(sql).fetchall()[-1] == ("4999", "4999")
    assert "string_to_array('0 | 1" in translate(sql, "postgres")


def test_a_text_of_several_lines_stays_as_it_is_wherever_it_stands():
    sql = "select unnest(string_split('a\nb | c', ' | ')) as x, 7 // length('d\n\ne') as y, 'f\ng' as z where 1 = 1"
    for dialect in ("postgres", "spark"):
        written = translate(sql, dialect)
        assert all(text in written.replace("\\n", "\n") for text in ("'a\nb", "'d\n\ne'", "'f\ng'"))


def test_what_is_done_with_arrays_is_said_where_there_are_any():
    sql = "select list_max(a) as most, a[2] as second, array_length(list_distinct(a)) as n, list_sort(a) as b from t"
    assert "unnest(" in translate(sql, "postgres") and "array_sort(" in translate(sql, "spark")
    for wrong in ("list(x order by y)", "a[b]", "regexp_matches(quasi_1, 'a')", "trim(quasi_1)", "right(quasi_1, n)"):
        with pytest.raises(TemplateError, match="not portable"):
            translate(f"select {wrong} as x from t", "postgres")
