"""A method is one object: a sixth one, of a module, a template and a registry line, can do all that the others can."""

import inspect
import json
import re
from collections import Counter

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import cli
from sqlanon.cli.app import app
from sqlanon.forms import FORMS
from sqlanon.forms import MODULES as FORM_MODULES
from sqlanon.methods import METHODS, MODULES
from sqlanon.models.publication import Publication
from sqlanon.plans import templates
from sqlanon.plans.plan import Loop, statements_of
from sqlanon.sql.shell_script import write_script
from tests.conftest import ROOT
from tests.methods.toy.method import TOY
from tests.test_golden import PLANS

KEY = "ab" * 32
ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}


@pytest.fixture
def toy(monkeypatch):
    """Add the toy to the registry, and its template to the others."""
    monkeypatch.setattr(templates, "FOLDERS", [ROOT / "tests" / "methods" / "toy" / "templates"])
    monkeypatch.setitem(MODULES, "toy", "tests.methods.toy.method")
    return TOY


def run(*words: object):
    assert cli.app is app  # importing the package adds the verbs
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_sixth_method_publishes_verifies_and_answers(toy, patients, tmp_path):
    release = sqlanon.publish("toy", patients, "patients", l=4, first_group=500, key=KEY, out=tmp_path / "r", **ROLES)
    assert release.manifest["method"] == "toy" and release.manifest["parameters"]["first_group"] == 500
    assert min(release.table("qit").project("group_id").fetchall()) == (500,)
    opened = sqlanon.open(tmp_path / "r")
    assert opened.verify().holds
    answer = opened.estimate("SELECT COUNT(*) AS n FROM release WHERE disease = 'd1' AND sex = 'F'")
    assert answer["n_low"][0] <= answer["n"][0] <= answer["n_high"][0]
    with pytest.raises(sqlanon.UsageError, match="first_group is 0, not 0"):
        sqlanon.publish("toy", patients, "patients", l=4, first_group=0, **ROLES)
    with pytest.raises(sqlanon.UsageError, match="no parameter 'block'"):
        sqlanon.publish("toy", patients, "patients", l=4, block=3, **ROLES)


def test_a_sixth_method_stands_on_the_command_line(toy, shell):
    assert "toy" in run("publish", "--help").stdout and "toy" in run("compile", "--help").stdout
    words = run("publish", "toy", "--help").stdout
    assert "--first-group" in words and "Number of the first group." in words and "100" in words
    out = shell.folder / "release"
    roles = ["--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "-l", 4]
    source = shell.folder / "patients.parquet"
    done = run("publish", "toy", source, *roles, "--first-group", 7, "--out", out, "--format", "json")
    assert json.loads(done.stdout)["parameters"]["first_group"] == 7, done.output
    assert run("verify", out).exit_code == 0
    answer = run("estimate", out, "SELECT COUNT(*) AS n FROM release WHERE age < 40")
    assert answer.exit_code == 0 and answer.stdout.startswith("    n  n_std_error")
    script = run("compile", "toy", "patients", *roles, "--dialect", "spark").stdout
    assert script.startswith("-- sqlanon toy for spark: l = 4, first_group = 100") and "grouped_2" in script


def test_a_form_is_found_where_its_module_is_listed(monkeypatch):
    monkeypatch.setitem(FORM_MODULES, "qit_st", "tests.methods.toy.absent")
    with pytest.raises(ModuleNotFoundError, match=r"tests\.methods\.toy\.absent"):
        FORMS["qit_st"]


def test_a_sixth_method_runs_as_a_job(toy, shell):
    job = shell.folder / "job.yml"
    job.write_text(
        "method: toy\nsource: patients.parquet\nroles: {quasi: [age, sex], sensitive: disease, id: ssn}\n"
        "parameters: {l: 4, first_group: 9}\noutput: {out: released}\n"
    )
    assert sqlanon.run(job).manifest["parameters"]["first_group"] == 9
    job.write_text(job.read_text().replace("first_group: 9", "first_group: nine").replace("released", "again"))
    with pytest.raises(sqlanon.UsageError, match="line 4: first_group is a whole number, not text"):
        sqlanon.run(job)


# -- all methods ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_what_readme_shows_as_steps_is_what_runs(name):
    method, plan = METHODS[name], PLANS[name]("duckdb")
    script = write_script(plan, "duckdb", method.paper)
    shown = [line[3:].partition(":")[0] for line in script.splitlines() if re.match(r"-- \w+: (?!turn \d)\S", line)]
    run = [one for step in plan.steps for one in (step.body if isinstance(step, Loop) else statements_of(step))]
    names = [one.name for one in (*run, *plan.outputs)]
    assert [one for one in shown if one in names and one != "key"] == [one for one in names if one != "key"]
    assert plan.method == method.name == name and method.paper and method.steps and method.outputs


def test_every_registry_reads_the_declarations():
    forms = {method.form for method in METHODS.values()}
    assert forms == set(FORMS)
    for name, method in METHODS.items():
        assert method.name == name
        function = getattr(sqlanon, name)
        assert list(inspect.signature(function).parameters) == ["con", "source", "query", *method.arguments]
        for argument, known in method.arguments.items():
            assert f"\n    {argument}: " in function.__doc__ and known.help
        assert set(Publication.model_fields) < set(method.arguments)


@pytest.mark.parametrize("name", METHODS)
def test_the_command_line_has_every_parameter_once(name):
    method = METHODS[name]
    for verb, arguments in (
        ("publish", method.arguments),
        ("compile", {argument: known for argument, known in method.arguments.items() if known.on.compiled}),
    ):
        words = re.findall(r"^  (-[\w-]+)(?= <|  )", run(verb, name, "--help").stdout, re.MULTILINE)
        assert Counter(known.option for known in arguments.values()) <= Counter(words)
        assert max(Counter(words).values()) == 1
