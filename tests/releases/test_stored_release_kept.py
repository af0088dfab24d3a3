"""Releases and ledgers of earlier versions, kept in `fixtures/releases`: opened, asked, attacked and followed today."""

import json
import zipfile
from pathlib import Path

import pytest

import sqlanon
from sqlanon.plans.manifest import FORMAT
from tests.databases import connect

FOLDER = Path(__file__).parents[2] / "fixtures" / "releases"
VERSIONS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
RELEASES = [
    (version, manifest.parent.name)
    for version in VERSIONS
    for manifest in sorted(FOLDER.glob(f"{version}/*/release.json"))
]
# estimators that were mended since: their answers lie within what was said then
MENDED = {("0.1.0", "splu"), ("0.1.0", "robust")}
LEDGERS = sorted(FOLDER.glob("*/nights.ledger.zip"))
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "key": "ab" * 32}


@pytest.mark.parametrize(("version", "name"), RELEASES)
def test_earlier_releases_hold_and_answer_alike(version, name):
    release = sqlanon.open(FOLDER / version / name)
    assert release.manifest["format"] <= FORMAT
    assert release.verify().holds
    answers = json.loads((FOLDER / version / "answers.json").read_text(encoding="utf-8"))["answers"].get(name, {})
    for question, rows in answers.items():
        frame = release.estimate(question)
        assert len(frame) == len(rows)
        for answer, row in zip(frame.to_dict("records"), rows, strict=True):
            if (version, name) in MENDED:
                assert row["n_low"] <= answer["n"] <= row["n_high"]
            else:
                assert answer == {
                    column: value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-9)
                    for column, value in row.items()
                }


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "name"), [(version, name) for version, name in RELEASES if "night" not in name])
def test_earlier_releases_agree_with_their_source_are_attacked_and_completed(version, name):
    con = connect()
    release = sqlanon.open(FOLDER / version / name, con=con)
    people = FOLDER / version / "people.parquet"
    assert release.verify(against=people).holds
    assert sqlanon.attack(release, against=people, id="ssn").headline
    if name not in ("uncertain", "mondrian"):
        assert [len(frame) for frame in release.complete(tables=2)] == [400, 400]


def test_every_version_kept_its_releases():
    assert {name for version, name in RELEASES if version == "0.1.0"} == {"anatomy", "robust", "splu", "uncertain"}


@pytest.mark.parametrize("packed", LEDGERS, ids=lambda path: path.parent.name)
def test_an_earlier_ledger_is_followed(packed, tmp_path):
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    con = connect()
    con.execute(f"create table people as from '{packed.parent / 'people.parquet'}' where ssn < 390")
    ledger = tmp_path / "nights.ledger"
    assert sqlanon.ledger(ledger).as_plain()["releases"] == 2
    sqlanon.anatomy(con, "people", **ROLES, l=4, ledger=ledger, out=tmp_path / "night_2")
    third = sqlanon.open(tmp_path / "night_2", con=con)
    assert third.verify(against="people", since=packed.parent / "night_1").holds
