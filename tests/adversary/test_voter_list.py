"""What a list of people gives away together with a release: judged one by one, shown by published columns alone."""

import json
import statistics

import pytest

import sqlanon
from sqlanon.plain_values import records

PUBLISHED = ["--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn", "-l", 4]


@pytest.fixture
def release(patients):
    return sqlanon.anatomy(patients, "patients", quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn", l=4)


def test_voters_with_nasty_columns_and_nulls(release, patients):
    voters = patients.execute(
        'select ssn as "na\'me; --", age, case when ssn > 5 then sex end as sex, zipcode from patients where ssn < 20'
    ).df()
    report = release.verify(voters=voters)
    people = report.presence
    assert report.figures["presence"]["voters"] == people["voters_alike"].sum() == 20
    assert people.loc[people["sex"].isna(), "voters_alike"].sum() == 6
    assert (people.loc[people["sex"].isna(), "presence"] == 0).all()
    assert (people.loc[people["sex"].notna(), "presence"] == 1).all()


def test_a_list_of_one_sex_and_codes_with_zeros_is_read_as_the_release_has_them(con, tmp_path):
    con.execute(
        "create table people as select i as id, 20 + i % 30 as age, case when i % 2 = 0 then 'F' else 'M' end as sex,"
        " '0' || i % 50 as zip, 'd' || i % 5 as disease from range(600) t(i)"
    )
    release = sqlanon.anatomy(con, "people", quasi=["age", "sex", "zip"], sensitive="disease", id="id", l=3)
    women = tmp_path / "women.csv"
    women.write_text("age,sex,zip\n20,F,00\n22,F,02\n")
    assert release.verify(voters=str(women)).figures["presence"]["surely_present"] == 2
    women.write_text("age,sex,zip\nold,F,00\n")
    with pytest.raises(sqlanon.DataError, match="cannot look voters up by the release's columns"):
        release.verify(voters=str(women))
    con.execute("create table women as select 20 as age, false as sex, '00' as zip")
    with pytest.raises(sqlanon.UsageError, match="'sex' is of type BOOLEAN, and 'sex' of the release is of VARCHAR"):
        release.verify(voters="women")


def test_voters_show_published_columns_alone(release, patients):
    answer = ["matching_rows", "voters_alike", "presence", "confidence", "risk"]
    people = release.verify(voters="patients").presence  # which has ssn and disease
    assert list(people.columns) == ["age", "sex", "zipcode", *answer]
    assert not people.duplicated(["age", "sex", "zipcode"]).any()
    assert people["voters_alike"].sum() == people["matching_rows"].sum() == 600
    assert people["risk"].is_monotonic_decreasing


def test_voters_are_judged_as_one_by_one(con):
    """An independent, slow count: for each voter alone, the rows of QIT that are alike and their groups."""
    text = "case when i % 3 > 0 then 'x' end as presence"  # a name that the answer has, too
    con.execute(f"create table t as select i % 4 as q, {text}, i % 5 as s from range(90) r(i)").fetchall()
    con.execute(f"create table voters as select i % 6 as q, {text} from range(61) r(i)").fetchall()
    release = sqlanon.anatomy(con, "t", quasi=["q", "presence"], sensitive="s", l=3)
    report = release.verify(voters="voters")
    assert list(report.presence.columns)[2:5] == ["matching_rows", "voters_alike", "presence_2"]
    judged = {tuple(line.values())[:2]: tuple(line.values())[2:] for line in records(report.presence)}
    published, groups = release.table("qit").fetchall(), release.table("st").fetchall()
    voters = con.execute("from voters").fetchall()
    risks = []
    for voter in voters:
        rows = [row for row in published if row[:2] == voter]
        alike = voters.count(voter)
        shares = []
        for *_, group in rows:
            counts = [count for number, _, count in groups if number == group]
            shares.append(max(counts) / sum(counts))
        presence, confidence = min(1, len(rows) / alike), statistics.fmean(shares) if shares else None
        risks.append(presence * (confidence or 0))
        assert judged[voter] == (len(rows), alike, presence, pytest.approx(confidence), pytest.approx(risks[-1]))
    assert report.figures["presence"]["mean_risk"] == pytest.approx(statistics.fmean(risks))


def test_the_first_voters_are_shown_and_json_has_all(shell):
    shell("publish", "anatomy", "patients.parquet", *PUBLISHED, "--out", "ward")
    voters = ["--voters", "patients.parquet"]
    done = shell("verify", "ward", *voters)
    lines = done.stdout.splitlines()
    shown = lines[lines.index(next(line for line in lines if line.startswith("age"))) + 1 :]
    assert len(shown) == 20
    assert "shown: the 20 lines of voters with the highest risk, of 600; --format json has all" in done.stderr
    assert len(json.loads(shell("verify", "ward", *voters, "--format", "json").stdout)["presence"]) == 600
    assert "ssn" not in done.stdout
