"""Releases whose quasi columns are coarser: published, verified, attacked, asked and followed as any other."""

import functools
import json

import pytest

import sqlanon
from sqlanon.errors import DataError, ReleaseError, UsageError
from sqlanon.plans.manifest import manifest_text
from sqlanon.plans.templates import ident
from tests.conftest import METHODS, NASTY_NAMES
from tests.databases import connect, database

PEOPLE = (
    "create table people as select i as ssn, (18 + i * 7 % 60)::integer as age, if(i % 2 = 0, 'F', 'M') as sex,"
    " 'd' || (hash(i) % 4 + i // 10) % 9 as disease, date '1950-03-05' + (i * 37 % 9000)::integer as born"
    " from range(360) t(i)"
)
RULES = {"AGE": 20, "born": "decade"}
ROLES = {"quasi": ["age", "sex", "born"], "sensitive": "disease", "id": "ssn", "coarsen": RULES}


con = database(PEOPLE)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_release_of_a_table_that_is_coarser(method, con, tmp_path):
    publish = functools.partial(getattr(sqlanon, method), con, **METHODS[method], key="ab" * 32)
    by_hand = "SELECT ssn, age // 20 * 20 AS age, sex, disease, year(born) // 10 * 10 AS born FROM people"
    release = publish("people", **ROLES, out=tmp_path / "release")
    wanted = publish(query=by_hand, **{**ROLES, "coarsen": None})
    opened = sqlanon.open(tmp_path / "release", con=con)
    for table in wanted.tables:
        made, expected = (con.sql(f"from {each.tables[table]}").fetchall() for each in (opened, wanted))
        assert made == expected
    assert release.manifest["parameters"]["coarsen"] == {"age": "20", "born": "decade"}
    assert "coarsen" not in wanted.manifest["parameters"]
    assert opened.verify().holds and opened.verify(against="people").holds
    if method == "anatomy":
        made = sqlanon.attack(opened, against="people", id="ssn")
        expected = sqlanon.attack(wanted, query=by_hand, id="ssn")
        assert (made.scored, made.best) == (expected.scored, expected.best)
    text = (tmp_path / "release" / "README.md").read_text()
    assert "made coarser: the lower end of its step of 20" in text and "exact; made coarser" not in text
    assert "made coarser: the lower end of its step of 10 years" in text
    answer = opened.estimate("SELECT COUNT(*) FROM release WHERE age = 40")
    said = [message for message in answer.attrs["messages"] if message.startswith("published coarser: ")]
    assert said == ["published coarser: age is the lower end of its step of 20"]
    assert not any("coarser" in text for text in opened.estimate("SELECT COUNT(*) FROM release").attrs["messages"])


@pytest.mark.parametrize("method", ["anatomy", "splu"])
def test_a_manifest_that_calls_finer_values_coarse_is_not_certified(method, con, tmp_path):
    rules = {"age": 3, "born": "quarter"}
    getattr(sqlanon, method)(con, "people", **METHODS[method], **{**ROLES, "coarsen": rules}, out=tmp_path / "release")
    place = tmp_path / "release" / "release.json"
    manifest = json.loads(place.read_text())
    for claimed, fault in (
        ({"age": "3", "born": "quarter"}, ""),
        ({"age": "3", "born": "month", "sex": "5 letters"}, ""),
        ({"age": "7"}, "'age': 3"),
        ({"age": "6", "born": "year"}, "'born': 2"),
        ({"age": "3.5"}, "'3.5' is not for values of type BIGINT"),
    ):
        manifest["parameters"]["coarsen"] = claimed
        place.write_text(manifest_text(manifest))
        (check,) = [check for check in sqlanon.open(tmp_path / "release").verify().checks if check.name == "manifest"]
        assert check.holds is not bool(fault) and fault in str(check.found), check
    manifest["parameters"]["coarsen"] = {"age": "0.0"}
    place.write_text(manifest_text(manifest))
    with pytest.raises(ReleaseError, match="records what no release has: parameters coarsen age"):
        sqlanon.open(tmp_path / "release")


def test_voters_are_looked_up_by_the_values_that_are_shown(con, tmp_path):
    release = sqlanon.anatomy(con, "people", quasi=["age", "sex"], sensitive="disease", l=3, coarsen={"age": 20})
    (tmp_path / "voters.csv").write_text("age,sex\n41,F\n59,F\n99,F\n")
    found = release.verify(voters=str(tmp_path / "voters.csv")).presence
    assert found["age"].tolist() == [40, 80] and found["voters_alike"].tolist() == [2, 1]
    (count,) = con.sql("select count(*) from people where age between 40 and 59 and sex = 'F'").fetchall()[0]
    assert found["matching_rows"].tolist() == [count, 0]


def test_under_a_ledger_columns_stay_as_coarse_as_they_were(con, tmp_path):
    night = {**ROLES, "l": 3, "key": "ab" * 32, "ledger": tmp_path / "ward.ledger"}
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "monday")
    with pytest.raises(
        UsageError, match=r"have the coarsen .*20.*, this request .*10.*: groups that were published stay"
    ):
        sqlanon.anatomy(con, "people", **{**night, "coarsen": {**RULES, "age": 10}}, out=tmp_path / "tuesday")
    with pytest.raises(UsageError, match="this request None: groups that were published stay"):
        sqlanon.anatomy(con, "people", **{**night, "coarsen": None}, out=tmp_path / "tuesday")
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "tuesday")
    assert sqlanon.open(tmp_path / "tuesday").verify().holds


def test_columns_of_any_name_are_coarser(con):
    shown = ", ".join(f"age as {ident(name)}" for name in NASTY_NAMES)
    con.execute(f"create or replace view nasty as select ssn, {shown}, disease as value from people")
    roles = {"quasi": NASTY_NAMES, "sensitive": "value", "id": "ssn", "l": 3}
    release = sqlanon.anatomy(con, "nasty", **roles, coarsen=dict.fromkeys(NASTY_NAMES, 20))
    assert release.verify(against="nasty").holds
    counted = ", ".join(f"count(distinct {ident(name)})" for name in NASTY_NAMES)
    assert con.sql(f"select {counted} from {release.tables['qit']}").fetchall() == [(4,) * len(NASTY_NAMES)]


def test_the_command_line_and_jobs_take_it(shell):
    words = ["patients.parquet", "--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn"]
    done = shell("publish", "anatomy", *words, "-l", 4, "--coarsen", "age=10", "--out", "release", "--format", "json")
    assert json.loads(done.stdout)["parameters"]["coarsen"] == {"age": "10"}
    shell.folder.joinpath("job.yml").write_text(
        "source: patients.parquet\nmethod: anatomy\nparameters:\n  l: 4\n  coarsen: {age: 10}\n"
        "roles:\n  quasi: [age, sex]\n  sensitive: disease\n  id: ssn\noutput: {out: nightly}\n"
    )
    done = shell("run", "job.yml")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"]["coarsen"] == {"age": "10"}
    figures = sqlanon.check(
        connect(), str(shell.folder / "patients.parquet"), quasi=["age", "sex"], coarsen={"age": 10}
    )
    done = shell("check", *words, "--coarsen", "age=10", "--format", "json")
    assert json.loads(done.stdout)["figures"]["classes"] == figures.figures["classes"] == 12
    for rule, message in (
        ("age=ten", "--coarsen age='ten' is no way to coarsen values: say a step of numbers (age=10)"),
        ("age", "--coarsen = 'age' is not COLUMN=RULE, as in age=10"),
        ("age=10,AGE=5", "--coarsen = 'AGE' is a column that is named twice"),
    ):
        done = shell("publish", "anatomy", *words, "-l", 4, "--coarsen", rule, "--out", "other")
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("rule", ["decade", "century"])
def test_infinite_dates_have_no_decade_and_are_not_published_as_unknown(con, rule):
    con.execute(
        "create or replace table endless as select i as id, 'd' || i % 5 as disease, case i when 3 then 'infinity'"
        " when 4 then '-infinity' when 5 then null else '1950-01-01' end::date as born from range(40) t(i)"
    )
    roles = {"quasi": "born", "sensitive": "disease", "id": "id", "l": 3, "coarsen": {"born": rule}}
    with pytest.raises(
        DataError, match=rf"born='{rule}': 2 rows have an infinite date in 'born', which lies in no {rule}"
    ):
        sqlanon.anatomy(con, "endless", **roles)
    mended = "select id, disease, case when isfinite(born) then born end as born from endless"
    release = sqlanon.anatomy(con, query=mended, **roles)
    assert con.sql(f"select count(*) from {release.tables['qit']} where born is null").fetchall() == [(3,)]
