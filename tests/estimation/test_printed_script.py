"""Scripts of every form of release run in a shell, from their own files alone."""

import pytest

import sqlanon
from tests.conftest import PAPERS
from tests.databases import connect

PEOPLE = (
    "create table people as select i as id, i % 40 as age, i % 3 as sex, 'd' || i % 8 as value from range(160) t(i)"
)
ROLES = {"quasi": ["age", "sex"], "sensitive": "value", "id": "id"}
QUERY = "SELECT sex, COUNT(*) FROM release WHERE value = 'd1' AND age < 30 GROUP BY sex"


@pytest.mark.parametrize(("method", "parameters"), [("splu", {"gamma": 4}), ("mondrian", {"k": 4, "l": 2})])
def test_statements_of_other_forms_run_as_they_are(method, parameters, tmp_path):
    connection = connect()
    connection.execute(PEOPLE)
    release = getattr(sqlanon, method)(connection, "people", **ROLES, **parameters, out=tmp_path / "release")
    check(release.estimation_sql(QUERY))


def test_the_papers_uncertain_release_runs_as_it_is():
    release = sqlanon.open(PAPERS / "uncertain" / "release")
    check(release.estimation_sql("SELECT COUNT(*) AS n FROM release WHERE education = 'Master'"))


def check(script):
    first, *rest = script.splitlines()
    assert "ends in what" in first and "-- moment" in rest
    shell = connect()
    for statement in shell.extract_statements(script):
        shell.execute(statement).fetchall()
