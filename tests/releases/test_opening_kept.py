"""Releases and ledgers of earlier versions, kept in `fixtures/releases`: opened, asked, attacked and followed today."""

import json
import zipfile

import pytest

import sqlanon
from sqlanon.plans.manifest import FORMAT
from tests.conftest import ROOT
from tests.databases import connect

FOLDER = ROOT / "fixtures" / "releases"
VERSIONS = sorted(folder.name for folder in FOLDER.iterdir() if (folder / "answers.json").is_file())
LATER = [version for version in VERSIONS if version != "0.1.0"]  # which adopted nothing, and had no ledgers
RELEASES = [
    (version, manifest.parent.name)
    for version in VERSIONS
    for manifest in sorted(FOLDER.glob(f"{version}/*/release.json"))
]
# releases whose estimator is another one since: their answers lie within what was said then
MENDED = {("0.1.0", name) for name in ("splu", "robust", "anatomy")}
MENDED |= {("0.2.0", name) for name in ("anatomy", "coarser", "robust", "adopted", "splu", "splu_two")}
MOST_BYTES = 50_000
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "key": "ab" * 32}
FIRST = {"anatomy", "robust", "splu", "uncertain"}
KEPT = {"0.1.0": FIRST, "0.2.0": FIRST | {"coarser", "splu_two", "mondrian", "night_0", "night_1"}}


def said_of(version, name):
    """Return what a version said of a release of its own; nothing of one that it only published."""
    kept = json.loads((FOLDER / version / "answers.json").read_text(encoding="utf-8"))
    said = kept["said"] if "said" in kept else {each: {"answers": answers} for each, answers in kept["answers"].items()}
    return said.get(name, {})


def assert_answers(release, answers, is_mended=False):
    """Assert that a release answers as it was answered then."""
    for question, rows in answers.items():
        frame = release.estimate(question)
        assert len(frame) == len(rows)
        for answer, row in zip(frame.to_dict("records"), rows, strict=True):
            if is_mended:
                assert row["n_low"] <= answer["n"] <= row["n_high"]
            else:
                # what uncertain rows are sure of is told otherwise since: bounds that hold, where there are any
                bounds = {"n_certain", "n_possible"}
                assert {column: value for column, value in answer.items() if column not in bounds} == {
                    column: value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-9)
                    for column, value in row.items()
                    if column not in bounds
                }
                if bounds <= set(answer):
                    assert answer["n_certain"] <= answer["n_expected"] <= answer["n_possible"]


def unpacked(version, name, folder):
    with zipfile.ZipFile(FOLDER / version / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder / name


@pytest.mark.parametrize(("version", "name"), RELEASES)
def test_earlier_releases_hold_and_answer_alike(version, name):
    release = sqlanon.open(FOLDER / version / name)
    assert release.manifest["format"] <= FORMAT
    assert release.verify().holds and "promised" in release._repr_html_()
    assert_answers(release, said_of(version, name).get("answers", {}), (version, name) in MENDED)


@pytest.mark.parametrize(("version", "name"), [(version, name) for version, name in RELEASES if "night" not in name])
def test_earlier_releases_agree_with_their_source_are_attacked_and_completed(version, name):
    con = connect()
    release = sqlanon.open(FOLDER / version / name, con=con)
    people, said = FOLDER / version / "people.parquet", said_of(version, name)
    assert release.verify(against=people).holds
    attack = sqlanon.attack(release, against=people, id="ssn")
    before = said.get("attack", {"leaks": 0, "promised": attack.best.promised, "reached": 0.0})
    assert (len(attack.leaks), attack.best.promised) == (before["leaks"], pytest.approx(before["promised"]))
    assert attack.best.reached >= before["reached"] - 0.01  # attacks learn more than earlier versions did
    if name not in ("uncertain", "mondrian"):
        first, second = release.complete(tables=2, seed=7)
        assert len(first) == len(second) == 400
        if "completed" in said:  # other tables are drawn since, of the same values
            assert set(first["disease"]) == set(said["completed"])


@pytest.mark.parametrize("version", LATER)
def test_an_earlier_schema_holds_and_answers_alike(version, tmp_path):
    path = unpacked(version, "adopted.duckdb", tmp_path)
    release = sqlanon.open("ward", database=str(path))
    assert release.manifest["parameters"]["adopted"] is True
    assert release.verify(against=str(FOLDER / version / "people.parquet")).holds
    assert said_of(version, "adopted")["answers"]
    assert_answers(release, said_of(version, "adopted")["answers"], (version, "adopted") in MENDED)


@pytest.mark.parametrize("version", LATER)
def test_an_earlier_ledger_is_followed(version, tmp_path):
    ledger = unpacked(version, "nights.ledger", tmp_path)
    con = connect()
    con.execute(f"create table people as from '{FOLDER / version / 'people.parquet'}' where ssn < 390")
    assert sqlanon.ledger(ledger).as_plain()["releases"] == 2
    assert sqlanon.ledger(ledger).check(ROLES["key"], FOLDER / version).holds is not False
    sqlanon.anatomy(con, "people", **ROLES, l=4, ledger=ledger, out=tmp_path / "night_2")
    third = sqlanon.open(tmp_path / "night_2", con=con)
    assert third.verify(against="people", since=FOLDER / version / "night_1").holds


def test_every_version_kept_its_releases_and_they_are_small():
    assert {version: {name for each, name in RELEASES if each == version} for version in VERSIONS} == KEPT
    for version in VERSIONS:
        for place in (FOLDER / version).iterdir():
            files = place.iterdir() if place.is_dir() else [place]
            assert sum(file.stat().st_size for file in files) < MOST_BYTES, place
