"""Printed scripts run in the engine's shell as they are, and end in the answer that `estimate` gives."""

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


QUERIES = [
    "SELECT COUNT(*) FROM release WHERE value = 1 AND age < 50",
    "SELECT sex, COUNT(*) AS n, AVG(age), SUM(area) FROM release WHERE value < 3 GROUP BY sex ORDER BY n DESC",
    "SELECT value, area, COUNT(*) AS n FROM release WHERE sex = 'F' GROUP BY value, area ORDER BY area, value LIMIT 9",
    "SELECT AVG(value) AS v, SUM(value), COUNT(*) FROM release WHERE area > 3",
    "SELECT COUNT(*) FROM release WHERE age > 30 + 5 * value OR sex = 'M' AND value = 2",
    "SELECT sex, AVG(value) FROM release WHERE value > 100 GROUP BY sex",
    "SELECT COUNT(*), SUM(age), AVG(value) FROM release WHERE age < 0 AND value = 1",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_a_script_ends_in_the_answer(release, sql):
    told = release.estimate(sql, "uniform")
    found = run(release.estimation_sql(sql, "uniform"))
    assert list(found.columns) == list(told.columns) and len(found) == len(told)
    values = [name for name in told.columns if not name.endswith(("_std_error", "_low", "_high"))]
    pd.testing.assert_frame_equal(found[values], told[values], check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM release WHERE value = 1", "SELECT AVG(age) FROM release"])
def test_what_the_release_settles_has_no_error_under_any_estimator(release, sql):
    script = release.estimation_sql(sql)
    assert "ends in the answer" in script.splitlines()[0]
    assert run(script).to_numpy().tolist() == release.estimate(sql).to_numpy().tolist()


@pytest.mark.parametrize("estimator", ["ridge"])
def test_other_scripts_end_in_the_moments_and_say_so(release, estimator):
    script = release.estimation_sql("SELECT COUNT(*) FROM release WHERE value = 1 AND age < 50", estimator)
    assert f"ends in what {estimator} is computed from" in script.splitlines()[0]
    assert len(run(script)) and "-- moment\n" in script and "-- answer\n" not in script


def test_a_damaged_release_stops_the_script(release):
    script = release.estimation_sql(QUERIES[0], "uniform")
    path = f"{release.directory}/st.parquet"
    damaged = script.replace(f"read_parquet('{path}', hive_partitioning = false)", f"(select * from '{path}' limit 9)")
    assert damaged != script
    with pytest.raises(duckdb.ConversionException, match="the release is damaged"):
        run(damaged)
