"""Check: figures of another tool, a slow oracle, risks of a population, suggestions, and input that cannot be."""

import json
import shlex

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import DataError, TargetError, UsageError
from sqlanon.risks.assessment import estimate_population_uniqueness
from sqlanon.risks.suggestion import read_name
from sqlanon.wording import spoken
from tests.conftest import NASTY_NAMES, NASTY_VALUES, ROOT
from tests.databases import connect, insert
from tests.examples import examples
from tests.oracles.classes import measure

CHECKS = ROOT / "fixtures" / "checks"


def found_of(result, column=""):
    return {one.name: one.found for one in result.measures if one.column == column}


def test_figures_are_those_of_pycanon(con):
    expected = json.loads((CHECKS / "pycanon.json").read_text())
    result = sqlanon.check(
        con, str(CHECKS / "people.csv"), quasi=["age", "sex", "area"], sensitive=["disease", "income"]
    )
    assert found_of(result)["k"] == expected.pop("k")
    for column, figures in expected.items():
        ours = found_of(result, column)
        ours["entropy_l"] = int(ours["entropy_l"])
        assert {name: ours[name] for name in figures} == pytest.approx(figures, abs=1e-9), column


ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2]), st.sampled_from("ab"), st.sampled_from(["x", "y", "z", None]), st.integers(0, 6)
    ),
    min_size=1,
    max_size=14,
)


@given(rows=ROWS)
@examples(40)
def test_every_measure_equals_its_definition(rows):
    con = connect()
    con.execute("create table people (age integer, sex varchar, disease varchar, income integer)")
    insert(con, "people", rows)
    result = sqlanon.check(con, "people", quasi=["age", "sex"], sensitive=["disease", "income"], recursive=(3, 2))
    named = [dict(zip(["age", "sex", "disease", "income"], row, strict=True)) for row in rows]
    for column in ("disease", "income"):
        expected = measure(named, ["age", "sex"], column, ordered=column == "income")
        ours = found_of(result, column) | found_of(result)
        assert ours == pytest.approx(expected, abs=1e-9), column


def test_the_first_screen(patients):
    result = sqlanon.check(patients, "patients", quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn")
    assert result.figures["rows"] == 600 and result.figures["person_count"] == 600
    alone = {line["known"]: line["unique_rows"] for line in result.uniqueness}
    expected = patients.execute(
        "select count(*) from (select 1 from patients group by age, zipcode having count(*) = 1)"
    ).fetchone()[0]
    assert alone["age + zipcode"] == expected and set(alone) >= {"age", "sex + zipcode", "age + sex + zipcode"}
    (line,) = result.feasible
    largest = patients.execute("select max(n) from (select count(*) n from patients group by disease)").fetchone()[0]
    assert line["largest_l"] == line["largest_gamma"] == 600 // largest
    assert result.holds and "<table>" in result._repr_html_()


def test_failing_rows_are_written_for_their_owner_alone(patients, tmp_path):
    path = tmp_path / "failing.parquet"
    result = sqlanon.check(
        patients, "patients", quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn", k=2, t=0.5, failing=path
    )
    assert not result.holds and path.stat().st_mode & 0o077 == 0
    written = patients.execute(f"select * from '{path}'").df()
    assert list(written) == ["ssn", "age", "sex", "zipcode", "class_number", "class_size", "fails"]
    below = patients.execute(
        "select ssn from patients qualify count(*) over (partition by age, sex, zipcode) < 2 order by ssn"
    ).df()
    assert sorted(written.ssn[written.fails.str.contains("k ")]) == below.ssn.tolist()
    with pytest.raises(TargetError, match="exists"):
        sqlanon.check(patients, "patients", quasi="age", k=100, failing=path)
    with pytest.raises(TargetError, match=r"does not end in \.parquet"):
        sqlanon.check(patients, "patients", quasi="age", k=100, failing=tmp_path / "failing.csv")
    temporary = patients.execute("select count(*) from duckdb_tables() where temporary").fetchone()[0]
    assert temporary == 0


def test_a_population_and_a_sample(con):
    con.execute("create table town as select i % 10 as age, i % 2 as sex from range(100) t(i)")
    con.execute("create table sample as select * from town where age < 3 limit 12")
    found = sqlanon.check(con, "sample", quasi=["age", "sex"], population="town").figures
    assert found["journalist_largest_risk"] == pytest.approx(0.1)
    con.execute("insert into sample values (77, 1)")
    with pytest.raises(DataError, match="1 row has quasi values that nobody in the population has"):
        sqlanon.check(con, "sample", quasi=["age", "sex"], population="town")
    # all of the population was drawn: who is unique is unique
    assert estimate_population_uniqueness({1: 5, 2: 3}, 1.0) == pytest.approx(1.0)
    # P(f = 1 | F = 2) of half of 22 persons: 2 · (11/22) · (11/21); 5 classes of one, 3 of two
    assert estimate_population_uniqueness({1: 5, 2: 3}, 0.5) == pytest.approx(2.5 / (2.5 + 3 * 11 / 21))


def test_rules_and_near_identifiers_are_said(con):
    con.execute(
        "create table people as select i as badge, i % 7 as ward, 'd' || (i % 7 % 5) as disease, i % 3 as age"
        " from range(210) t(i)"
    )
    notes = sqlanon.check(con, "people", quasi=["badge", "ward", "age"], sensitive="disease").notes
    assert any(note.startswith("ward gives disease away") for note in notes)
    assert any(note.startswith("badge alone singles out 210 of 210 rows") for note in notes)
    assert not any(note.startswith("age") for note in notes)


def test_roles_are_suggested_by_uniqueness_type_and_name(con):
    con.execute(
        "create table people as select 'P' || i as ssn, i % 50 as alter,"
        " date '1970-01-01' + (i % 90)::integer as geburtsdatum, 'd' || i % 6 as diagnose, 1 as one,"
        " random() as weight from range(500) t(i)"
    )
    result = sqlanon.check(con, "people")
    roles = {line["column"]: line["suggested_role"] for line in result.columns}
    assert roles == {
        "ssn": "identifier", "alter": "quasi", "geburtsdatum": "quasi", "diagnose": "sensitive", "one": "leave out",
        "weight": "leave out",
    }  # fmt: skip
    assert result.command == (
        "sqlanon publish anatomy people --quasi alter,geburtsdatum --sensitive diagnose --id ssn -l 5 --out release"
    )


def test_few_quasi_columns_are_suggested_and_each_other_column_has_a_reason(con):
    known = ("age", "sex", "zip", "birthdate", "race", "education", "occupation", "language")
    columns = ", ".join(f"i // {7 + number} % 9 as {name}" for number, name in enumerate(known))
    con.execute(
        f"create table people as select {columns}, i % 5 as died, i % 6 as disease, i % 2 as urban, i as person_weight"
        " from range(4500) t(i)"
    )
    result = sqlanon.check(con, "people")
    roles = {line["column"]: (line["suggested_role"], line["why"]) for line in result.columns}
    quasi = [name for name, (role, _) in roles.items() if role == "quasi"]
    assert set(quasi) == set(known[:6])
    assert roles["language"] == ("leave out", "6 others are known better")
    assert roles["urban"] == ("leave out", "its name says nothing")
    assert roles["age"] == ("quasi", "known to whoever meets them")
    assert "quasi column all the same where others know it" in result.notes[0]
    assert roles["disease"] == ("sensitive", "health, nobody's business; leave it out, or publish it beside died")
    assert all(reason for _, reason in roles.values())
    assert "--quasi age,sex,zip,birthdate,race,education --sensitive died" in result.command


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("i % 7 as age, i % 3 as x", "which column is nobody to learn of somebody (x)? Name it with sensitive"),
        ("i % 7 as x, i % 3 as disease", "which columns may others know of somebody (age, sex, place, a date)?"),
    ],
)
def test_without_a_command_there_is_one_question(con, columns, reason):
    con.execute(f"create table people as select {columns} from range(1000) t(i)")
    result = sqlanon.check(con, "people")
    assert not result.command and reason in spoken(result.notes[0])


def test_a_value_that_is_too_frequent_has_one_sentence_and_one_command_that_runs(shell):
    sql = "select i % 7 as age, i // 100 as area, i < 950 as disease from range(1000) t(i)"
    duckdb.sql(sql).write_parquet(str(shell.folder / "people.parquet"))
    for roles in ([], ["--sensitive", "disease"], ["--quasi", "age", "--sensitive", "disease"]):
        seen = shell("check", "people.parquet", *roles)
        assert (
            seen.stderr.count("disease has one value in 95.0% of the rows, where groups that hide it need at most 50%")
            == 1
        )
        command = seen.stderr.splitlines()[-1]
        assert command.startswith("sqlanon publish mondrian people.parquet --quasi age")
        done = shell(*shlex.split(command)[1:], "--overwrite")
        assert done.returncode == 0, done.stderr


def test_a_sensitive_column_alone_is_checked_by_what_others_usually_know(con):
    con.execute(
        "create table people as select i % 7 as age, i % 2 as sex, i % 3 as x, i % 11 as disease from range(99) t(i)"
    )
    result = sqlanon.check(con, "people", sensitive="x", l=3)
    assert spoken(result.notes[0]) == "taken for what others know: age, sex; name other columns with quasi"
    assert [line["known"] for line in result.uniqueness] == ["age", "sex", "age + sex"] and result.holds is not None
    con.execute("create table wide as select i as a, i % 3 as x from range(9) t(i)")
    with pytest.raises(UsageError, match="no column's name says that others may know it"):
        sqlanon.check(con, "wide", sensitive="x")


def test_subsets_of_columns_tell_which_make_people_few(con):
    con.execute("create table people as select i % 2 as a, i % 3 as b, i % 5 as c, i % 7 as d from range(60) t(i)")
    result = sqlanon.check(con, "people", quasi="a,b,c,d", subsets=3, k=4)
    lines = {line["known"]: line for line in result.uniqueness}
    assert len(lines) == 4 + 6 + 4 + 1
    counts = con.execute("select count(*) n from people group by a, b, c").fetchall()
    below = con.execute("select sum(n) from (select count(*) n from people group by a, b, d) where n < 4").fetchone()[0]
    assert lines["a + b + c"]["smallest_class"] == min(n for (n,) in counts) == 2
    assert lines["a + b + d"]["rows_below_4"] == below == 60
    assert result.figures["rows_in_classes_below_4"] == 60
    assert "60 of 60 rows look like fewer than 3 others" in result.notes[0]
    alone = sqlanon.check(con, "people", quasi="a,b", subsets=1).uniqueness
    assert [line["known"] for line in alone] == ["a", "b", "a + b"]


def test_people_in_classes_of_few_values_are_counted(con):
    con.execute("create table people as select i % 4 as age, i % 4 * (i // 4 % 3) as disease from range(120) t(i)")
    (line,) = sqlanon.check(con, "people", quasi="age", sensitive="disease", l=3).feasible
    below = con.execute(
        "select sum(n) from (select count(*) n from people group by age having count(distinct disease) < 3)"
    )
    assert line["rows_in_classes_below_l_3"] == below.fetchone()[0] == 30


@pytest.mark.parametrize(
    ("name", "role"),
    [("patientId", "identifier"), ("E-Mail", "identifier"), ("home_zip", "quasi"), ("ICD10", "sensitive"), ("x", "")],
)
def test_names_tell_roles(name, role):
    assert read_name(name)[0] == role


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quasi": "agee"}, "no column 'agee'"),
        ({"quasi": "age", "sensitive": "age"}, "a column has one role"),
        ({"k": 5}, "classes are made by quasi columns"),
        ({"quasi": "age", "l": 3}, "l is about sensitive values"),
        ({"quasi": "age", "k": 0}, "k = 0 cannot be required"),
        ({"quasi": "age", "sensitive": "sex", "t": 2}, "t = 2 cannot be required"),
        ({"quasi": "age", "sensitive": "sex", "recursive": 3}, "recursive = 3 is not c,l: a number above 0"),
        ({"quasi": "age", "q": 3}, "no parameter 'q' .*; there are"),
        ({"quasi": "age", "subsets": 0}, "looks at no columns"),
        ({"quasi": "age", "sampled": 0.1, "population": "patients"}, "not both"),
    ],
)
def test_what_cannot_be_asked(patients, options, message):
    with pytest.raises(UsageError, match=message):
        sqlanon.check(patients, "patients", **options)


def test_more_columns_than_pairs_are_looked_at(con):
    names = [f"c{number}" for number in range(13)]
    con.execute(f"create table wide as select {', '.join(f'i % 2 as {name}' for name in names)} from range(9) t(i)")
    with pytest.raises(UsageError, match="at most 12 quasi columns are checked"):
        sqlanon.check(con, "wide", quasi=names)


def test_tables_with_nothing_in_them(con):
    con.execute("create table none (age integer, disease varchar)")
    with pytest.raises(DataError, match="no rows to check"):
        sqlanon.check(con, "none", quasi="age", sensitive="disease")
    with pytest.raises(DataError, match="no rows to check"):
        sqlanon.check(con, "none")
    con.execute(
        "create table empty as select null::integer as age, null::varchar as disease, [i] as l from range(9) t(i)"
    )
    result = sqlanon.check(con, "empty", quasi="age", sensitive="disease")
    assert "disease has one value only: everybody's is known" in result.notes
    with pytest.raises(UsageError, match="nested"):
        sqlanon.check(con, "empty", quasi="l")
    assert {line["why"] for line in sqlanon.check(con, "empty").columns} == {"no value at all", "nested values"}


@pytest.mark.parametrize("name", NASTY_NAMES[::2])
def test_any_name_and_value_works(con, name):
    other = NASTY_NAMES[NASTY_NAMES.index(name) - 1]
    frame = pd.DataFrame({name: NASTY_VALUES * 2, other: list(range(11)) * 2, "third": [1] * 22})
    result = sqlanon.check(con, frame, quasi=[name], sensitive=[other], k=2)
    assert result.holds and name in str(result.uniqueness[0]["known"])
    assert "<script" not in sqlanon.check(con, frame.rename(columns={"third": "<script>"}))._repr_html_()


def test_the_command_line(shell):
    seen = shell("check", "patients.parquet")
    assert seen.returncode == 0 and "suggested role" in seen.stdout
    assert (
        "sqlanon publish anatomy patients.parquet --quasi age,sex,zipcode --sensitive disease --id ssn" in seen.stderr
    )
    asked = ("check", "patients.parquet", "--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
    missed = shell(*asked, "-k", "5", "-l", "9", "--failing", "f.parquet")
    assert missed.returncode == 3 and "required and not reached: l of disease" in missed.stderr
    assert "f.parquet" in shell.left()
    whole = json.loads(shell(*asked, "--recursive", "3,2", "--format", "json").stdout)
    assert whole["figures"]["rows"] == 600 and any(line["measure"] == "recursive" for line in whole["measures"])
    assert shell(*asked, "--recursive", "x").returncode == 2
    assert "measure" in shell(*asked, "--format", "csv").stdout.splitlines()[0]


def test_a_running_number_is_suggested_for_no_role():
    con = connect()
    con.execute(
        "create table visits as select i as column00, -i as turn, 7 * i as mark, i as patient_id, i % 60 as age"
        " from range(1000) as t(i)"
    )
    suggested = {line["column"]: line["suggested_role"] for line in sqlanon.check(con, "visits").columns}
    assert suggested == {
        "column00": "leave out", "turn": "leave out", "mark": "identifier", "patient_id": "identifier", "age": "quasi"
    }  # fmt: skip
