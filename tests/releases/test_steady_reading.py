"""A release that is replaced while it is read is never called forged, and no answer mixes two releases."""

import shutil

import pytest

import sqlanon
from sqlanon.errors import ReleaseError
from sqlanon.releases import asked_release, contents

ASKED = {"quasi": "age,sex,zipcode", "sensitive": "disease", "id": "ssn"}
COUNT = "SELECT COUNT(*) AS n FROM release"


@pytest.fixture
def replaced(patients, tmp_path, monkeypatch):
    """Return a release that is replaced in the middle of being read, as often as the test says."""
    monkeypatch.setattr(asked_release, "_PAUSE", 0)
    release = sqlanon.anatomy(patients, "patients", l=4, out=tmp_path / "release", **ASKED)
    digest, turns = contents.file_sha256, iter(())

    def often(times):
        nonlocal turns
        turns = iter(range(times))

    def replacing(path):
        found = digest(path)
        for turn in turns:
            method = {"l": 3 + turn % 2, "key": f"{turn:064}"}
            sqlanon.anatomy(patients, "patients", out=tmp_path / "release", overwrite=True, **method, **ASKED)
            break
        return found

    monkeypatch.setattr(contents, "file_sha256", replacing)
    return release, often


def test_a_release_that_is_replaced_is_read_again(replaced):
    release, often = replaced
    often(1)
    report = release.verify()
    assert report.holds, report.failed()
    assert release.manifest["parameters"]["l"] == 3
    often(1)
    release.require_unchanged()
    assert release.estimate(COUNT)["n"][0] == 600


def test_an_answer_is_one_releases(patients, replaced):
    release, _ = replaced
    assert release.estimate(COUNT)["n"][0] == 600
    few = patients.sql("select * from patients limit 300")
    sqlanon.anatomy(patients, few, l=3, out=release.directory, overwrite=True, **ASKED)
    assert release.estimate(COUNT)["n"][0] == 300


def test_a_release_that_changes_again_and_again_is_not_called_forged(replaced):
    release, often = replaced
    often(9)
    with pytest.raises(ReleaseError, match="is replaced while it is read; try again"):
        release.verify()


def test_what_is_forged_in_its_place_is_still_found(replaced):
    release, _ = replaced
    shutil.copy(release.directory / "st.parquet", release.directory / "qit.parquet")
    assert not release.verify().holds
