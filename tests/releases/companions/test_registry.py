"""The texts beside a release's tables are those that anybody makes again from it, and no others."""

import json

import duckdb
import pytest

import sqlanon
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.plans.manifest import manifest_text
from sqlanon.releases.companions import registry
from sqlanon.releases.targets import file_sha256
from tests.conftest import FEW_PATIENTS
from tests.databases import connect
from tests.releases.conftest import ROLES


def read(release):
    return json.loads((release / "release.json").read_text())


def sign(release, name):
    """Bring the manifest in line with a file, as a forger does."""
    manifest, path = read(release), release / name
    manifest["files"][name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
    (release / "release.json").write_text(manifest_text(manifest))


def fault(release):
    (failed,) = [one for one in sqlanon.open(release).verify().checks if one.holds is False]
    assert failed.name == "files"
    return failed.found


def test_both_are_in_the_manifest_and_are_made_again(release):
    files = read(release)["files"]
    assert list(files) == ["qit.parquet", "st.parquet", "README.md", "estimate.sql"]
    assert files["README.md"] == {
        "bytes": (release / "README.md").stat().st_size,
        "sha256": file_sha256(release / "README.md"),
    }
    texts = registry.write_companions(release, read(release))
    assert texts == {name: (release / name).read_text() for name in ("README.md", "estimate.sql")}
    assert sqlanon.open(release).verify().holds


@pytest.mark.parametrize("name", ["README.md", "estimate.sql"])
def test_a_text_that_was_changed_fails(release, name):
    with (release / name).open("a") as file:
        file.write("-- ssn 1 has HIV\n")
    assert fault(release) == {name: file_sha256(release / name)}
    with pytest.raises(ReleaseError, match=rf"not those of the release's manifest: {name}"):
        sqlanon.open(release).require_unchanged()


def test_a_text_that_no_version_writes_is_foreign(release):
    (release / "notes.md").write_text("ssn 1 has HIV\n")
    sign(release, "notes.md")
    assert fault(release) == {"notes.md": "no table of the release"}


def test_a_text_that_the_manifest_does_not_name_is_foreign(release):
    manifest = read(release)
    del manifest["files"]["README.md"]
    (release / "release.json").write_text(manifest_text(manifest))
    assert fault(release) == {"README.md": "not in the manifest"}


def test_a_missing_text_is_told(release):
    (release / "estimate.sql").unlink()
    assert fault(release) == {"estimate.sql": "missing"}


def test_a_wrong_figure_is_told_as_such(release):
    manifest = read(release)
    manifest["rows"] += 1
    (release / "release.json").write_text(manifest_text(manifest))
    assert [one.name for one in sqlanon.open(release).verify().checks if one.holds is False] == ["manifest"]


def test_a_release_without_texts_is_as_good(release):
    manifest = read(release)
    for name in ("README.md", "estimate.sql"):
        (release / name).unlink()
        del manifest["files"][name]
    (release / "release.json").write_text(manifest_text(manifest))
    opened = sqlanon.open(release)
    opened.require_unchanged()
    assert opened.verify().holds
    assert opened.estimate("SELECT COUNT(*) FROM release")["count"].tolist() == [240]


def test_an_owners_file_of_that_name_is_not_replaced(release):
    connection = connect()
    connection.execute(f"create table patients as {FEW_PATIENTS}")
    sqlanon.anatomy(connection, "patients", out=release, overwrite=True, **ROLES)
    manifest = read(release)
    (release / "README.md").write_text("the owner's notes\n")
    del manifest["files"]["README.md"]
    (release / "release.json").write_text(manifest_text(manifest))
    with pytest.raises(TargetError, match=r"README.md' is no file of the release that stands there.*move it away"):
        sqlanon.anatomy(connection, "patients", out=release, overwrite=True, **ROLES)
    assert (release / "README.md").read_text() == "the owner's notes\n"


def test_a_schema_holds_tables_alone(published, tmp_path):
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table patients as {FEW_PATIENTS}")
        made = sqlanon.anatomy(connection, "patients", into="ward", **ROLES)
        assert list(made.manifest["files"]) == ["qit", "st"]
    assert sqlanon.open("ward", database=str(path)).write(tmp_path / "out").verify().holds
    assert (tmp_path / "out" / "README.md").is_file()
