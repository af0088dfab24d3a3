"""The schemas that are printed are those of what is written: releases and ledgers."""

import json

import duckdb
import jsonschema

import sqlanon
from sqlanon.cli.verbs.guide import schemas
from sqlanon.methods import METHODS
from tests.benchmarks.forging import PEOPLE, ROLES
from tests.databases import database

KEY, SCHEMAS = "ab" * 32, schemas()


def validator(name):
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def test_a_schema_is_printed_and_is_one(shell):
    for name in SCHEMAS:
        done = shell("guide", "formats", "--schema", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == SCHEMAS[name]
        jsonschema.Draft202012Validator.check_schema(json.loads(done.stdout))
    for words, says in (
        (("formats", "--schema", "jobs"), "the formats are release, ledger"),
        (("formats", "--schema", "job"), "--schema job was removed in 0.3.0"),
        (("anatomy", "--schema", "release"), "type: sqlanon guide jobs --schema release"),
    ):
        done = shell("guide", *words)
        assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


con = database(PEOPLE)


def test_what_is_published_and_adopted_is_as_the_schema_says(con, tmp_path):
    release, schema = validator("release"), validator("release").schema
    assert [choice["title"].split()[2].rstrip(",") for choice in schema["anyOf"]] == list(METHODS)
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
