"""Ledgers on the command line and in jobs: publish twice, look, compare, print the statements."""

import json

import pytest

KEY = "5e" * 32
ROLES = ["--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn", "-l", 4]
PUBLISH = ["publish", "anatomy", "patients.parquet", *ROLES, "--ledger", "ward.ledger"]
JOB = """\
method: anatomy
source: patients.parquet
roles: {quasi: [age, sex], sensitive: disease, id: ssn}
parameters: {l: 4, ledger: ward.ledger, changed: keep}
output: {out: ward, overwrite: true}
key_env: WARD_KEY
"""


def test_a_ledger_from_the_first_release_to_the_second(shell):
    first = shell(*PUBLISH, "--out", "one", SQLANON_KEY=KEY)
    assert first.returncode == 0, first.stderr
    assert "from this release (1) and all others of its ledger together, nobody infers" in " ".join(
        first.stdout.split()
    )
    printed = shell(*PUBLISH, "--out", "two", "--sql", SQLANON_KEY=KEY)
    assert printed.returncode == 0 and "turnover" in printed.stdout and KEY not in printed.stdout
    second = shell(*PUBLISH, "--out", "two", "--since", "one", "--changed", "keep", SQLANON_KEY=KEY)
    assert "release 2 of this ledger: 600 stayed; 0 left; 0 came new" in " ".join(second.stdout.split())
    assert KEY not in second.stderr + second.stdout + first.stderr
    found = json.loads(shell("ledger", "ward.ledger", "--format", "json").stdout)
    wanted = {"method": "anatomy", "releases": 2, "persons": 600, "present": 600, "departed": 0, "groups": 150}
    assert {name: found[name] for name in wanted} == wanted
    assert shell("ledger", "ward.ledger", "--format", "csv").stdout.startswith("release,created,shown,stayed")
    assert "d3" not in shell("ledger", "ward.ledger").stdout
    assert {path.name for path in shell.folder.iterdir()} == {
        *("one", "two", "ward.ledger", "ward.ledger.last", "patients.parquet", "hospital.duckdb", "tmp")
    }
    compared = shell("verify", "two", "--since", "one")
    assert compared.returncode == 0 and "changed_groups: 0" in compared.stdout
    assert "since" in shell("verify", "two", "--since", "one", "--sql").stdout
    backward = shell("verify", "one", "--since", "two")
    assert backward.returncode == 2 and "does not follow" in backward.stderr


def test_without_a_key_or_with_a_verb_that_needs_a_ledger(shell):
    done = shell(*PUBLISH, "--out", "one")
    assert done.returncode == 2 and "--ledger" not in done.stdout
    assert "a ledger needs a key that stays" in done.stderr and "--key-file FILE or SQLANON_KEY" in done.stderr
    done = shell(*PUBLISH[:-2], "--out", "one", "--expect-departures")
    assert done.returncode == 2 and "--expect-departures is about releases under a ledger" in done.stderr
    done = shell("ledger", "patients.parquet")
    assert done.returncode == 2 and "no ledger" in done.stderr and "Traceback" not in done.stderr


def test_a_ledger_is_checked(shell):
    for night in ("one", "two"):
        assert shell(*PUBLISH, "--out", night, SQLANON_KEY=KEY).returncode == 0
    checked = shell("ledger", "ward.ledger", "--check", "--releases", ".", "--format", "json", SQLANON_KEY=KEY)
    assert checked.returncode == 0, checked.stderr
    assert {check["name"]: check["holds"] for check in json.loads(checked.stdout)["checks"]} == dict.fromkeys(
        ("seal", "newest", "manifests"), True
    )
    assert KEY not in checked.stdout + checked.stderr
    (shell.folder / "two" / "release.json").unlink()
    assert shell("ledger", "ward.ledger", "--check", SQLANON_KEY=KEY).returncode == 0
    (shell.folder / "ward.ledger.last").unlink()
    done = shell("ledger", "ward.ledger", "--check", SQLANON_KEY=KEY)
    assert done.returncode == 3 and "publish nothing with it before you know why" in done.stderr
    for words, message in [
        (("--check",), "--check needs the ledger's own key"),
        (("--releases", "."), "--key-file, --releases and --database are for --check"),
        (("--check", "--releases", "nowhere"), "no directory 'nowhere' that releases lie in"),
        (("--check", "--key-file", "nowhere"), "no key file 'nowhere'"),
    ]:
        named = {"SQLANON_KEY": KEY} if len(words) > 2 and "--releases" in words else {}
        done = shell("ledger", "ward.ledger", *words, **named)
        assert done.returncode == 2 and message in done.stderr, done.stderr


@pytest.mark.parametrize("outputs", [["out: ward, overwrite: true"] * 2, ["into: ward", "into: ward_2"]])
def test_a_job_names_its_ledger_and_the_release_before(shell, outputs):
    in_schemas = "into" in outputs[0]
    job = JOB.replace("patients.parquet", "{database: hospital.duckdb, table: patients}") if in_schemas else JOB
    for number, output in enumerate(outputs, start=1):
        text = job.replace("out: ward, overwrite: true", output)
        text = text.replace("changed: keep", "changed: keep, since: ward") if number == 2 else text
        (shell.folder / "nightly.yml").write_text(text)
        assert shell("run", "nightly.yml", "--check", WARD_KEY=KEY).returncode == 0
        done = shell("run", "nightly.yml", WARD_KEY=KEY)
        parameters = json.loads(done.stdout)["parameters"]
        assert (parameters["release"], parameters["changed"]) == (number, "keep")
        assert "releases intersect" not in done.stderr
    if in_schemas:
        compared = shell("verify", "ward_2", "--database", "hospital.duckdb", "--since", "ward")
        assert compared.returncode == 0 and "changed_groups: 0" in compared.stdout
        return
    # what it means to publish there without one
    (shell.folder / "alone.yml").write_text(JOB.replace(", ledger: ward.ledger, changed: keep", ""))
    done = shell("run", "alone.yml", WARD_KEY=KEY)
    assert done.returncode == 0 and "published under one ledger (--ledger FILE) tell no more together" in done.stderr
