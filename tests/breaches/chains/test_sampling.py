"""breach --samples: estimates between the bounds of a chain, which hold the enumerated truth, and what is refused."""

import json

import pandas as pd
import pytest

import sqlanon
from sqlanon.breaches import component_weights
from sqlanon.breaches.chains import sampling, small_pieces
from tests.breaches.chains.test_chain_bounds import VIEWS, find_both

QUERIES = ["SELECT i, j FROM t", "SELECT DISTINCT j, k FROM t", "SELECT DISTINCT k, p FROM t"]
ASKED = {"base": "t", "views": QUERIES, "secret": "SELECT i, p FROM t"}


@pytest.mark.thorough
@pytest.mark.parametrize("most", [20_000, 60], ids=["all tuples at hand", "few tuples at hand"])
@pytest.mark.parametrize("views", VIEWS.values(), ids=VIEWS)
def test_estimates_hold_the_enumerated_truth(con, views, most, monkeypatch):
    monkeypatch.setattr(component_weights, "LARGEST_JOIN", 0)
    monkeypatch.setattr(small_pieces, "MOST_NODES", 0)
    monkeypatch.setattr(sampling, "MOST_TUPLES", most)
    found, pairs = find_both(con, views, "", samples=500, seed=1)
    sampled = [(row, exact) for row, exact in pairs if row.note == "sampled"]
    assert (len(sampled) > len(pairs) / 2) == (most > 60) and sampled
    assert f"{len(sampled):,} probabilities (note 'sampled')" in found.notes[1]
    missed = sum(abs(float(exact.unrestricted) - row.probability) > row.error_bound + 1e-12 for row, exact in sampled)
    assert missed <= 0.02 * len(sampled)  # by 1 % each, and the seed is fixed
    for row, exact in pairs:
        if row.note != "sampled":
            assert abs(float(exact.unrestricted) - row.probability) <= row.error_bound + 1e-12


@pytest.fixture
def sparse(con):
    """Make a chain of one large piece, in which few rows go through each value."""
    con.execute("""
        create table t as select i, hash(i) % 95 as j, hash(i, 1) % 95 as k, hash(i, 2) % 13 as p
        from range(280) r(i)""").fetchall()
    return con


@pytest.mark.thorough
def test_a_seed_draws_the_same_and_samples_narrow(sparse, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ASSOCIATIONS", 20)
    monkeypatch.setattr(sampling, "MOST_TUPLES", 1000)
    bounds = sqlanon.breach(sparse, **ASKED).df().set_index(["id", "property"])
    first, again, other = (
        sqlanon.breach(sparse, **ASKED, samples=300, seed=seed).df().set_index(["id", "property"]).loc[bounds.index]
        for seed in (5, 5, 6)
    )
    assert first.equals(again) and not first.equals(other)
    sampled = first.note == "sampled"
    assert sampled.sum() == 20 and set(bounds.note[sampled]) == {"bounds"}
    assert (bounds.error_bound - first.error_bound)[sampled].min() > 0
    assert first.error_bound[sampled].mean() < bounds.error_bound[sampled].mean() / 2
    assert first[~sampled].equals(bounds[~sampled])


@pytest.mark.thorough
def test_the_verb_says_that_they_are_estimates(sparse, shell, tmp_path):
    sparse.execute(f"copy t to '{tmp_path}/t.parquet'").fetchall()
    asked = [
        "breach",
        "--base",
        str(tmp_path / "t.parquet"),
        *(f"--view={q.replace('FROM t', 'FROM base')}" for q in QUERIES),
    ]
    asked += ["--secret", "SELECT i, p FROM base", "--samples", "100", "--format", "json"]
    told = shell(*asked)
    assert "estimates and not certificates" in " ".join(told.stderr.split()) and "99 %" in told.stderr
    assert any(row["note"] == "sampled" for row in json.loads(told.stdout)["associations"])


def test_postgres_draws_the_same(sparse, server):
    import psycopg

    rows = sparse.execute("select i, nullif(j, 7), k, p from t").fetchall()
    sparse.execute("create or replace table t as select * replace (nullif(j, 7) as j) from t").fetchall()
    with psycopg.connect(server.new_database("drawn"), autocommit=True) as other:
        other.execute("create table t (i integer, j integer, k integer, p integer)")
        other.cursor().executemany("insert into t values (%s, %s, %s, %s)", rows)
        here, there = (
            sqlanon.breach(each, **ASKED, samples=128, seed=2).df().sort_values(["id", "property"], ignore_index=True)
            for each in (sparse, other)
        )
    assert (here.note == "sampled").sum() > 5
    pd.testing.assert_frame_equal(here, there, check_dtype=False, check_exact=False, atol=1e-12)


def test_nothing_is_drawn_where_everything_is_exact(con):
    con.execute("create table t as select i, i // 2 as j, i // 3 as k, i % 2 as p from range(40) r(i)").fetchall()
    assert "nothing was drawn" in sqlanon.breach(con, **ASKED, samples=200).notes[0]
    views = ["SELECT i, j FROM t", "SELECT j, p FROM t"]
    assert "nothing was drawn" in sqlanon.breach(con, **ASKED | {"views": views}, samples=200).notes[0]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"samples": 99}, "from 100 to 20,000"),
        ({"samples": True}, "is not a whole number"),
        ({"samples": 20_001}, "from 100 to 20,000"),
        ({"seed": 1}, "say samples"),
        ({"samples": 200, "seed": -1}, "from 0 to"),
        ({"samples": 200, "model": "restricted"}, "the model unrestricted"),
    ],
)
def test_what_cannot_be_drawn_is_refused(con, given, reason):
    con.execute("create table t (i integer, j integer, k integer, p integer)")
    with pytest.raises(sqlanon.UsageError, match=reason):
        sqlanon.breach(con, **ASKED, **given)
