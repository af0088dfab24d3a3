"""What an earlier version took is refused by all surfaces in one line that says so, with what to type instead."""

import pytest

import sqlanon
from sqlanon.errors import UsageError
from tests.conftest import PAPERS

ROLES = ("--quasi", "age", "--sensitive", "disease", "--id", "ssn")
COMPILE = ("compile", "anatomy", "patients", *ROLES, "-l", "3")
TYPED = [
    ((*COMPILE, "--dialect", "trino"), "--dialect trino was removed in 0.3.0; scripts are for duckdb"),
    ((*COMPILE, "--dialect=databricks"), "Databricks runs Spark's script: --dialect spark"),
    (("breach", "patients", "--samples", "9"), "--samples was removed in 0.3.0; certified bounds are given"),
    (
        ("compile", "uncertain", "patients", *ROLES, "--refine", "1"),
        "--refine was removed in 0.3.0; groups are cut once",
    ),
    (
        ("publish", "anatomy", "patients", *ROLES, "-l", "3", "--waiting", "alone"),
        "--waiting was removed in 0.3.0; those who come new wait together",
    ),
    (("attack", "release", "--sample", "10000"), "of more than 200,000 rows attacks draw whole groups by themselves"),
    (("attack", "release", "--seed", "9"), "the same release is attacked alike whenever that is"),
    (
        ("estimate", "release", "select 1", "--transition", "exact"),
        "--transition was removed in 0.3.0; the",
    ),
    (("estimate", "release", "select 1", "--estimator", "matrix"), "--estimator matrix was removed in 0.3.0; the"),
    (
        ("macros", "--database", "hospital.duckdb", "--convert"),
        "--convert was removed in 0.3.0; write such a file with",
    ),
    (("compile", "check", "patients", "--quasi", "age"), "compile check was removed in 0.3.0; sqlanon check reads"),
    (("report", "release", "--comparison", "compared"), "a report attacks the release itself"),
    (("report", "release", "--attack", "attack.json"), "a report attacks the release itself"),
    (("compare", "patients", "--out", "compared"), "every figure is in the result of --format json or csv"),
    (("estimate", "release", "select 1", "--plot", "n.svg"), "answers are tables: draw the columns"),
    (("verify", "release", "--voters", "voters.csv", "--out", "v.csv"), "--format json has all lines of the voters"),
    (("publish", "splu", "patients", "--plan"), "release.json tells what its gamma promises"),
    (("breach", "patients", "--seed", "9"), "--seed was removed in 0.3.0; certified bounds are given"),
]
ASKED = {"quasi": "age", "sensitive": "disease", "id": "ssn"}
CALLED = [
    (lambda: sqlanon.compile("anatomy", "patients", l=3, dialect="databricks", **ASKED), 'dialect="spark"'),
    (lambda: sqlanon.compile("check", "patients", quasi="age"), "sqlanon check reads PostgreSQL and Spark"),
    (lambda: sqlanon.compare(None, out="compared", **ASKED), "every answer in Python's"),
    (lambda: sqlanon.breach(None, samples=9), "certified bounds"),
    (lambda: sqlanon.attack(PAPERS / "anatomy" / "release", sample=600), "of more than 200,000 rows attacks draw"),
]


@pytest.mark.parametrize(("words", "instead"), TYPED)
def test_what_is_typed_is_refused(shell, words, instead):
    done = shell(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert instead in done.stderr


@pytest.mark.parametrize(("call", "instead"), CALLED)
def test_what_is_called_is_refused(call, instead):
    with pytest.raises(UsageError, match=r"removed in 0\.3\.0") as refused:
        call()
    assert instead in str(refused.value)
