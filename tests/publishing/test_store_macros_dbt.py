"""The dbt package, in a project as the guide has it: models, tests, what is refused, and what holds the key."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

import sqlanon
from tests.command import Shell
from tests.documents import Block, blocks, text_of

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec("dbt") is None, reason="needs dbt: pip install '.[dbt]'"),
]
FILE = re.compile(r"(?:#|--) (\S+\.\w+)\n")


def dbt_blocks(language: str = "") -> list[Block]:
    """Return the blocks of the guide's section about dbt."""
    start = text_of("macros").index("\n## In a dbt project\n")
    return [block for block in blocks("macros", language) if block.start > start]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Make the tour, and the project beside it, with the package, the stored macros and a key."""
    folder = tmp_path_factory.mktemp("dbt")
    (folder / "tmp").mkdir()
    assert Shell(folder)("demo", "--keep", "tour").returncode == 0
    tour = folder / "tour"
    (tour / "tmp").mkdir()
    shell = Shell(tour)
    for words in (("--dbt", "sqlanon_dbt"), ("--database", "hospital.duckdb")):
        done = shell("macros", *words)
        assert done.returncode == 0, done.stderr
    (tour / "sqlanon.key").write_text("ab" * 32 + "\n")
    for block in dbt_blocks():
        if named := FILE.match(block.text):
            (tour / named[1]).parent.mkdir(exist_ok=True)
            (tour / named[1]).write_text(block.text)
    assert dbt(tour, "deps").returncode == 0
    return shell


def dbt(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_PROFILES_DIR": str(folder)}
    environment.pop("PYTHONPATH", None)
    program = Path(sys.executable).with_name("dbt")
    return subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def results(folder: Path) -> dict[str, str]:
    """Return how each model and test of the last run ended."""
    run = json.loads((folder / "target" / "run_results.json").read_text())
    return {result["unique_id"].split(".")[2]: result["status"] for result in run["results"]}


def test_the_project_of_the_guide_builds_a_release_that_verifies(project):
    done = dbt(project.folder, "build")
    assert done.returncode == 0, done.stdout
    assert sorted(results(project.folder).values()) == ["pass", "pass", "success", "success"]
    (line,) = [text for block in dbt_blocks("sh") for text in block.text.splitlines() if text.startswith("sqlanon ")]
    adopted = project(*line.split()[1:])
    assert adopted.returncode == 0, adopted.stderr
    with duckdb.connect(str(project.folder / "hospital.duckdb")) as con:
        con.execute("create or replace table direct as from patients")
        sqlanon.anatomy(
            con, "direct", quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn", l=4, key="ab" * 32,
            out=project.folder / "direct",
        )  # fmt: skip
        for name, columns in (("qit", "age, sex, zipcode"), ("st", "disease, count")):
            rows = "select {} from '{}' order by all"
            pairs = [con.execute(rows.format(columns, project.folder / f"{place}/{name}.parquet")).fetchall()
                     for place in ("ward_dbt", "direct")]  # fmt: skip
            assert pairs[0] == pairs[1] and pairs[0]


def test_the_key_stands_in_its_file_alone(project):
    assert dbt(project.folder, "build", "--debug").returncode == 0
    held = [path.name for path in project.folder.rglob("*") if path.is_file() and b"ab" * 32 in path.read_bytes()]
    assert held == ["sqlanon.key"]


ADOPT = ("adopt", "--database", "hospital.duckdb", "--against", "patients", "--id", "ssn")


def test_tables_that_do_not_fit_are_told(project):
    """Of two states of the source by the package's test, of two keys by whoever knows the source."""
    assert dbt(project.folder, "build").returncode == 0
    (project.folder / "sqlanon.key").write_text("cd" * 32)
    try:
        assert dbt(project.folder, "run", "--select", "ward_st").returncode == 0
        other_key = project(*ADOPT, "--qit", "ward_qit", "--st", "ward_st", "-l", "4", "--out", "other_key")
        with duckdb.connect(str(project.folder / "hospital.duckdb")) as con:
            con.execute("create table kept as from patients; delete from patients where age = 30")
        assert dbt(project.folder, "run", "--select", "ward_st").returncode == 0
        done = dbt(project.folder, "test")
        assert {name for name, status in results(project.folder).items() if status == "fail"} == {
            "sqlanon_fits_ward_st_ref_ward_qit_"
        }
    finally:
        (project.folder / "sqlanon.key").write_text("ab" * 32)
        with duckdb.connect(str(project.folder / "hospital.duckdb")) as con:
            con.execute("create or replace table patients as from kept; drop table kept")
    assert done.returncode == 1
    assert other_key.returncode == 3 and not (project.folder / "other_key").exists(), other_key.stderr
    assert dbt(project.folder, "build").returncode == 0


MODELS = {
    "robust_qit": "sqlanon.robust_qit(people, ['age', 'sex'], 'disease', 'sex', 3, id='ssn')",
    "robust_st": "sqlanon.robust_st(people, 'disease', ['sex'], 3, id='ssn')",
    "randomized": "sqlanon.splu_data(people, ['age', 'sex', 'zipcode'], 'disease', 4, id=['ssn'])",
    "nasty": "sqlanon.anatomy_qit(ref('people'), ['o\\'ne \"x\"'], 'disease', 2)",
}


def test_other_methods_names_and_a_view(project):
    models = project.folder / "models"
    key = "{{ config(pre_hook=sqlanon.read_key()) }}"
    people = "{% set people = source('hospital', 'patients') %}"
    for name, call in MODELS.items():
        (models / f"{name}.sql").write_text(f"{key}{people}{{{{ {call} }}}}")
    alias = '{{ config(alias="nas\'ty people") }}'
    columns = 'select ssn, age as "o\'ne ""x""", disease'
    (models / "people.sql").write_text(f"{alias}{columns} from {{{{ source('hospital', 'patients') }}}}")
    (models / "seen.sql").write_text(
        "{{ config(materialized='view', pre_hook=sqlanon.read_key()) }}"
        "{{ sqlanon.anatomy_st(source('hospital', 'patients'), 'disease', 4) }}"
    )
    try:
        done = dbt(project.folder, "run", "--select", "people", *MODELS, "seen")
        ended = results(project.folder)
    finally:
        for name in ("people", *MODELS, "seen"):
            (models / f"{name}.sql").unlink()
    assert ended == {**dict.fromkeys(("people", *MODELS), "success"), "seen": "error"}, done.stdout
    assert "a release is a table, not a view" in done.stdout
    adopted = project(
        *(*ADOPT, "--data", "randomized", "--gamma", "4", "--sensitive", "disease", "--out", "ward_splu"),
    )
    assert adopted.returncode == 0, adopted.stderr


def test_without_a_key_nothing_is_drawn(project):
    (project.folder / "sqlanon.key").write_text("no key\n")
    try:
        done = dbt(project.folder, "run", "--select", "ward_qit")
    finally:
        (project.folder / "sqlanon.key").write_text("ab" * 32)
    assert done.returncode == 1 and "openssl rand -hex 32" in done.stdout, done.stdout


def test_the_package_says_the_version_of_the_project():
    package = yaml.safe_load((Path(sqlanon.__file__).parent / "dbt" / "dbt_project.yml").read_text())
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{package["version"]}"\n' in text
    assert shutil.which("dbt", path=str(Path(sys.executable).parent))
