"""What `attack` says to type next: the most telling column coarser, wherever that can be tried."""

import json
import shlex

import duckdb
import pytest
import typer

import sqlanon
from sqlanon.cli import app
from sqlanon.cli.publication import coarser_command
from sqlanon.sql.source import CoarserSource

PEOPLE = """
create table people as
select i as id, i % 50 as age, date '2000-01-01' + cast(i % 9 as integer) as "born on", 'd' || i % 6 as disease,
    i % 2 = 0 as "a man"
from range(300) as numbers(i)
"""


@pytest.fixture
def release(con):
    con.execute(PEOPLE)
    quasi = ["age", "born on", "a man"]
    return sqlanon.anatomy(con, "people", quasi=quasi, sensitive="disease", id="id", l=3, coarsen={"born on": "month"})


@pytest.mark.parametrize(
    ("telling", "source", "ending"),
    [
        ("age", "people", "--id id --coarsen 'born on=month' --coarsen age=10"),
        ("age", CoarserSource("people", {"born on": "labels.csv"}), "--coarsen 'born on=labels.csv' --coarsen age=10"),
        ("born on", "people", ""),  # it is coarser already
        ("a man", "people", ""),  # nothing is coarser than two values
        ("", "people", ""),
    ],
)
def test_a_comparison_with_the_telling_column_coarser_is_proposed(release, telling, source, ending):
    words = coarser_command(release, telling, source, ("id",))
    command = "sqlanon compare people --quasi age --quasi 'born on' --quasi 'a man' --sensitive disease"
    assert shlex.join(words) == "" if not ending else shlex.join(words).startswith(command)
    assert shlex.join(words).endswith(ending)


def test_no_comparison_is_proposed_where_the_engine_has_none_or_persons_have_several_rows(release, monkeypatch):
    assert coarser_command(release, "age", "people", ())
    with monkeypatch.context() as patched:
        patched.setitem(release.manifest["parameters"], "unit", "person")  # whom compare takes one row of
        assert coarser_command(release, "age", "people", ()) == []
    monkeypatch.setattr(type(release.engine), "lacks", {"compare": "it has none"})
    assert coarser_command(release, "age", "people", ()) == []


def test_attack_ends_with_a_command_that_can_be_typed(shell):
    told = (
        "select i as ssn, 20 + i % 40 as age, hash(i) % 2 as sex, 'd' || (i % 40 // 10 + 4 * (hash(i) % 3)) as disease"
    )
    duckdb.execute(f"copy ({told} from range(800) t(i)) to '{shell.folder}/told.parquet'").fetchall()
    roles = ["--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "-l", 4]
    assert shell("publish", "anatomy", "told.parquet", *roles, "--out", "ward").returncode == 0
    done = shell("attack", "ward", "--against", "told.parquet", "--id", "ssn")
    (command,) = [line for line in done.stderr.splitlines() if line.startswith("sqlanon compare")]
    assert "--coarsen" in command
    compare = typer.main.get_command(app).commands["compare"]
    assert compare.make_context("compare", shlex.split(command)[2:]).params["coarsen"]


@pytest.mark.parametrize(
    ("member", "value"), [("verified", None), ("guarantee", None), ("files", {"qit.parquet": None})]
)
def test_a_manifest_that_is_none_is_refused_in_one_line(shell, member, value):
    shell(
        "publish", "anatomy", "patients.parquet", "--quasi", "age", "--sensitive", "disease", "-l", 2, "--out", "ward"
    )
    path = shell.folder / "ward" / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {member: value}))
    done = shell("report", "ward", "--out", "ward.html")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert member in done.stderr and not (shell.folder / "ward.html").exists()
