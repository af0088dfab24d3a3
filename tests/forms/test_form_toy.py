"""A form is one object: a sixth method with a form of its own, a folder each, is driven through every verb."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import cli
from sqlanon.cli.app import app
from sqlanon.forms import MODULES as FORMS
from sqlanon.methods import MODULES as METHODS
from sqlanon.plans import templates
from sqlanon.plans.templates import Sql
from tests.conftest import ROOT

pytestmark = pytest.mark.thorough
KEY = "ab" * 32
PEOPLE = """
create table people as
select i as id, i % 4 as age, case when i % 3 = 0 then 'F' else 'M' end as sex, 'd' || (i * 7919 % 11) as disease
from range(600) as numbers(i)
union all select 1000 + i, 9, 'F', 'd1' from range(3) as numbers(i)
"""
ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "id"}


@pytest.fixture(autouse=True)
def tally(monkeypatch):
    """Add method and form to the lists, as anybody could."""
    monkeypatch.setattr(templates, "FOLDERS", [ROOT / "tests" / "toys"])
    monkeypatch.setitem(METHODS, "tally_method", "tests.toys.tally_method")
    monkeypatch.setitem(FORMS, "tally_form", "tests.toys.tally_form")


@pytest.fixture
def people(con):
    con.execute(PEOPLE)
    return con


@pytest.fixture
def run(people, tmp_path, monkeypatch):
    """Return what runs a command in a folder with people.csv; it fails unless it ends with the code."""
    assert cli.app is app  # importing the package adds the verbs
    monkeypatch.chdir(tmp_path)
    people.execute("copy people to 'people.csv'")

    def run(words):
        done = CliRunner().invoke(app, words.split() if isinstance(words, str) else words)
        assert done.exit_code == 0, done.exception
        return done.stdout

    return run


def publish(con, out=None, l=4):
    return sqlanon.publish("tally_method", con, "people", l=l, key=KEY, out=out, **ROLES)


def test_it_publishes_verifies_and_answers_exactly(people, tmp_path):
    publish(people, tmp_path / "r")
    release = sqlanon.open(tmp_path / "r", con=people)
    assert release.manifest["dropped_rows"] == 3 and release.verify(against="people").holds
    query = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM {} WHERE disease <> 'd2' AND age < 3 GROUP BY sex ORDER BY n"
    answer = release.estimate(query.format("release"))
    expected = people.sql(query.format("people")).df()
    for name in ("n", "n_low", "n_high", "a", "a_low", "a_high"):
        assert answer[name].tolist() == pytest.approx(expected[name.partition("_")[0]].tolist())
    median = release.estimate("SELECT MEDIAN(age) AS m FROM release WHERE disease = 'd1'")
    assert median["m"].tolist() == [1.5]
    batch = ["SELECT COUNT(*) AS n FROM release WHERE age = 1"] * 10
    assert [each["n"][0] for each in release.estimate_many(batch)] == [150] * 10
    completed = release.complete(2, seed=1)
    shown = "select age, sex, disease from people where age < 9"
    assert sorted(completed.table(1).fetchall()) == sorted(people.sql(shown).fetchall())  # crowds are dealt whole


def test_it_is_attacked_and_intersected_with_other_forms(people):
    release = publish(people)
    anatomy = sqlanon.anatomy(people, "people", l=3, key=KEY, **ROLES)
    boxes = sqlanon.mondrian(people, "people", k=20, key=KEY, **ROLES)
    attack = sqlanon.attack(release, against="people", id="id", others=[publish(people, l=3), anatomy, boxes])
    families = {finding.family for finding in attack.findings}
    assert families == {"background knowledge", "order", "learning", "composition", "presence"} and attack.scored
    assert all(finding.leak is not True for finding in attack.findings)
    (fixed,) = (finding for finding in attack.findings if finding.family == "composition")
    assert fixed.attack == "4 releases intersected" and "11.0 values are left" in fixed.whom
    turned = sqlanon.attack(anatomy, others=[release])
    assert any(finding.attack == "2 releases intersected" for finding in turned.findings)


def test_a_table_that_breaks_its_promise_is_refused(people):
    release = publish(people)
    for change, failing in (
        ("select * replace (case when disease = 'd1' then 1000 else count end as count) from t", "confidence"),
        ("select * from t order by disease, age", "row_order"),
        ("select * replace (case when disease = 'd1' then 0 else count end as count) from t", "crowds"),
    ):
        people.execute(f"create or replace table changed as with t as (from {release.tables['tally']}) {change}")
        report = release.form.verify(replace(release.published_tables, tables={"tally": Sql("changed")}))
        assert [check.name for check in report.checks if check.holds is False] == [failing]


def test_the_command_line_knows_it(run, tmp_path):
    shown = run("publish tally_method people.csv --quasi age,sex --sensitive disease --id id -l 4 --out r")
    assert "nobody infers a person's disease with confidence above 1/4" in shown
    assert "3 (0.50%)" in shown
    readme = (tmp_path / "r" / "README.md").read_text()
    assert "with confidence above 1/4 = 25.0%" in readme and "## A line is no person" in readme
    assert "| tally | `disease` | text | sensitive, of so many people in the crowd |" in readme
    assert " NO\n" not in run("verify r --against people.csv")
    answer = run(["estimate", "r", "SELECT COUNT(*) AS n FROM release WHERE age = 1"])
    assert [float(figure) for figure in answer.split()[-4:]] == [150, 0, 150, 150]
    attack = json.loads(run("attack r --against people.csv --id id --format json"))
    assert {"order", "learning"} < {finding["family"] for finding in attack["findings"]}
    run("report r --against people.csv --id id --out r.html")
    assert "nobody infers a person" in (tmp_path / "r.html").read_text()
    roles = "--quasi age,sex --sensitive disease --id id"
    compared = run(f"compare people.csv {roles} --methods tally_method,anatomy --l 4 --queries 8")
    (line,) = (line.split() for line in compared.splitlines() if line.startswith("tally_method "))
    assert line[1:5] == ["l", "=", "4", "25.0%"] and "0.50%" in line
    script = run(f"compile tally_method people {roles} -l 4 --dialect postgres")
    assert script.startswith("-- sqlanon tally_method for postgres: l = 4")


def test_it_has_no_ledger(people):
    with pytest.raises(sqlanon.UsageError, match="a crowd that grows by one tells"):
        sqlanon.publish("tally_method", people, "people", l=4, ledger="d", **ROLES)
