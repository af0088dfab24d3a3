"""Chains of views with too many worlds: bounds hold what enumeration finds, and what cannot be bounded is refused."""

import math
import random

import pytest

import sqlanon
from sqlanon.breaches import analysis, enumeration
from sqlanon.breaches.enumeration import join_candidates, measure_associations
from tests.databases import insert
from tests.examples import PROFILE, TIMES

CASES = math.ceil(70 * TIMES[PROFILE])
VIEWS = {
    "three in a row": (("i, j", "j, k", "k, p"), ""),
    "four in a row": (("i, j", "j, k", "k, w", "w, p"), " WHERE k % 100 < 2"),
    "two columns between neighbours": (("w, p", "j, k, w", "i, j, k"), ""),
}


def draw_cases(views, seed):
    """Return small tables, each with values of its own: [(i, j, k, w, p), …]."""
    draw = random.Random(f"{views}{seed}")
    many = dict(zip("ijkwp", (4, 3, 3, 2, 3), strict=True))
    return [
        [tuple(100 * case + draw.randrange(many[name]) for name in "ijkwp") for _ in range(draw.randint(3, 5))]
        for case in range(CASES)
    ]


def enumerate_worlds(rows, views, condition):
    """Return {(id, property): figures} by counting the worlds of one small table."""
    parts = [tuple(view.split(", ")) for view in sorted(views, key=lambda view: ("i" not in view, "p" not in view))]
    named = []
    for row in rows:
        line = dict(zip("ijkwp", row, strict=True))
        matches = {f"match_{n}": int("k" not in part or condition(line["k"])) for n, part in enumerate(parts, start=1)}
        named.append(line | {"identifier": line["i"], "property": line["p"]} | matches)
    inner = [tuple({"i": "identifier", "p": "property"}.get(name, name) for name in part) for part in parts]
    asked = [*{(row["identifier"], row["property"]) for row in named if condition(row["k"])}]
    return dict(zip(asked, measure_associations(join_candidates(named, inner), asked), strict=True))


def find_both(con, views, where, **options):
    """Return what breach finds where enumeration is out of reach, and what enumeration finds, by id and property."""
    cases, truth = draw_cases(views, where), {}
    for rows in cases:
        truth |= enumerate_worlds(rows, views, (lambda k: k % 100 < 2) if where else (lambda _: True))
    con.execute("create table t (i integer, j integer, k integer, w integer, p integer)")
    insert(con, "t", [row for rows in cases for row in rows])
    queries = [f"SELECT DISTINCT {view} FROM t" for view in views]
    found = sqlanon.breach(con, base="t", views=queries, secret=f"SELECT i, p FROM t{where}", **options)
    got = {(row.id, row.property): row for row in found.df().itertuples()}
    assert set(got) == set(truth)
    return found, [(got[pair], figures) for pair, figures in truth.items()]


@pytest.mark.parametrize(("views", "where"), VIEWS.values(), ids=VIEWS)
def test_bounds_hold_the_enumerated_truth(con, views, where, monkeypatch):
    monkeypatch.setattr(analysis, "LARGEST_JOIN", 0)
    monkeypatch.setattr(analysis, "MOST_NODES", 0)
    found, pairs = find_both(con, views, where)
    assert "certified bounds" in found.notes[0]
    for row, exact in pairs:
        assert abs(float(exact[2]) - row.probability) <= row.error_bound + 1e-15, (row, exact)
        assert row.probability - row.error_bound >= 0.5 - 1e-9
    widths = sorted(2 * row.error_bound for row, _ in pairs)
    assert widths[-1] < 0.49
    assert sum(widths) / len(widths) < 0.2


@pytest.mark.parametrize(("views", "where"), VIEWS.values(), ids=VIEWS)
def test_small_pieces_are_exact_and_the_others_bounded(con, views, where, monkeypatch):
    monkeypatch.setattr(analysis, "LARGEST_JOIN", 0)
    monkeypatch.setattr(analysis, "MOST_NODES", 12)
    found, pairs = find_both(con, views, where)
    exact = [(row, figures) for row, figures in pairs if row.note != "bounds"]
    for row, figures in exact:
        assert abs(float(figures[2]) - row.probability) <= row.error_bound <= 1e-15
        if row.m:  # else a node has no tuple but the association's: certain, however large its piece
            assert sorted(zip(row.m, row.n, strict=True)) == sorted(figures[0])
    assert len(exact) > len(pairs) / 5
    told = f"{len(exact):,} associations lie in small pieces" in found.notes[0]
    assert told == (len(exact) < len(pairs)) == any(row.note == "bounds" for row, _ in pairs)
    for row, figures in pairs:
        assert abs(float(figures[2]) - row.probability) <= row.error_bound + 1e-15


def test_a_long_piece_and_too_much_work_are_left_to_the_bounds(con, monkeypatch):
    """A path of streets and doctors is longer than numbers spread; beside it stand two hundred equal small pieces."""
    monkeypatch.setattr(analysis, "LARGEST_JOIN", 0)
    con.execute("""
        create table t as select i, j, k, p from (
            select i, i // 2 as j, (i + 1) // 2 as k, i % 5 as p from range(1200) r(i)
            union all
            select 10000 + b * 4 + i, 10000 + b * 2 + i % 2, 10000 + b, i % 3 from range(200) s(b), range(4) r(i))
        """).fetchall()
    views = ["SELECT i, j FROM t", "SELECT DISTINCT j, k FROM t", "SELECT DISTINCT k, p FROM t"]
    asked = {"base": "t", "views": views, "secret": "SELECT i, p FROM t"}
    frame = sqlanon.breach(con, **asked).df()
    small = frame[frame.id >= 10000]
    assert small.note.isna().all() and small.probability.nunique() <= 4 and (small.m.map(len) == 1).all()
    assert set(frame[frame.note == "bounds"].id) <= set(range(1200)) and (frame.note == "bounds").sum() > 1000
    monkeypatch.setattr(enumeration, "MOST_WORK", 1)
    found = sqlanon.breach(con, **asked)
    assert "small pieces" not in found.notes[0] and found.df().note.notna().sum() > 1000


def test_a_node_without_other_tuples_makes_it_certain(con):
    """Everybody of street 0 has the one job of that street, and the job one disease; elsewhere nothing is sure."""
    con.execute("""
        create table t as select i, h * (1 + i % 7) as j, h * (1 + i % 5) as k, h * (1 + i % 3) as p
        from (select i, if(i < 9, 0, 1) as h from range(2000) r(i))""").fetchall()
    views = ["SELECT i, j FROM t", "SELECT DISTINCT j, k FROM t", "SELECT DISTINCT k, p FROM t"]
    found = sqlanon.breach(con, base="t", views=views, secret="SELECT i, p FROM t")
    assert found.summary["certain"] == 9
    frame = found.df()
    assert frame[frame.property == 0].probability.tolist() == [1.0] * 9
    assert found.above(0.5) == 2000
    assert set(frame[frame.property == 0].cover) == {1}
    assert found.above(float((frame.probability + frame.error_bound)[frame.property > 0].max()) + 1e-9) == 9


def test_what_has_no_bounds_is_refused(con):
    con.execute("create table t as select i, i % 7 as j, i % 11 as k, i % 13 as p from range(400) r(i)").fetchall()
    views = ["SELECT i, j FROM t", "SELECT j, k FROM t", "SELECT k, p FROM t"]
    with pytest.raises(sqlanon.DataError, match="share different columns pairwise"):
        sqlanon.breach(con, base="t", views=views, secret="SELECT i, p FROM t", model="restricted")
    ring = ["SELECT i, j FROM t", "SELECT j, k, p FROM t", "SELECT k, i FROM t"]
    with pytest.raises(sqlanon.DataError, match="in a ring"):
        sqlanon.breach(con, base="t", views=ring, secret="SELECT i, p FROM t")
    assert con.execute("select count(*) from duckdb_tables() where temporary").fetchone()[0] == 0
