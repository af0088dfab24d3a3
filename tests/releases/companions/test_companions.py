"""The texts beside a release's tables are those that anybody makes again from it, and no others."""

import duckdb
import pytest

import sqlanon
from sqlanon.bounded_files import file_sha256
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.releases import companions
from tests.conftest import FEW_PATIENTS
from tests.databases import connect
from tests.releases.conftest import ROLES, change_manifest, failing


def test_both_are_in_the_manifest_and_are_made_again(release):
    files = change_manifest(release)["files"]
    assert list(files) == ["qit.parquet", "st.parquet", "README.md", "estimate.sql"]
    assert files["README.md"] == {
        "bytes": (release / "README.md").stat().st_size,
        "sha256": file_sha256(release / "README.md"),
    }
    texts = companions.write_companions(release, change_manifest(release))
    assert texts == {name: (release / name).read_text() for name in ("README.md", "estimate.sql")}
    assert sqlanon.open(release).verify().holds


@pytest.mark.parametrize("name", ["README.md", "estimate.sql"])
def test_a_text_that_was_changed_fails(release, name):
    (release / name).write_text("-- ssn 1 has HIV\n")
    assert failing(release) == {name: file_sha256(release / name)}
    with pytest.raises(ReleaseError, match=rf"not those of the release's manifest: {name}"):
        sqlanon.open(release).require_unchanged()


def test_a_release_without_texts_is_as_good(release):
    for name in ("README.md", "estimate.sql"):
        (release / name).unlink()
        change_manifest(release, lambda manifest, name=name: manifest["files"].pop(name))
    opened = sqlanon.open(release)
    opened.require_unchanged()
    assert opened.verify().holds
    assert opened.estimate("SELECT COUNT(*) FROM release")["count"].tolist() == [240]


def test_an_owners_file_of_that_name_is_not_replaced(release):
    connection = connect()
    connection.execute(f"create table patients as {FEW_PATIENTS}")
    sqlanon.anatomy(connection, "patients", out=release, overwrite=True, **ROLES)
    (release / "README.md").write_text("the owner's notes\n")
    change_manifest(release, lambda manifest: manifest["files"].pop("README.md"))
    with pytest.raises(TargetError, match=r"README.md' is no file of the release that stands there.*move it away"):
        sqlanon.anatomy(connection, "patients", out=release, overwrite=True, **ROLES)
    assert (release / "README.md").read_text() == "the owner's notes\n"


def test_what_attacks_reach_is_said_first_where_it_was_looked_at(release):
    manifest = change_manifest(release)
    texts = companions.write_companions(release, manifest, "about 52% of the people")
    assert texts["README.md"].index("about 52% of the people") < texts["README.md"].index("**Promised**")
    assert "Attacks reach" not in companions.write_companions(release, manifest)["README.md"]


def test_a_schema_holds_tables_alone(tmp_path):
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table patients as {FEW_PATIENTS}")
        made = sqlanon.anatomy(connection, "patients", into="ward", **ROLES)
        assert list(made.manifest["files"]) == ["qit", "st"]
    assert sqlanon.open("ward", database=str(path)).write(tmp_path / "out").verify().holds
    assert (tmp_path / "out" / "README.md").is_file()
