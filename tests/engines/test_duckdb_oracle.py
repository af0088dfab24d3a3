"""Every statement has the same rows with DuckDB's optimizer and without; in thorough runs, with 1 and 4 threads too."""

import warnings

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from tests.caller_settings import KEY
from tests.engine_oracle import WAYS, Difference, compared
from tests.examples import PROFILE, examples

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "key": KEY}
REQUESTS = {
    "anatomy": {"l": 2},
    "splu": {"gamma": 2},
    "robust": {"r": 2, "background_from": "sex", "max_suppressed": 0.9},
    "uncertain": {"k": 2, "l": 2, "threshold": 0.5, "influence": "learn"},
    "mondrian": {"k": 2, "l": 2},
}
IN_QUICK = ("without optimizer",)
QUESTION = "SELECT sex, COUNT(*) AS n FROM release WHERE disease <> 'd1' GROUP BY sex ORDER BY n, sex"


@st.composite
def people(draw):
    """Draw a SELECT that makes people: one or many, few values or many, some of them missing."""
    # what is drawn first is the example of a quick run: it says most
    count = draw(st.sampled_from([40, 1, 2, 24, 90]))
    ages, sexes, diseases = (draw(st.sampled_from(counts)) for counts in ([9, 1, 60], [2, 1, 3], [7, 9, 2, 1]))
    missing = draw(st.sampled_from([5, 2, 100]))
    return (
        f"select i as ssn, case when i % {missing} > 0 then 20 + i * 7 % {ages} end as age, 's' || i % {sexes} as sex,"
        f" 'd' || (i * i) % {diseases} as disease from range({count}) as t(i)"
    )


SOURCES = {
    "table": "create table patients as {people}",
    "view": "create view patients as {people}",
    "joined view": "create table one_side as {people}; create view patients as"
    " select a.ssn, a.age, b.sex, b.disease from one_side as a join one_side as b on a.ssn = b.ssn",
}


def published(connection, method, source):
    """Return the tables of a release, verified and asked, or the words that refuse it."""
    try:
        release = getattr(sqlanon, method)(connection, source, **ROLES, **REQUESTS[method])
        assert release.verify(against=source).holds is not False
        release.estimate(QUESTION)
    except sqlanon.DataError as error:
        return str(error)
    return {name: release.engine.rows(f"select * from {table}") for name, table in release.tables.items()}


@pytest.mark.property
@pytest.mark.parametrize("method", REQUESTS)
@examples(2)
@given(select=people(), kind=st.sampled_from(["joined view", "table", "view"]))
def test_every_statement_has_the_same_rows_in_every_way(tmp_path_factory, method, select, kind):
    with duckdb.connect(config={"threads": 2}) as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        connection.execute(SOURCES[kind].format(people=select)).fetchall()
        with compared(IN_QUICK if PROFILE == "quick" else tuple(WAYS)) as counts:
            release = published(connection, method, "patients")
        assert counts["statements"] > 0
        path = tmp_path_factory.mktemp("sources") / "patients.parquet"
        connection.execute(f"copy patients to '{path}' (format parquet)").fetchall()
        # under a key rows are drawn by their identifiers, wherever they lie
        assert published(connection, method, str(path)) == release


def test_a_statement_that_is_another_every_time_is_seen(con):
    engine = DuckDBEngine(con)
    with compared(["without optimizer"]), pytest.raises(Difference, match="without optimizer"):
        engine.rows("select current_timestamp::varchar as now")
