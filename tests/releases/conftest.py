"""A small release that tests change as forgers do."""

import json
import shutil

import duckdb
import pytest

import sqlanon
from sqlanon.releases.targets import file_sha256
from tests.conftest import FEW_PATIENTS
from tests.databases import connect

ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "l": 4}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Publish a few patients; the connection holds them no longer."""
    connection = connect()
    connection.execute(f"create table patients as {FEW_PATIENTS}").fetchall()
    out = tmp_path_factory.mktemp("published") / "release"
    sqlanon.anatomy(connection, "patients", out=out, **ROLES)
    return out


@pytest.fixture
def release(published, tmp_path):
    """Copy the release, to be changed."""
    return shutil.copytree(published, tmp_path / "release")


def change_manifest(release, change=lambda manifest: None):
    """Let a manifest say something else, and return it."""
    manifest = json.loads((release / "release.json").read_text())
    change(manifest)
    (release / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return manifest


def sign(release, *names, change=lambda manifest: None):
    """Bring the manifest in line with the tables' files and those of these names, as a forger does; then change it."""
    described = {}
    for path in (*sorted(release.glob("*.parquet")), *(release / name for name in names)):
        described[path.name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        if path.suffix == ".parquet" and path.name not in names:
            described[path.name]["rows"] = duckdb.sql(f"select count(*) from '{path}'").fetchall()[0][0]

    def describe(manifest):
        for name, entry in described.items():
            manifest["files"].setdefault(name, {}).update(entry)
        change(manifest)

    return change_manifest(release, describe)


def failing(release, check="files"):
    """Return what the one check that fails has found."""
    (failed,) = [one for one in sqlanon.open(release).verify().checks if one.holds is False]
    assert failed.name == check
    return failed.found
