"""Mondrian: the slides' generalized table, boxes judged by the paper's recursion, kinds of columns, refusals."""

import collections
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from tests.conftest import NASTY_NAMES, NASTY_VALUES, PAPERS
from tests.databases import insert
from tests.examples import examples
from tests.generalized_release import SLIDES, write_release
from tests.oracles.mondrian import partitions, penalty

MICRODATA = str(PAPERS / "anatomy" / "microdata.csv")
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}


def classes_of(release, table="data"):
    """Return per box the sensitive values of its rows."""
    boxes = collections.defaultdict(list)
    for *box, sensitive in release.table(table).fetchall():
        boxes[tuple(box)].append(sensitive)
    return boxes


# -- the slides ----------------------------------------------------------------------------------------


@pytest.fixture
def slides(tmp_path):
    return sqlanon.open(write_release(tmp_path / "slides", **SLIDES))


def test_the_slides_boxes_answer_query_a_by_their_overlap(slides):
    assert slides.verify().holds
    answer = slides.estimate(
        "SELECT COUNT(*) AS n FROM release WHERE age BETWEEN 0 AND 30 AND zipcode BETWEEN 10001 AND 20000"
        " AND disease = 'pneumonia'"
    )
    # 2 rows, of whose box the query covers (10/40) * (10000/50000); none for sure, both perhaps
    assert answer["n"][0] == pytest.approx(0.1, abs=1e-12)
    assert answer[["n_low", "n_high"]].values.tolist() == [[0, 2]]
    assert answer["n_std_error"].isna().all()
    with pytest.raises(sqlanon.QueryError, match="SUM over generalized rows is not answered: a box holds a range"):
        slides.estimate("SELECT SUM(age) FROM release")


def test_the_slides_voters_are_present_with_four_sixths_and_then_ill_with_one_half(slides):
    report = slides.verify(voters=str(PAPERS / "anatomy" / "voters.csv"))
    people = report.presence.set_index("age")
    assert people.loc[23, ["presence", "confidence", "risk"]].tolist() == pytest.approx([4 / 6, 2 / 4, 1 / 3])
    assert people["matching_rows"].tolist() == [4] * 6 and people["voters_in_box"].tolist() == [6] * 6
    assert report.figures["presence"]["surely_present"] == 0


@pytest.mark.parametrize(("partition", "sensitive"), [("strict", "s"), ("relaxed", ["s", "u"])])
def test_no_value_stands_in_more_than_one_in_l_rows_of_a_box(con, partition, sensitive):
    con.execute("""
        create table t as select i, hash(i) % 50 as age, hash(i, 1) % 7 as z, 'u' || (hash(i, 4) % 6) as u,
        's' || if(hash(i, 2) % 4 = 0, 0, hash(i, 3) % 9) as s from range(900) r(i)""").fetchall()
    asked = {"quasi": ["age", "z"], "sensitive": sensitive, "id": "i", "k": 5, "partition": partition}
    release = sqlanon.mondrian(con, "t", **asked, l=3)
    assert release.verify(against="t").holds and release.manifest["verified"]["largest_confidence"] <= 1 / 3
    assert release.manifest["groups"] > 8
    assert "in at most 1/3 of them" in release._repr_html_()
    distinct = sqlanon.mondrian(con, "t", **asked, l=3, diversity="distinct")
    assert distinct.manifest["verified"]["largest_confidence"] > 0.5 and distinct.verify(against="t").holds
    with pytest.raises(sqlanon.DataError, match=r"at most 1/6 of a box: .* the largest l that works is 3; diversity"):
        sqlanon.mondrian(con, "t", **asked, l=6)


def test_the_slides_people_fall_into_two_boxes_of_exact_bounds(con):
    release = sqlanon.mondrian(con, MICRODATA, k=4, l=2, **ROLES)
    assert classes_of(release) == {
        (23, 59, '["M"]', 11000, 59000): ["dyspepsia", "dyspepsia", "pneumonia", "pneumonia"],
        (61, 70, '["F"]', 25000, 54000): ["bronchitis", "flu", "flu", "gastritis"],
    }
    assert release.manifest["guarantee"] == {"k": 4, "l": 2, "diversity": "frequent"}
    assert release.verify(against=MICRODATA).holds


# -- the paper's recursion -----------------------------------------------------------------------------


def penalty_of(release, quasi):
    """Return the normalized certainty penalty of published bounds."""
    terms = [f"avg({name}_high - {name}_low) / (max({name}_high) - min({name}_low))" for name in quasi]
    (row,) = release.table("data").aggregate(", ".join(terms)).fetchall()
    return sum(row) / len(quasi)


@pytest.mark.parametrize(("l", "partition"), [(1, "strict"), (3, "strict"), (1, "relaxed")])
def test_boxes_lose_no_more_than_the_papers_recursion(con, l, partition):
    con.execute(
        "create table people as select 17 + (i * i * 7) % 71 as age, (i * 31 + i % 7) % 17 as education,"
        " (i * i) % 5 * (i % 2) as race, (i * 13) % 9 + (i % 4) * (i % 3) as job, i % 6 as disease"
        " from range(1200) as t(i)"
    ).fetchall()
    quasi = ["age", "education", "race", "job"]
    asked = {"quasi": quasi, "sensitive": "disease", "k": 10, "l": l, "diversity": "distinct"}
    release = sqlanon.mondrian(con, "people", partition=partition, **asked)
    assert release.verify(against="people").holds
    rows = con.execute("select age, education, race, job, disease from people").fetchall()

    def allowed(part):
        return len(part) >= 10 and len({row[4] for row in part}) >= l

    slow = partitions(rows, 4, allowed, relaxed=partition == "relaxed")
    assert penalty_of(release, quasi) <= 1.1 * penalty(slow, 4)
    assert min(map(len, classes_of(release).values())) >= 10


@pytest.mark.property
@examples(16, HealthCheck.function_scoped_fixture)
@given(data=st.data())
def test_no_box_could_be_cut_and_all_columns_keep_their_promise(data, con):
    width = data.draw(st.sampled_from([1, 2, 3]))
    rows = data.draw(
        st.lists(st.tuples(*[st.integers(0, 4)] * 2, *[st.integers(0, 2)] * width), min_size=4, max_size=40)
    )
    k, diversity = data.draw(st.integers(2, 4)), data.draw(st.sampled_from(["distinct", "frequent"]))

    def most_diverse(part):
        columns = list(zip(*part, strict=True))[2:]
        if diversity == "distinct":
            return min(len(set(values)) for values in columns)
        return min(len(values) // max(map(values.count, values)) for values in columns)

    def stands(part):
        return len(part) >= k and most_diverse(part) >= l

    l = data.draw(st.integers(1, most_diverse(rows)))
    names = [f"s{number}" for number in range(width)]
    con.execute(f"create or replace table drawn ({', '.join(f'{name} integer' for name in ['a', 'b', *names])})")
    insert(con, "drawn", [list(row) for row in rows])
    release = sqlanon.mondrian(con, "drawn", quasi=["a", "b"], sensitive=names, k=k, l=l, diversity=diversity)
    tables = [classes_of(release, table) for table in release.tables]
    seen = 0
    for box in tables[0]:
        inside = [row for row in rows if all(box[2 * n] <= row[n] <= box[2 * n + 1] for n in range(2))]
        assert stands(inside)
        for place, boxes in enumerate(tables, start=2):
            assert sorted(row[place] for row in inside) == boxes[box]
        for n in range(2):
            assert {min(row[n] for row in inside), max(row[n] for row in inside)} == set(box[2 * n : 2 * n + 2])
            for at in range(4):
                parts = [[row for row in inside if (row[n] <= at) is side] for side in (True, False)]
                assert not all(map(stands, parts))
        seen += len(inside)
    assert seen == len(rows)
    assert release.verify(against="drawn").holds


def test_relaxed_boxes_are_parts_of_strict_ones(con):
    con.execute(
        "create table people as select (i % 4) // 3 as child, i % 5 as disease from range(24) as t(i)"
    ).fetchall()
    asked = {"quasi": "child", "sensitive": "disease", "k": 10}
    strict, relaxed = (sqlanon.mondrian(con, "people", partition=how, **asked) for how in ("strict", "relaxed"))
    # 18 people without a child and 6 with one: 6 are too few for a box, 12 and 12 are not
    assert {box: len(values) for box, values in classes_of(strict).items()} == {(0, 1): 24}
    assert {box: len(values) for box, values in classes_of(relaxed).items()} == {(0, 0): 12, (0, 1): 12}
    assert relaxed.verify(against="people").holds


# -- columns of every kind -----------------------------------------------------------------------------


def test_types_stay_and_names_give_way(con):
    con.execute(
        "create table visits as select (i % 40)::utinyint as age, i % 3 = 0 as age_low, date '2020-01-01' +"
        " (i % 50)::integer as day, (i % 30 / 4)::decimal(6, 2) as bill, (i % 23)::double as dose,"
        " timestamp '2020-01-01' + to_hours(i % 90) as seen, 'd' || i % 5 as disease from range(400) as t(i)"
    ).fetchall()
    quasi = ["age", "age_low", "day", "bill", "dose", "seen"]
    release = sqlanon.mondrian(con, "visits", quasi=quasi, sensitive="disease", k=20)
    table = release.table("data")
    named = dict(zip(table.columns, map(str, table.types), strict=True))
    assert named["age_low_2"] == named["age_high"] == "UTINYINT" and named["age_low"] == "VARCHAR"
    assert named["day_low"] == "DATE" and named["bill_high"] == "DECIMAL(6,2)" and named["dose_low"] == "DOUBLE"
    assert named["seen_low"] == "TIMESTAMP" and "age_unknown" not in named
    assert release.verify(against="visits").holds
    sides = "age < 20 AND bill < 3 AND dose <= 11.5 AND seen < TIMESTAMP '2020-01-02 12:00:00' AND NOT age_low"
    answer = release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {sides}")
    (truth,) = con.execute(f"select count(*) from visits where {sides}").fetchone()
    assert answer["n_low"][0] <= truth <= answer["n_high"][0] and answer["n_low"][0] <= answer["n"][0]


def test_a_null_is_a_value_of_its_own(con):
    con.execute(
        "create table people as select case when i % 5 > 0 then i % 40 end as age, case when i % 4 > 0 then"
        " 's' || i % 3 end as sex, 'd' || i % 5 as disease from range(200) as t(i)"
    ).fetchall()
    asked = {"quasi": ["age", "sex"], "sensitive": "disease"}
    release = sqlanon.mondrian(con, "people", k=6, **asked)
    assert release.table("data").columns == ["age_low", "age_high", "age_unknown", "sex", "disease"]
    assert release.verify(against="people").holds
    unknown = release.table("data").filter("age_unknown and age_low is null").aggregate("count(*)").fetchall()
    assert 0 < unknown[0][0] <= 40
    answer = release.estimate("SELECT COUNT(*) AS n FROM release WHERE age IS NULL AND sex IS NULL")
    assert answer["n_low"][0] <= 10 <= answer["n_high"][0]
    # one large box: 39 values and NULL are 40 points, and one of three texts or NULL
    release = sqlanon.mondrian(con, "people", k=150, **asked)
    answer = release.estimate("SELECT COUNT(*) AS n FROM release WHERE age IS NULL AND sex IS NULL")
    ((low, high),) = release.table("data").aggregate("min(age_low), max(age_high)").fetchall()
    assert answer["n"][0] == pytest.approx(200 / (high - low + 2) / 4)


def test_columns_of_nulls_and_constants_are_published(con):
    con.execute(
        "create table people as select null::integer as age, null::varchar as sex, 7 as zipcode, 'd' || i % 2 as"
        " disease from range(9) as t(i)"
    ).fetchall()
    release = sqlanon.mondrian(con, "people", k=3, **ROLES)
    assert set(classes_of(release)) == {(None, None, True, "[null]", 7, 7)}
    assert release.verify(against="people").holds
    assert release.estimate("SELECT COUNT(*) AS n FROM release WHERE age IS NULL AND zipcode = 7")["n"][0] == 9


def test_hostile_names_and_values(con):
    columns = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in NASTY_NAMES]
    terms = ", ".join(f"v[1 + (i + {n}) % {len(NASTY_VALUES)}] as {name}" for n, name in enumerate(columns))
    con.execute(f"create table hostile as select {terms}, i % 3 as s from range(60) as t(i), (select ? as v)",
                [NASTY_VALUES]).fetchall()  # fmt: skip
    release = sqlanon.mondrian(con, "hostile", quasi=NASTY_NAMES[:5], sensitive="s", k=4)
    assert release.verify(against="hostile").holds
    first = columns[0]
    for value in NASTY_VALUES:
        quoted = value.replace("'", "''")
        answer = release.estimate(f"SELECT COUNT(*) AS n FROM release WHERE {first} = '{quoted}'")
        (truth,) = con.execute(f"select count(*) from hostile where {first} = '{quoted}'").fetchone()
        assert answer["n_low"][0] <= truth <= answer["n_high"][0]


# -- hierarchies ---------------------------------------------------------------------------------------

JOBS = "leaf,group,all\nnurse,clinic,*\nsurgeon,clinic,*\nclerk,office,*\nboss,office,*\nnone,none,*\n"


@pytest.fixture
def jobs(con, tmp_path):
    """Keep people with jobs, and a hierarchy of these."""
    con.execute(
        "create table people as select (['nurse', 'surgeon', 'clerk', 'boss', 'none'])[1 + i % 5] as job,"
        " 20 + i % 30 as age, 'd' || i % 4 as disease from range(300) as t(i)"
    ).fetchall()
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


def test_a_hierarchy_is_cut_between_the_children_of_a_node(con, jobs):
    release = sqlanon.mondrian(con, "people", quasi=["job"], sensitive="disease", k=70, hierarchy={"job": jobs})
    # 120 in the clinic, 120 in the office, 60 without a job, who are hidden with others
    assert {box: len(values) for box, values in classes_of(release).items()} == {("clinic",): 120, ("*",): 180}
    assert release.verify(against="people").holds
    assert ["clinic", "*"] in release.manifest["parameters"]["hierarchies"]["job"]
    answer = release.estimate("SELECT COUNT(*) AS n FROM release WHERE job = 'nurse'")
    # half of the clinic, and one of the five values that the root stands for
    assert answer[["n", "n_low", "n_high"]].values.tolist() == [[60 + 180 / 5, 0, 300]]


def test_a_hierarchy_that_lacks_a_value_is_refused(con, jobs):
    jobs.write_text(JOBS.replace("nurse,clinic,*\n", ""))
    with pytest.raises(sqlanon.UsageError, match=r"1 values of 'job' are not in its hierarchy: 'nurse'"):
        sqlanon.mondrian(con, "people", quasi=["job"], sensitive="disease", k=5, hierarchy={"job": jobs})
    with pytest.raises(sqlanon.UsageError, match="a hierarchy is given for 'disease', which quasi does not name"):
        sqlanon.mondrian(con, "people", quasi=["job"], sensitive="disease", k=5, hierarchy={"disease": jobs})


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"k": 9}, sqlanon.DataError, "k = 9 needs at least 9 rows; the source has 8; the largest k that works is 8"),
        ({"k": 2, "l": 6}, sqlanon.DataError, "l = 6 asks for 6 different values of 'disease'; the source has 5; the"
                                              " largest l that works is 4"),
        ({"k": 1}, sqlanon.UsageError, "k 1 hides nobody among others; k is a whole number of at least 2"),
        ({"k": 2, "l": 0}, sqlanon.UsageError, "l 0 is no number of values; l is a whole number of at least 1"),
        ({"k": 2, "partition": "loose"}, sqlanon.UsageError, "partition = 'loose' is none of strict, relaxed"),
        ({"k": 2, "l": 3, "sensitive": ["disease", "sex"], "quasi": ["age"]}, sqlanon.DataError,
         "l = 3 asks for 3 different values of 'sex'; the source has 2; the largest l that works is 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(con, asked, error, words):
    with pytest.raises(error) as refused:
        sqlanon.mondrian(con, MICRODATA, **{**ROLES, **asked})
    assert str(refused.value) == words


def test_tables_that_cannot_be_published_are_refused(con):
    con.execute(
        "create table people as select 1 as age, [1] as tags, null as disease, 5 as ssn from range(3)"
    ).fetchall()
    for table, asked, words in (
        ("people", {"quasi": "age", "sensitive": "tags"}, "column 'tags' holds nested values"),
        ("people", {"quasi": "tags", "sensitive": "disease"}, "column 'tags' holds nested values"),
        ("people", {"quasi": "age", "sensitive": "disease"}, "3 rows have no value in the sensitive column 'disease'"),
        ("people", {"quasi": "age", "sensitive": "disease", "id": "ssn", "nulls": "value"}, "1 person has more than"),
        ("people", {"quasi": "age", "sensitive": "disease", "nulls": "drop"}, "the source has no rows to publish"),
    ):
        with pytest.raises(sqlanon.SqlanonError, match=words):
            sqlanon.mondrian(con, table, k=2, **asked)


def test_a_column_without_a_type_is_refused(con):
    con.execute("create view untyped as select null as u, 'a' as tag from range(3)").fetchall()
    if con.execute("describe untyped").fetchone()[1] != '"NULL"':
        pytest.skip("this DuckDB takes NULL for a whole number")
    with pytest.raises(sqlanon.UsageError, match="column 'u' has no type, for it is always NULL; cast it"):
        sqlanon.mondrian(con, "untyped", k=2, quasi="u", sensitive="tag")


# -- real data -------------------------------------------------------------------------


def test_columns_of_few_values_are_not_cut_before_those_of_many(con):
    con.execute("create table t as select i // 20 as a, i % 10 as b, 'v' || i % 7 as s from range(40) r(i)").fetchall()
    release = sqlanon.mondrian(con, "t", quasi=["a", "b"], sensitive="s", k=20)
    boxes = set(release.table("data").project("a_low, a_high, b_low, b_high").fetchall())
    assert boxes == {(0, 1, 0, 4), (0, 1, 5, 9)}


HIERARCHIES = {  # as other tools write them
    "no line of names, ;": ("edu", "BA;Higher;*\nMA;Higher;*\nPhD;Higher;*\n"),
    "no line of names, child and parent": ("edu", "Higher,*\nBA,Higher\nMA,Higher\n"),
    "no line of names, a value repeated": ("edu", "BA,BA,*\nMA,MA,*\n"),
    "names": ("edu", "edu,level,all\nBA,Higher,*\nMA,Higher,*\n"),
    "whole numbers of doubles": ("age", "age;level\n20;*\n21;*\n22;*\n"),
    "doubles of whole numbers": ("years", "20.0;20-21;*\n021.00;20-21;*\n22;22;*\n"),
    "decimals": ("paid", "20;*\n21.0;*\n22.00;*\n"),
}


def test_rows_lie_in_an_order_that_tells_nothing(con, patients):
    con.execute("create table turned as select * from patients order by ssn desc").fetchall()
    one, other = (sqlanon.mondrian(con, table, k=10, **ROLES) for table in ("patients", "turned"))
    assert one.table("data").fetchall() == other.table("data").fetchall()


def test_hierarchies_are_read_as_other_tools_write_them(con, tmp_path):
    values = {"age": "20.0::double + i % 3", "years": "20 + i % 3", "paid": "(20 + i % 3)::decimal(5, 2)"}
    values["edu"] = "['BA', 'MA'][i % 2 + 1]"
    columns = ", ".join(f'{values[column]} as "{form}"' for form, (column, _) in HIERARCHIES.items())
    con.execute(f"create table people as select {columns}, 'd' || i % 5 as disease from range(40) r(i)").fetchall()
    trees = {form.upper(): str(tmp_path / f"{number}.csv") for number, form in enumerate(HIERARCHIES)}
    for path, (_, text) in zip(trees.values(), HIERARCHIES.values(), strict=True):
        Path(path).write_text(text)
    release = sqlanon.mondrian(con, "people", quasi=list(HIERARCHIES), sensitive="disease", k=3, hierarchy=trees)
    assert release.verify(against="people").holds
    for form in HIERARCHIES:
        wanted = con.execute(f'select distinct cast("{form}" as varchar) from people').fetchall()
        assert set(release.table("data").project(f'"{form}"').distinct().fetchall()) == set(wanted), form
