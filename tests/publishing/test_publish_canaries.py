"""Values that nobody may see stand in the source: no output, log, error or file of any verb holds them."""

import json

import duckdb
import numpy
import pyarrow
import pytest
from pyarrow import parquet

import sqlanon
from tests.command import Shell
from tests.conftest import METHODS
from tests.databases import connect

BIRDS = {"ssn": "canary-ssn", "note": "canary-note", "diagnosis": "canary-diagnosis"}
DATABASE = ["--database", "hospital.duckdb"]
# the diagnosis is sensitive: releases show it, messages do not
ROLES = [*DATABASE, "--quasi", "age,sex", "--sensitive", "diagnosis", "--id", "ssn"]
UNCERTAIN = ["-k", 4, "-L", 2, "--threshold", 0.3]
PUBLISHED = {
    "anatomy": ["-l", 3],
    "robust": ["-r", 2, "--background-from", "sex"],
    "splu": ["--gamma", 3],
    "uncertain": [*UNCERTAIN, "--influence", "learn", "--save-influence", "influence.csv"],
    "mondrian": ["-k", 4],
}
REFUSED = [
    ["publish", "anatomy", "patients", *ROLES, "-l", 119, "--out", "refused"],
    ["publish", "anatomy", "patients", *ROLES, "-l", 3, "--out", "refused", "--require", "rows >= 1000"],
    ["publish", "anatomy", "frequent", *ROLES, "-l", 3, "--out", "refused"],
    ["publish", "anatomy", "missing", *ROLES, "-l", 3, "--out", "refused"],
    ["publish", "anatomy", "twice", *ROLES, "-l", 3, "--out", "refused"],
    ["publish", "anatomy", "broken", *ROLES, "-l", 3, "--out", "refused"],
    ["publish", "splu", "patients", *ROLES, "--gamma", 200, "--out", "refused"],
    ["publish", "robust", "frequent", *ROLES, "-r", 2, "--background-from", "sex", "--out", "refused"],
    ["publish", "uncertain", "patients", *ROLES, *UNCERTAIN, "--influence", "few.csv", "--out", "refused"],
]
VIEWS = """
create view frequent as select * replace (case when i < 100 then 'canary-diagnosis' else diagnosis end as diagnosis)
    from patients;
create view missing as select * replace (case when i < 9 then null else diagnosis end as diagnosis) from patients;
create view twice as select * replace ('canary-ssn' as ssn) from patients;
create view broken as select * replace (cast(note as integer) as age) from patients
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    (folder / "tmp").mkdir()
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        connection.execute(
            "create table patients as select i, 'canary-ssn-' || i as ssn, 'canary-note-' || i as note,"
            " (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
            " 'canary-diagnosis-' || i % 6 as diagnosis from range(120) t(i)"
        ).fetchall()
        connection.execute(VIEWS)
    (folder / "few.csv").write_text("diagnosis,age,sex,weight\nflu,1,1,0.5\n")
    return Shell(folder)


def seen(shell, done):
    """Return the canaries that a run printed, or left in a file."""
    files = [path for path in shell.folder.rglob("*") if path.is_file() and path.name != "hospital.duckdb"]
    # what Parquet compresses is seen by who reads it
    rows = (duckdb.sql(f"from '{path}'").fetchall() for path in files if path.suffix == ".parquet")
    printed = [done.stdout, done.stderr, *map(str, rows)]
    texts = [text.encode() for text in printed] + [path.read_bytes() for path in files]
    return {name for name, bird in BIRDS.items() if any(bird.encode() in text for text in texts)}


def named_in(release, *words):
    """Return the words that stand in a release's files, which are its own, and none has further texts of its writer."""
    files = {path.name: path.read_bytes() for path in release.iterdir()}
    listed = json.loads(files["release.json"])["files"]
    assert set(files) == {"release.json", *listed}
    tables = [release / name for name in files if name.endswith(".parquet")]
    assert tables and not any(duckdb.sql(f"from parquet_kv_metadata('{path}')").fetchall() for path in tables)
    return {word for word in words if any(word.encode() in text for text in files.values())}


@pytest.mark.parametrize("asked", REFUSED, ids=lambda asked: f"{asked[1]} {asked[2]} {asked[-3]}")
def test_what_is_refused_names_no_value(shell, asked):
    done = shell(*asked)
    assert done.returncode in (2, 3), done.stderr
    assert "fault of sqlanon" not in done.stderr
    assert not (shell.folder / "refused").exists()
    assert seen(shell, done) == set()


@pytest.mark.parametrize("method", PUBLISHED)
def test_what_is_published_holds_the_sensitive_column_and_no_other_secret(shell, method, tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "hospital.duckdb").write_bytes((shell.folder / "hospital.duckdb").read_bytes())
    here = Shell(tmp_path)
    done = here("publish", method, "patients", *ROLES, *PUBLISHED[method], "--out", "release")
    assert done.returncode == 0, done.stderr
    # the printed matrix of influences is the publisher's own
    assert seen(here, done) == {"diagnosis"}
    assert named_in(tmp_path / "release", "patients", "hospital", "ssn", str(tmp_path)) == set()
    count = "SELECT COUNT(*) FROM release WHERE age < 40"
    for verb in (["verify", "release"], ["attack", "release"], ["estimate", "release", count]):
        again = here(*verb)
        assert again.returncode in (0, 2), again.stderr
        assert "canary" not in again.stdout + again.stderr
    against = here("verify", "release", *DATABASE, "--against", "patients")
    assert against.returncode == 0, against.stderr
    assert "canary" not in against.stdout + against.stderr


@pytest.mark.parametrize("method", METHODS)
def test_bits_of_what_is_no_number_are_not_published(method, tmp_path):
    """Its fifty bits could name a person; a release has one NaN, and verifies."""
    bits = numpy.array([20 + number * 7 % 60 for number in range(400)], "<f8").view("<u8")
    bits[::5] = [(0x7FF8000000000000, 0xFFF8000000000000)[number % 2] + number % 3 * 0x123 for number in range(80)]
    columns = {"ssn": range(400), "weight": bits.view("<f8"), "sex": ["FM"[number % 2] for number in range(400)]}
    source = tmp_path / "people.parquet"
    parquet.write_table(pyarrow.table(columns | {"disease": [f"d{number % 8}" for number in range(400)]}), source)
    roles = {"quasi": ["weight", "sex"], "sensitive": "disease", "id": "ssn", "out": tmp_path / "release"}
    getattr(sqlanon, method)(connect(), source, **roles, **METHODS[method])
    assert sqlanon.open(tmp_path / "release").verify(against=source).holds
