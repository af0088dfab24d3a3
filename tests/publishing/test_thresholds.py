"""Thresholds: figures of SPLU-Gen are the binomial's, and a release that misses one is not published."""

import functools
import json
import re

import pytest

import sqlanon
from sqlanon.errors import UsageError, VerificationError
from sqlanon.methods.splu import binomial
from sqlanon.publishing.thresholds import threshold_of
from tests.conftest import METHODS
from tests.databases import connect

SPLU = ["publish", "splu", "patients.parquet", "--quasi", "age", "--sensitive", "disease", "--id", "ssn"]


def manifest(gamma, rows, residue="drop"):
    parameters = {"gamma": gamma, "epsilon": 0.3, "residue": residue}
    return {"method": "splu", "parameters": parameters, "rows": rows, "verified": {}, "guarantee": {}}


def test_small_counts_are_those_of_lemma_2_and_the_worst_column_decides():
    """The paper's example 2: alpha = 3, epsilon = 0.3, gamma = 10 give 0.6126; gamma = 2 gives 0.5."""
    asked = threshold_of("off_at_least(3) >= 0.6125", "splu")
    assert asked.missed(manifest({"s": 10}, 1000), None) is None
    assert asked.missed(manifest({"s": 10, "t": 2}, 1000), None) == "off_at_least(3) >= 0.6125 is required, found 0.5"


@pytest.mark.parametrize(
    ("share", "rows", "gamma"), [(0.01, 1000, 5), (0.05, 700, 10), (0.002, 5000, 2), (0.3, 900, 5)]
)
def test_large_counts_are_as_bad_as_the_worst_from_the_share_on(share, rows, gamma):
    """Judged count by count, up to the most rows that a value may have; none is possible above 1/gamma."""
    counts = range(max(1, -(-int(share * 10000) * rows // 10000)), rows // gamma + 1)
    slow = max((binomial.off(count, gamma, 0.3, at_least=True) for count in counts), default=0.0)
    assert binomial.error_at(share, gamma, rows, 0.3) == pytest.approx(slow, abs=1e-11)


@pytest.mark.parametrize(("text", "says"), [
    ("rows 500", "is no threshold; write a figure"), ("rows >= many", "write one of >= <= > < = and a number"),
    ("off_at_least >= 0.5", "needs the largest small count"), ("off_at_least(0) >= 0.5", "needs the largest small"),
    ("off_at_least(2.5) >= 0.5", "needs the largest small"), ("error_at(2) <= 0.1", "needs a share of the rows"),
    ("error_at(0%) <= 0.1", "needs a share"), ("rows(3) >= 1", "no figure 'rows(3)'"), ("row >= 1", "no figure 'row'"),
    ("", "is no threshold"), ("off_at_least(99999) >= 0.5", "needs the largest small"),
])  # fmt: skip
def test_what_is_no_threshold_is_told(text, says):
    with pytest.raises(UsageError) as refused:
        threshold_of(text, "splu")
    assert says in str(refused.value)


def test_what_is_required_on_the_command_line_and_in_python(shell, patients):
    asked = [*SPLU, "--gamma", 4, "--out", "release"]
    refused = shell(*asked, "--require", "rows >= 1", "--require", "off_at_least(3) >= 0.6")
    assert refused.returncode == 3 and "off_at_least(3) >= 0.6 is required, found 0.578125" in refused.stderr
    assert not (shell.folder / "release").exists()
    assert shell(*asked, "--require", "rows").returncode == 2
    kept = shell(
        *asked, "--require", "off_at_least(3)>=0.5", "--require", "error_at(5%) <= 0.5", "--require", "rows > 500"
    )
    assert kept.returncode == 0, kept.stderr
    asked = {"quasi": "age", "sensitive": "disease", "id": "ssn", "l": 4}
    assert sqlanon.anatomy(patients, "patients", require=["groups >= 100", "l >= 4"], **asked).verify().holds
    with pytest.raises(sqlanon.VerificationError, match="rows >= 1000 is required, found 600"):
        sqlanon.anatomy(patients, "patients", require="rows >= 1000", **asked)


def test_a_plan_prints_what_several_gammas_promise_and_publishes_nothing(shell):
    before = shell.left()
    done = shell(*SPLU, "--plan", "--format", "json")
    assert done.returncode == 0, done.stderr
    lines = {line["gamma"]: line for line in json.loads(done.stdout)}
    assert list(lines) == [2, 3, 4, 5, 6, 8, 10] and shell.left() == before
    assert [gamma for gamma, line in lines.items() if line["possible"] == "yes"] == [2, 3, 4, 5, 6]
    published = json.loads(shell(*SPLU, "--gamma", 5, "--out", "release", "--format", "json").stdout)
    promised = published["guarantee"]["disease"]
    assert lines[5]["off_at_least"] == pytest.approx(promised["small_sums"]["off_at_least"], abs=1e-4)
    assert lines[5]["useful_from"] == promised["large_sums"]["count"]
    assert lines[10]["expected_error_1%"] is None
    assert 7 in {line["gamma"] for line in json.loads(shell(*SPLU, "--plan", "--gamma", 7, "--format", "json").stdout)}
    assert "select" in shell(*SPLU, "--plan", "--sql").stdout
    missing = shell(*SPLU, "--out", "other")
    assert missing.returncode == 2 and "say --gamma; --plan prints" in missing.stderr


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


def test_a_family_of_attacks_is_required_by_its_name_and_under_a_ledger(tmp_path):
    con = connect()
    con.execute(PEOPLE)
    night = {**ROLES, "l": 3, "ledger": tmp_path / "ward.ledger"}
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "monday", require="attack_learning <= 1")
    con.execute("delete from people where ssn < 12")
    with pytest.raises(VerificationError, match="attack_order < 0 is required, found"):
        sqlanon.anatomy(con, "people", **night, out=tmp_path / "tuesday", require="attack_order < 0")
    assert sqlanon.ledger(tmp_path / "ward.ledger").as_plain()["releases"] == 1
    with pytest.raises(UsageError, match=r"no figure 'attack_magic'; thresholds are on rows, .*attack_learning"):
        sqlanon.anatomy(con, "people", **ROLES, l=3, require="attack_magic <= 1")
