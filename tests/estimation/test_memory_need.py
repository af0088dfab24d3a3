"""What an answer would hold beside the engine: told before it is read, near what it holds, refused where it is more."""

import functools
import re
import tracemalloc

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import AnswerError
from sqlanon.estimation import failures

KEY = "5" * 64
TABLE = """create table people as select i as id, i % 41 as age, (i // 41) % 9 as town, hash(i) % 5 as class_of,
    (hash(i * 3 + 1) % 11 * (hash(i * 7) % 11))::integer as illness from range(3000) as t(i)"""
PUBLISH = {
    "anatomy": {"l": 4},
    "robust": {"r": 4, "background_from": [["class_of"]], "max_suppressed": 0.9},
    "splu": {"gamma": 3},
    "mondrian": {"k": 6, "l": 3},
}
QUESTIONS = [
    ("anatomy", "age, town, illness", "count(*)"),
    ("robust", "town", "count(*)"),
    ("splu", "age, town", "sum(class_of)"),
    ("mondrian", "age, town, illness", "count(*)"),
]


@pytest.fixture(scope="module")
def releases():
    con = duckdb.connect()
    con.execute("set threads = 1")
    con.execute(TABLE)
    options = {"con": con, "source": "people", "quasi": ["age", "town", "class_of"], "sensitive": "illness", "id": "id"}
    return functools.cache(lambda name: getattr(sqlanon, name)(**options, **PUBLISH[name], key=KEY))


def ask(release, keys, aggregate):
    """Return a question, and the most that arrays hold while it is answered."""
    sql = f"select {keys}, {aggregate} as x from release where class_of < 3 and illness < 50 group by {keys}"
    release.ask(sql)  # what depends on the release alone is made once
    tracemalloc.start()
    try:
        release.ask(sql)
        return sql, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("method", "keys", "aggregate"), QUESTIONS)
def test_a_question_is_refused_where_it_would_exceed_what_the_limit_leaves(
    releases, monkeypatch, method, keys, aggregate
):
    sql, peak = ask(releases(method), keys, aggregate)
    monkeypatch.setattr(failures, "ALWAYS", 0)
    monkeypatch.setattr(DuckDBEngine, "free_memory", lambda self: int(0.8 * peak))
    with pytest.raises(AnswerError, match=r"would hold about .* beside the engine, and memory_limit leaves") as refusal:
        releases(method).ask(sql)
    assert "\n" not in str(refusal.value)
    assert refusal.value.exit_code == 3
    needed = float(re.search(r"about (\d+) MB", str(refusal.value))[1]) * 1e6
    assert 0.8 * peak - 1e6 < needed < 2.5 * peak + 2e6, "told what it holds, and not far more"
    monkeypatch.setattr(DuckDBEngine, "free_memory", lambda self: int(needed + 2e6))
    releases(method).ask(sql)


def test_the_groups_that_fit_are_told(releases, monkeypatch):
    monkeypatch.setattr(failures, "ALWAYS", 0)
    monkeypatch.setattr(DuckDBEngine, "free_memory", lambda self: 2_000_000)
    with pytest.raises(AnswerError, match=r"; (\d+) of its 369 groups would fit: group by fewer") as refusal:
        releases("anatomy").ask("select age, town, count(*) from release where illness = 4 group by all")
    fitting = int(re.search(r"; (\d+) of", str(refusal.value))[1])
    assert 10 < fitting < 369
    releases("anatomy").ask(f"select town, count(*) from release where illness = 4 and town < {fitting} group by town")


def test_what_a_release_needs_to_be_solved_is_refused_with_the_estimator_that_fits(releases, monkeypatch):
    release = sqlanon.anatomy(
        releases("anatomy").engine.connection,
        "people",
        quasi=["age"],
        sensitive="illness",
        l=4,
        key=KEY,
        unique_quasi="keep",
    )
    monkeypatch.setattr(failures, "ALWAYS", 0)
    monkeypatch.setattr(DuckDBEngine, "free_memory", lambda self: 30_000)
    with pytest.raises(AnswerError, match='estimator="uniform" solves nothing'):
        release.ask("select count(*) from release where age = 3 and illness = 4")
    assert release.ask("select count(*) from release where age = 3 and illness = 4", estimator="uniform").columns
    queries = [f"select count(*) from release where age = {age} and illness = 4" for age in range(12)]
    assert [type(answer) for answer in release.estimate_each(queries)] == [AnswerError] * 12, "a batch, too"


def test_a_limit_of_the_session_is_read():
    con = duckdb.connect()
    con.execute("set memory_limit = '2GB'")
    assert 1.9e9 < DuckDBEngine(con).free_memory() <= 2.01e9
