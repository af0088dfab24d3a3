"""The macros of breach: what they yield is what the analysis finds of the same two views, and what they refuse."""

import duckdb
import pytest

from sqlanon.breaches.chapters import MACROS
from tests.breaches.test_analysis import ALL_SECRETS, PEOPLE, found
from tests.breaches.test_script import COLUMNS, SIMPLE, fault_of
from tests.databases import connect, insert


@pytest.fixture(scope="module")
def people():
    con = connect()
    con.execute(f"create table people ({COLUMNS})")
    insert(con, "people", PEOPLE)
    for macro in MACROS:
        con.execute(macro.sql)
    yield con
    con.close()


@pytest.mark.parametrize("model", ["unrestricted", "restricted"])
def test_macros_find_what_the_analysis_finds(people, model):
    got = people.execute(f"from breach_{model}('people', 'SSN', ['age', 'w'], 'disease')").fetchall()
    assert not fault_of(got, found(people, "people", SIMPLE, ALL_SECRETS, model)[0])
    got = people.execute(f"from breach_{model}('people', 'ssn', [], 'disease')").fetchall()
    views = ["SELECT ssn FROM people", "SELECT disease FROM people"]
    assert not fault_of(got, found(people, "people", views, ALL_SECRETS, model)[0])


def test_joined_columns_are_told_apart(people):
    """Texts that would be equal if they were put together, NULL, and the text that stands for NULL."""
    rows = [
        ("a", "b1", "1", "x"),
        ("b", "b", "11", "y"),
        ("c", None, "N", "x"),
        ("d", "N", None, "y"),
        ("e", "b1", "1", "z"),
    ]
    people.execute("create or replace temporary table joined (i varchar, j varchar, k varchar, p varchar)")
    insert(people, "joined", rows)
    got = people.execute("select id, cover from breach_unrestricted('joined', 'i', ['j', 'k'], 'p')").fetchall()
    assert sorted(got) == [("a", 2), ("b", 1), ("c", 1), ("d", 1), ("e", 2)]


@pytest.mark.parametrize(
    ("called", "reason"),
    [
        ("'people', 'nobody', ['age'], 'disease'", "no column 'nobody' in the source"),
        ("'people', 'ssn', ['age', 'Ssn'], 'disease'", "name a column twice"),
    ],
)
def test_columns_that_cannot_be_right_are_refused(people, called, reason):
    with pytest.raises(duckdb.InvalidInputException, match=reason):
        people.execute(f"from breach_unrestricted({called})").fetchall()
