"""What the guides show of macros and jobs runs as it stands there."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

from sqlanon.publishing.store_macros import script
from sqlanon.publishing.thresholds import ATTACK, FIGURES
from tests.client import Client, new_database
from tests.documents import blocks, text_of
from tests.publishing.test_store_macros import PATIENTS

KEY = "ab" * 32


def block(guide: str, language: str, beginning: str) -> str:
    """Return the guide's block that begins so."""
    (found,) = [block.text for block in blocks(guide, language) if block.text.startswith(beginning)]
    return found


@pytest.fixture
def client(tmp_path):
    made = Client(new_database(tmp_path / "fresh.duckdb", PATIENTS))
    (tmp_path / "sqlanon.key").write_text(f"{KEY}\n")
    done = made.run(script())
    assert done.returncode == 0, done.stderr
    return made


def in_folder(statements: str, folder: Path) -> str:
    return statements.replace("'sqlanon.key'", f"'{folder}/sqlanon.key'")


def releases(client: Client, quasi: str) -> None:
    """Assert that the two tables are a 4-diverse release."""
    ((rows, groups),) = client.rows("select count(*), count(distinct group_id) from ward_qit")
    assert (rows, groups) == (600, 150)
    assert client.rows("select min(n) from (select count(distinct disease) as n from ward_st group by group_id)") == [
        (4,)
    ]
    assert [row[0] for row in client.rows("describe ward_qit")] == quasi.split()


def test_the_sql_of_macros_runs_in_the_client(client):
    done = client.run(in_folder(block("macros", "sql", "set variable sqlanon_key"), client.path.parent))
    assert done.returncode == 0, done.stderr
    releases(client, "age sex zipcode group_id")


def test_the_hooks_of_dbt_run_in_the_client(client):
    files = [yaml.safe_load(each.text) for each in blocks("macros", "yaml") if "+post-hook" in each.text]
    hooks = files[0]["models"]["hospital"]["patients"]["+post-hook"]
    text = ";\n".join(hooks).replace("{{ this.schema }}", "main").replace("{{ this.identifier }}", "patients")
    for _ in range(2):
        done = client.run(in_folder(text, client.path.parent) + ";")
        assert done.returncode == 0, done.stderr
    releases(client, "age sex group_id")


def test_the_job_runs_and_its_line_of_cron(shell):
    (shell.folder / "nightly.yml").write_text(block("jobs", "yaml", "# nightly.yml"))
    given = {"HOSPITAL": "hospital.duckdb", "WARD_KEY": KEY}
    assert shell("run", "nightly.yml", "--check", **given).returncode == 0
    line = block("jobs", "cron", "30 2 * * * sqlanon run").strip()
    command = line.split(maxsplit=5)[5].replace("/srv/ward", str(shell.folder))
    command = command.replace("sqlanon run", f"{sys.executable} -m sqlanon run")
    assert shell("run", "nightly.yml", **given).returncode == 0  # the night before
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        check=False,
        cwd="/",
        env=shell.environment | given,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((shell.folder / "last.json").read_text())["rows"] == 600
    events = [json.loads(line)["event"] for line in (shell.folder / "log.jsonl").read_text().splitlines()]
    assert events.count("committing") == 1
    assert "note" in events  # that the target held another release
    assert duckdb.sql(f"select count(*) from '{shell.folder}/ward_nightly/qit.parquet'").fetchall() == [(600,)]


def test_the_views_of_a_release_answer_in_the_shell_of_duckdb(shell):
    roles = ("--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn", "-l", 4)
    made = shell("publish", "anatomy", "patients", "--database", "hospital.duckdb", *roles, "--out", "ward")
    assert made.returncode == 0, made.stderr
    client = Client(shell.folder / "empty.duckdb")
    text = block("publish", "sql", "-- in DuckDB's shell").replace("'ward'", f"'{shell.folder}/ward'")
    text = text.replace("disease = 'flu'", "disease = 'd1'").replace(".read ward", f".read {shell.folder}/ward")
    done = client.run(text)
    assert done.returncode == 0, done.stderr
    assert "F" in done.stdout
    assert "M" in done.stdout


@pytest.mark.engines
def test_a_ledger_of_a_servers_releases_is_kept_as_the_guide_says(server, shell):
    import psycopg

    dsn = server.new_database("guide_of_ledgers")
    with psycopg.connect(dsn, autocommit=True) as con:
        con.execute(PATIENTS.replace("range(600)", "generate_series(0, 599)"))
    (shell.folder / "ward.key").write_text(KEY)
    publish, look = re.sub(r"\\\n\s*", "", block("ledger", "sh", "sqlanon publish")).splitlines()
    given = {"SQLANON_DSN": dsn}
    first = shell(*shlex.split(publish.replace(" --since ward", ""))[1:], **given)
    assert first.returncode == 0, first.stderr
    for line in (publish, look):
        done = shell(*shlex.split(line)[1:], **given)
        assert done.returncode == 0, (line, done.stderr)
    assert re.search(r"^releases +2$", done.stdout, re.MULTILINE)


def test_the_guide_names_every_figure_of_a_threshold():
    assert all(f"`{figure}`" in text_of("jobs") for figure in (*FIGURES, ATTACK))


@pytest.mark.parametrize("name", ["ward_airflow.py", "ward_dagster.py"])
def test_what_a_scheduler_runs_is_python_and_names_the_job(name):
    called = [
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(block("jobs", "py", f"# {name}")))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    ]
    assert called == [["sqlanon", "run", "/srv/ward/nightly.yml", "--log", "json"]]
