"""The script beside a release: its weights sum to the paper's estimate, and a join without them does not."""

import os

import pytest

import sqlanon
from tests.databases import connect

# two groups of two: everybody above 40 earns 60 or 80, everybody below 20
PEOPLE = (
    "create table people as select * from (values (1, 24, 'no', 20), (2, 30, 'no', 20), (3, 44, 'yes', 60),"
    " (4, 52, 'yes', 80)) t(id, age, degree, income)"
)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Publish people, then run the script where the files are, without sqlanon."""

    def opened(sql, method=sqlanon.anatomy, **roles):
        connection = connect()
        connection.execute(sql)
        release = method(connection, "people", out=tmp_path / "release", key="0" * 64, **roles)
        monkeypatch.chdir(tmp_path / "release")
        shell = connect()
        shell.execute((tmp_path / "release" / "estimate.sql").read_text())
        return release, lambda query: shell.execute(query).fetchall()

    return opened


def test_a_join_without_weights_is_wrong_where_the_weights_are_right(ask):
    _, query = ask(PEOPLE, quasi=["age", "income"], sensitive="degree", id="id", l=2)
    # two of four people have a degree, and each of the two groups lists it once
    assert query("select count(*) from qit join st using (group_id) where degree = 'yes'") == [(4,)]
    assert query("select sum(weight) from weighted where degree = 'yes'") == [(2.0,)]
    assert query("select count(*), sum(weight) from weighted") == [(8, 4.0)]


QUERIES = [
    ("count(*)", "sum(weight)", "disease = 'd1' and age < 50"),
    ("count(*)", "sum(weight)", "disease in ('d1', 'd2') and sex = 'F' or disease = 'd3'"),
    ("sum(age)", "sum(weight * age)", "disease = 'd1'"),
    ("avg(age)", "sum(weight * age) / sum(weight)", "disease <> 'd0' and zipcode > 10003"),
]
HOSPITAL = (
    "create table people as select i as ssn, 20 + i * 7 % 60 as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 10000 + i % 11 as zipcode, 'd' || greatest(0, i % 8 - 1) as disease from range({rows}) t(i)"
)


@pytest.mark.parametrize(("rows", "l"), [(240, 4), (241, 3)])  # with groups of 4 alone no fraction is rounded
def test_the_weights_sum_to_the_uniform_estimate(ask, rows, l):
    sql = HOSPITAL.format(rows=rows)
    release, query = ask(sql, quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn", l=l)
    for aggregate, weights, condition in QUERIES:
        told = release.estimate(f"SELECT {aggregate} AS x FROM release WHERE {condition}", estimator="uniform")
        (found,) = query(f"select {weights} from weighted where {condition}")
        expected = told["x"][0]
        assert found[0] == (expected if rows == 240 else pytest.approx(expected, rel=1e-12))


def test_names_that_sql_reads_differently(ask):
    sql = (
        'create table people as select i as id, i % 5 as weight, i % 7 as "group_id", i % 3 as "a""b\'; --",'
        ' i % 2 as "sized_group", \'v\' || i % 4 as "count" from range(40) t(i)'
    )
    quasi = ["weight", "group_id", "a\"b'; --", "sized_group"]
    release, query = ask(sql, quasi=quasi, sensitive="count", id="id", l=4)
    told = release.estimate("SELECT COUNT(*) AS x FROM release WHERE \"count\" = 'v1' AND weight < 3", "uniform")
    assert query("select sum(weight_2) from weighted where \"count\" = 'v1' and weight < 3") == [(told["x"][0],)]


def test_parts_of_a_table_are_read_together(ask, tmp_path):
    from sqlanon.releases.companions.estimate_script import write_estimate_script

    release, _ = ask(PEOPLE, quasi=["age", "income"], sensitive="degree", id="id", l=2)
    files = {"qit-2.parquet": {}, "qit-1.parquet": {}, "st.parquet": {}}
    text = write_estimate_script({**release.manifest, "files": files}, {})
    assert "read_parquet(['qit-1.parquet', 'qit-2.parquet'])" in text
    assert os.fspath(tmp_path) not in text


@pytest.mark.parametrize("rows", [400, 403])  # of 403 rows three are left over, which some groups hold beside theirs
def test_weights_of_randomized_rows_sum_to_the_closed_form(ask, rows):
    sql = HOSPITAL.format(rows=rows)
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease", "zipcode"], "id": "ssn", "residue": "keep"}
    release, query = ask(sql, sqlanon.splu, **roles, gamma={"disease": 2, "zipcode": 4})
    conditions = [
        ("weighted_1", "disease in ('d0', 'd4') and sex = 'F'"),
        ("weighted_2", "zipcode < 10004 and sex = 'M'"),
    ]
    for view, condition in conditions:
        told = release.estimate(f"SELECT COUNT(*) AS x FROM release WHERE {condition}", "closed_form")["x"][0]
        ((found,),) = query(f"select sum(weight) from {view} where {condition}")
        assert found > 0 and found == pytest.approx(told, rel=1e-9)


def test_randomized_columns_that_sql_reads_differently(ask):
    sql = (
        "create table people as select i as id, i % 5 as weight, i % 3 as channels, i % 7 as asked_value,"
        " case when i % 4 > 0 then 'v' || i % 4 end as \"a\nb; drop\" from range(80) t(i)"
    )
    roles = {"quasi": ["weight", "channels", "asked_value"], "sensitive": ["a\nb; drop"], "id": "id", "nulls": "value"}
    _, query = ask(sql, sqlanon.splu, **roles, gamma=2)
    counts = dict(query('select "a\nb; drop", sum(weight_2) from weighted group by all'))
    assert len(counts) == 4 and sum(counts.values()) == pytest.approx(80)
