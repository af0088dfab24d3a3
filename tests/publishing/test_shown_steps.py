import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.methods.uncertain.influence import Learn
from sqlanon.publishing.plan_text import show_steps
from sqlanon.publishing.release_request import ReleaseRequest

WORDS = {
    "anatomy": {"l": 3},
    "splu": {"gamma": 4},
    "robust": {"r": 3, "background_from": [("sex",)], "max_suppressed": 0.5},
    "mondrian": {"k": 5, "l": 2},
    "uncertain": {"k": 5, "l": 2, "threshold": 0.3, "influence": Learn()},
}


@pytest.fixture
def people(con):
    con.execute(
        "create table people as select 'p' || i as ssn, if(i % 3 = 0, 'F', 'M') as sex, i % 40 as age,"
        " 'd' || i % 7 as disease from range(210) r(i)"
    )
    return DuckDBEngine(con)


def steps_of(engine, method, count, **parameters):
    steps = []
    show_steps(
        ReleaseRequest(method, "people", ("sex", "age"), ("disease",), ("ssn",), unique_quasi="keep"),
        engine, count, steps.append, **parameters,
    )  # fmt: skip
    return steps


@pytest.mark.parametrize("method", WORDS)
def test_every_relation_is_shown_in_the_order_in_which_it_is_made(people, method, monkeypatch):
    made = []
    create = DuckDBEngine.create
    monkeypatch.setattr(
        DuckDBEngine, "create", lambda self, step, lasting=False: (made.append(step), create(self, step, lasting))
    )
    steps = steps_of(people, method, 2, **WORDS[method])
    published = [step.name for step in steps if step.name in ("qit", "st", "data")]
    assert [step.name for step in steps if step.kind != "query"] == [step.name for step in made] + published
    assert published == {"splu": ["data"], "mondrian": ["data"]}.get(method, ["qit", "st"])
    source = steps[0]
    assert (source.name, source.row_count, len(source.rows)) == ("source", 210, 2)
    assert all(step.sentence and len(step.rows) == min(step.row_count, 2) for step in steps)
    measured = {step.name for step in steps if step.seconds is not None}
    assert measured == {step.name for step in made if step.kind == "table"}


def test_nothing_stays_behind(people, con):
    steps_of(people, "anatomy", 3, l=3)
    assert con.sql("select table_name from duckdb_tables() union all select view_name from duckdb_views()"
                   " where not internal").fetchall() == [("people",)]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        (("--out", "ward"), "--out"),
        (("--require", "rows >= 1"), "--require"),
        (("--ledger", "book.db"), "--ledger"),
        (("--sql",), "--sql"),
        (("--format", "json"), "--format"),
        (("--overwrite", "--out", "ward"), "--out, --overwrite"),
    ],
)
def test_what_would_write_or_judge_a_release_is_refused_beside_microdata(shell, words, left_out):
    run = shell("publish", "anatomy", "patients.parquet", "--quasi", "age", "--sensitive", "disease", "-l", "2",
                "--show-steps", "3", *words)  # fmt: skip
    assert run.returncode == 2
    assert f"--show-steps prints microdata for your own eyes and publishes nothing: leave out {left_out}" in run.stderr
