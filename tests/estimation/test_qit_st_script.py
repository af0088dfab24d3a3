"""Printed scripts run in the engine's shell as they are: they end in the answer, or in what it is made of."""

import duckdb
import pandas as pd
import pytest

import sqlanon
from tests.databases import connect

PEOPLE = (
    "create table people as select i as id, 20 + i * 7 % 60 as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " case when i % 5 > 0 then i % 11 end as area, greatest(0, i % 8 - 1) as value from range(241) t(i)"
)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    connection = connect()
    connection.execute(PEOPLE)
    out = tmp_path_factory.mktemp("scripts") / "release"
    roles = {"quasi": ["age", "sex", "area"], "sensitive": "value", "id": "id", "unique_quasi": "keep"}
    return sqlanon.anatomy(connection, "people", **roles, l=3, key="1" * 64, out=out)


def run(script):
    """Execute a script as a shell does; return the rows of its last statement."""
    shell = connect()
    for statement in shell.extract_statements(script):
        told = shell.execute(statement)
    return told.df()


HIDDEN = "SELECT COUNT(*) FROM release WHERE value = 1 AND age < 50"
EXACT = [
    "SELECT COUNT(*) FROM release WHERE value = 1",
    "SELECT AVG(age) FROM release",
    "SELECT sex, COUNT(*) AS n, MEDIAN(age) AS m FROM release WHERE area > 3 GROUP BY sex ORDER BY n DESC",
    "SELECT value, COUNT(*) AS n FROM release GROUP BY value ORDER BY value LIMIT 9",
]


@pytest.mark.parametrize("sql", EXACT)
def test_what_the_release_settles_is_the_query_over_its_files(release, sql):
    script, told = release.estimation_sql(sql), release.estimate(sql)
    assert "ends in the answer" in script.splitlines()[0]
    found = run(script)
    pd.testing.assert_frame_equal(found, told[list(found.columns)], check_dtype=False)


@pytest.mark.parametrize("estimator", ["ridge", "uniform"])
def test_other_scripts_end_in_the_moments_and_say_so(release, estimator):
    script = release.estimation_sql(HIDDEN, estimator)
    assert f"ends in what {estimator} is computed from" in script.splitlines()[0]
    assert len(run(script)) and "-- moment\n" in script and "-- answer\n" not in script


def test_the_uniform_answer_is_a_sum_of_the_moments(release):
    found = run(release.estimation_sql(HIDDEN, "uniform"))
    (value,) = release.estimate(HIDDEN, "uniform")["count"]
    assert found.loc[found["code"] == 1, "uniform"].sum() == pytest.approx(value)


def test_a_damaged_release_stops_the_script(release):
    script = release.estimation_sql(HIDDEN, "uniform")
    path = f"{release.directory}/st.parquet"
    damaged = script.replace(f"read_parquet('{path}', hive_partitioning = false)", f"(select * from '{path}' limit 9)")
    assert damaged != script
    with pytest.raises(duckdb.ConversionException, match="the release is damaged"):
        run(damaged)
