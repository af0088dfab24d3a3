"""The schemas that are printed are those of what is written: releases, ledgers, jobs and lines of the log."""

import json

import duckdb
import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given

import sqlanon
from sqlanon.cli.verbs.guide import schemas
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.publishing.job_file import read_job
from tests.benchmarks.forging import PEOPLE, ROLES
from tests.databases import database
from tests.documents import blocks
from tests.examples import examples
from tests.nasty_commands import jobs
from tests.publishing.test_run_job import JOB, write

KEY, SCHEMAS = "ab" * 32, schemas()


def validator(name):
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def test_a_schema_is_printed_and_is_one(shell):
    for name in SCHEMAS:
        done = shell("guide", "formats", "--schema", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == SCHEMAS[name]
        jsonschema.Draft202012Validator.check_schema(json.loads(done.stdout))
    assert shell("guide", "--schema", "job").returncode == 0
    for words, says in (
        (("formats", "--schema", "jobs"), "the formats are release, ledger, job, log"),
        (("anatomy", "--schema", "job"), "type: sqlanon guide jobs --schema job"),
    ):
        done = shell("guide", *words)
        assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


con = database(PEOPLE)


def test_what_is_published_and_adopted_is_as_the_schema_says(con, tmp_path):
    release, schema = validator("release"), validator("release").schema
    named = [schema["$defs"][choice["$ref"].rpartition("/")[2]]["properties"]["method"] for choice in schema["anyOf"]]
    assert [each["enum"] for each in named] == [[name] for name in METHODS]
    sqlanon.anatomy(con, "patients", **ROLES, l=3, out=tmp_path / "ward", key=KEY)
    sqlanon.anatomy(con, "patients", **ROLES, l=3, into="ward", key=KEY)
    tables = {name: str(tmp_path / "ward" / f"{name}.parquet") for name in ("qit", "st")}
    sqlanon.adopt(con, **tables, l=3, out=tmp_path / "adopted")
    texts = [(tmp_path / name / "release.json").read_text() for name in ("ward", "adopted")]
    texts += [con.execute("select manifest from ward.manifest").fetchall()[0][0]]
    for manifest in map(json.loads, texts):
        release.validate(manifest)
        assert not release.is_valid(manifest | {"future": 1})
        assert not release.is_valid(manifest | {"format": 3})


def test_what_a_ledger_says_is_as_the_schema_says(con, tmp_path):
    for number in (1, 2):
        rows = con.sql(f"select * from patients where ssn >= {10 * number}")
        sqlanon.anatomy(con, rows, **ROLES, l=3, out=tmp_path / f"{number}", key=KEY, ledger=tmp_path / "ledger")
    with duckdb.connect(str(tmp_path / "ledger")) as ledger:
        history = json.loads(ledger.execute("select description from description").fetchall()[0][0])
        columns = {name: sorted(ledger.sql(f"from {name}").columns) for name in ("person", "value")}
    validator("ledger").validate(history)
    assert len(history["releases"]) == 2
    assert columns == SCHEMAS["ledger"]["tables"]
    assert not validator("ledger").is_valid(history | {"reserve": -1})


# what a job may say of its parameters, and its source: each as the guides have it
PARTS = {
    "block: all": ("l: 4", "{l: 4, block: all, nulls: value, draws: random}"),
    "coarsen": ("l: 4", "{l: 4, coarsen: {age: 10, zipcode: 3 letters}, unit: row}"),
    "ledger": ("l: 4", "{l: 4, ledger: w.ledger, since: ward, changed: keep, expect_departures: true}"),
    "database": ("source: patients.parquet", "source: {database: h.duckdb, table: patients, engine: duckdb}"),
    "query": ("source: patients.parquet", "source: {query: SELECT * FROM 'patients.parquet'}"),
    "spark": ("source: patients.parquet", "source: {engine: spark, path: 'ward/*.parquet', master: 'local[4]'}"),
    "robust": ("method: anatomy", "method: robust"),
    "schema": ("out: ward", "out: ward\n  overwrite: true\nrequire: {rows: '>= 500', 'sure(0.8)': '<= 0.1'}"),
}
OF_ROBUST = "{r: 3, background_from: [sex, [sex, age]], background: [a.csv], max_suppressed: 1.5%}"
WRONG = {
    "unknown key": ("l: 4", "lol: 4"),
    "another kind": ("l: 4", "l: four"),
    "no quasi": ("quasi: [age, sex, zipcode]", "quasi: []"),
    "method": ("anatomy", "anatomi"),
    "both": ("out: ward", "out: ward\n  into: ward"),
    "threshold": ("out: ward", "out: ward\nrequire: {rows: 500}"),
    "figure": ("out: ward", "out: ward\nrequire: {lines: '>= 500'}"),
    "engine": ("source: patients.parquet", "source: {engine: oracle, table: t}"),
    "null": ("  id: ssn", "  id:"),
}


@pytest.mark.parametrize("name", PARTS)
def test_jobs_that_are_read_are_as_the_schema_says(tmp_path, name):
    text = JOB.replace(*PARTS[name]).replace("l: 4", OF_ROBUST if name == "robust" else "l: 4")
    (tmp_path / "job.yml").write_text(text)
    read_job(tmp_path / "job.yml", {})
    validator("job").validate(yaml.safe_load(text))


@pytest.mark.parametrize("name", WRONG)
def test_jobs_that_are_refused_are_not(tmp_path, name):
    text = JOB.replace(*WRONG[name])
    assert text != JOB and not validator("job").is_valid(yaml.safe_load(text))
    (tmp_path / "job.yml").write_text(text)
    with pytest.raises(UsageError):
        read_job(tmp_path / "job.yml", {})


def test_the_jobs_of_the_guides_are_as_the_schema_says():
    texts = [block.text for block in blocks("jobs", "yaml")]
    assert texts
    for text in texts:
        validator("job").validate(yaml.safe_load(text))


@pytest.mark.property
@examples(25, HealthCheck.too_slow)
@given(jobs())
def test_whatever_is_read_is_as_the_schema_says(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "drawn.yml"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        read_job(path)
    except UsageError:
        return
    validator("job").validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_lines_of_the_log_are_as_the_schema_says(shell):
    required = "require: {attack: '<= 1'}\n"  # which attacks the release, and tells of its steps
    for text, code in ((JOB + required, 0), (JOB, 2), (JOB.replace("l: 4", "l: 9").replace("ward", "new"), 3)):
        done = shell("run", write(shell, text), "--log", "json")
        assert done.returncode == code
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        assert {"note", "error"} & {line["event"] for line in lines}
        for line in lines:
            validator("log").validate(line)
    assert not validator("log").is_valid({**lines[-1], "event": "Learning,"})
