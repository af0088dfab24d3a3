"""Thresholds: a release that misses one is not published, also under a ledger."""

import functools
import json
import re

import pytest

import sqlanon
from sqlanon.errors import UsageError, VerificationError
from sqlanon.publishing.thresholds import threshold_of
from tests.conftest import METHODS
from tests.databases import connect

SPLU = ["publish", "splu", "patients.parquet", "--quasi", "age", "--sensitive", "disease", "--id", "ssn"]


@pytest.mark.parametrize(("text", "says"), [
    ("rows 500", "is no threshold; write a figure"), ("rows >= many", "one of >= <= > < = and a number"),
    ("rows >= 5%", "rows is no share, of which 5% could be"),
    ("rows(3) >= 1", "no figure 'rows(3)'"), ("row >= 1", "no figure 'row'"), ("", "is no threshold"),
    ("sure >= 0.5", "sure needs a confidence"), ("sure(0.7) <= 0.1", "sure needs a confidence"),
    ("attack_magic <= 1", "no figure 'attack_magic'; thresholds are on rows,"),
    ("error_at(1%) <= 0.5", "was removed in 0.3.0"), ("attack_order < 0", "attack is about the best of all"),
])  # fmt: skip
def test_what_is_no_threshold_is_told(text, says):
    with pytest.raises(UsageError) as refused:
        threshold_of(text, "splu")
    assert says in str(refused.value)


def test_what_is_required_on_the_command_line_and_in_python(shell, patients):
    asked = [*SPLU, "--gamma", 4, "--out", "release"]
    refused = shell(*asked, "--require", "rows >= 1", "--require", "dropped_share < 0")
    assert refused.returncode == 3 and "dropped_share < 0 is required, found 0" in refused.stderr
    assert not (shell.folder / "release").exists()
    assert shell(*asked, "--require", "rows").returncode == 2
    shares = ("--require", "sure(0.8)<=100%", "--target-error", "10%", "--epsilon", "30%")
    kept = shell(*asked, *shares, "--require", "rows > 500", "--require", "dropped_share <= 1 %", "--format", "json")
    assert kept.returncode == 0, kept.stderr
    assert [json.loads(kept.stdout)["parameters"][name] for name in ("target_error", "epsilon")] == [0.1, 0.3]
    asked = {"quasi": "age", "sensitive": "disease", "id": "ssn", "l": 4}
    assert sqlanon.anatomy(patients, "patients", require=["groups >= 100", "l >= 4"], **asked).verify().holds
    with pytest.raises(sqlanon.VerificationError, match="rows >= 1000 is required, found 600"):
        sqlanon.anatomy(patients, "patients", require="rows >= 1000", **asked)


PEOPLE = (
    "create table people as select i as ssn, i // 2 as age, if(i % 2 = 0, 'F', 'M') as sex,"
    " 'd' || (hash(i) % 3 + i % 9) % 7 as disease from range(240) t(i)"
)
ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "key": "ab" * 32}


@pytest.mark.parametrize("method", [method for method in METHODS if method != "robust"])  # whose form is anatomy's
def test_what_attacks_reach_is_what_attack_says_of_the_release(method, tmp_path):
    con = connect()
    con.execute(PEOPLE)
    publish = functools.partial(sqlanon.publish, method, con, "people", **ROLES, **METHODS[method])
    best = sqlanon.attack(publish(), against="people", id="ssn").most_named()
    with pytest.raises(VerificationError, match=r"attack <= 0.05 is required, found 0\.\d+ of the people") as refusal:
        publish(out=tmp_path / "ward", require="attack <= 0.05")
    # learning breaks ties by the order of rows, which files have by their columns
    assert float(re.search(r"found (0\.\d+)", str(refusal.value))[1]) == pytest.approx(best.reached, abs=0.02)
    assert f"{best.attack} ({best.family})" in str(refusal.value)
    assert "compare with resist=0.05" in str(refusal.value) and not [*tmp_path.iterdir()]
    publish(out=tmp_path / "ward", require=["attack <= 1", "rows >= 1"])
    assert sqlanon.open(tmp_path / "ward").verify().holds


def test_a_night_that_misses_a_threshold_leaves_its_ledger_as_it_was(tmp_path):
    con = connect()
    con.execute(PEOPLE)
    night = {**ROLES, "l": 3, "ledger": tmp_path / "ward.ledger"}
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "monday", require="attack <= 1")
    con.execute("delete from people where ssn < 12")
    with pytest.raises(VerificationError, match="attack < 0 is required, found"):
        sqlanon.anatomy(con, "people", **night, out=tmp_path / "tuesday", require="attack < 0")
    assert sqlanon.ledger(tmp_path / "ward.ledger").as_plain()["releases"] == 1
