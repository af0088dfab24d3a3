"""A recipient's query asked of the source: its rows are what the query means there."""

import pytest

from sqlanon.errors import QueryError
from sqlanon.sql.exact_query import write_over_source
from tests.databases import database

QUASI, SENSITIVE = ["age", "Se x"], ["disease"]


con = database(
    'create table "pe""ople" (age integer, "Se x" varchar, disease varchar)',
    "insert into \"pe\"\"ople\" values (1, 'F', 'flu'), (2, 'F', 'cold'), (3, 'M', 'flu'), (9, 'M', 'flu')",
)


@pytest.mark.parametrize(
    ("sql", "keys", "figures", "counts", "rows"),
    [
        ("select count(*) from release where disease = 'flu'", [], ["count"], ["count"], [(3,)]),
        ("select r.\"Se x\" as s, avg(age) a, count(*) n from release as r group by s order by s", ["s"], ["a", "n"],
         ["n"], [("F", 1.5, 2), ("M", 6.0, 2)]),
        ("with young as (select * from release where age < 4) select sum(age) from young", [], ["sum"], [], [(6,)]),
        ("select count(*) / 2 as half, count(*) n from release", [], ["half", "n"], ["n"], [(2.0, 4)]),
    ],
)  # fmt: skip
def test_true_answers(con, sql, keys, figures, counts, rows):
    found = write_over_source(sql, 'pe"ople', QUASI, SENSITIVE)
    assert (list(found.keys), list(found.figures), sorted(found.counts)) == (keys, figures, counts)
    assert con.execute(found.sql).fetchall() == rows
    assert sorted(found.names) == sorted(keys + figures)


@pytest.mark.parametrize("clause", ["having count(*) > 3", "limit 1"])
def test_clauses_that_depend_on_figures_are_refused(clause):
    with pytest.raises(QueryError, match=f"{clause.split()[0].upper()} leaves rows"):
        write_over_source(f"select age, count(*) from release group by age {clause}", "people", QUASI, SENSITIVE)


def test_no_other_table_is_read():
    for sql in ("select count(*) from people", "select count(*) from release where age in (select age from people)",
                "select count(*) from release; drop table people"):  # fmt: skip
        with pytest.raises(QueryError):
            write_over_source(sql, "people", QUASI, SENSITIVE)
