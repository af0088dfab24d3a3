"""Views with a WHERE: what all of them show is counted as the worlds have it, and what cuts through it is refused."""

import random
from fractions import Fraction
from itertools import product

import pytest

import sqlanon
from sqlanon.breaches import analysis
from tests.databases import connect, insert

HIDDEN = ("any", "thing")  # properties that rows may have which the second view leaves out


def count_worlds(rows, condition):
    """Return {(i, p): probability} over all tables that give V1 = (i, j) and V2 = (j, p) WHERE condition(j)."""
    people = sorted({(i, j) for i, j, _ in rows})
    shown = sorted({(j, p) for _, j, p in rows if condition(j)})
    tuples = [(i, j, p) for i, j in people for j2, p in shown if j == j2]
    tuples += [(i, j, p) for i, j in people if not condition(j) for p in HIDDEN]
    found, worlds = dict.fromkeys({(i, p) for i, j, p in rows if condition(j)}, 0), 0
    for taken in product((False, True), repeat=len(tuples)):
        world = [one for one, is_taken in zip(tuples, taken, strict=True) if is_taken]
        if {(i, j) for i, j, _ in world} == set(people) and {(j, p) for _, j, p in world if condition(j)} == set(shown):
            worlds += 1
            for pair in {(i, p) for i, j, p in world if condition(j)} & set(found):
                found[pair] += 1
    return {pair: Fraction(count, worlds) for pair, count in found.items()}


def test_worlds_of_a_selection_are_those_of_what_it_shows(con):
    """Forty small tables, each with values of its own, are one table whose pieces are theirs."""
    draw, wanted, every = random.Random(7), {}, []
    for case in range(40):
        rows = [tuple(100 * case + draw.randrange(3) for _ in range(3)) for _ in range(draw.randint(2, 4))]
        wanted |= count_worlds(rows, lambda j: j % 100 != 1)
        every += rows
    con.execute("create table t (i integer, j integer, p integer)")
    insert(con, "t", every)
    views = ["SELECT i, j FROM t", "SELECT DISTINCT j, p FROM t WHERE j % 100 <> 1"]
    found = sqlanon.breach(con, base="t", views=views, secret="SELECT i, p FROM t")
    got = {(row.id, row.property): row for row in found.df().itertuples()}
    assert set(got) == set(wanted) and len(wanted) > 60
    for pair, exact in wanted.items():
        assert abs(float(exact) - got[pair].probability) <= got[pair].error_bound + 1e-15
    hidden = {(i, p) for i, j, p in every if j % 100 == 1}
    (told,) = [note for note in found.notes if "not every view shows" in note]
    assert told.startswith(f"{len(hidden):,} associations") and f" {len(hidden - set(wanted)):,} of" in told


@pytest.mark.parametrize("bounds", [False, True])
def test_a_chain_with_a_selection_is_the_chain_of_what_it_selects(con, bounds, monkeypatch):
    if bounds:
        monkeypatch.setattr(analysis, "LARGEST_JOIN", 0)
    con.execute("""
        create table t as select b as year, i, b * 9 + i % 2 as j, b * 9 + i // 2 as k, i % 3 as p
        from range(6) s(b), range(4) r(i)""")
    parts = ("i, j, year", "j, k, year", "k, p, year")
    where = " WHERE year > 1 AND year IN (2, 3, 9)"
    asked = {"secret": "SELECT i, p FROM base", "base": "t"}
    found = sqlanon.breach(con, views=[f"SELECT {part} FROM t{where}" for part in parts], **asked)
    con.execute(f"create table u as from t{where}")
    asked["base"] = "u"
    wanted = sqlanon.breach(con, views=[f"SELECT {part} FROM u" for part in parts], **asked)
    one, other = (frame.df().sort_values(["id", "property"], ignore_index=True) for frame in (found, wanted))
    assert len(one) and one.equals(other)
    assert [note for note in found.notes if "duplicate" in note] == [n for n in wanted.notes if "duplicate" in n]


REFUSED = [  # views, and why what they leave out cannot be left out of account
    (("i, j", "j, p"), ("i < 3", ""), "which not every view shows"),
    (("i, j", "j, p"), ("", "p < 3"), "which not every view shows"),
    (("i, j", "j, p"), ("", "true"), "reads no column"),
    (("i, j, k", "j, p, k", "j, w, k"), ("j < 3", "j < 3", ""), "the same WHERE"),
    (("i, j, p", "j, w"), ("", "j < 3"), "the same WHERE"),
    (("i, j", "i, j", "j, p"), ("j < 3", "j >= 3", ""), "the same WHERE"),
    (("i, j", "j, k", "k, p"), ("j < 3", "j < 3", ""), "which not every view shows"),
    (("i, j", "j, p"), ("", "j < (SELECT 3)"), "a subquery"),
    (("i, j", "j, p"), ("", "getenv('HOME') = 'x'"), "getenv"),
]


@pytest.mark.parametrize(("columns", "conditions", "reason"), REFUSED)
def test_a_selection_through_components_is_refused(con, columns, conditions, reason):
    con.execute("create table t as select i, i % 7 as j, i % 3 as k, i % 2 as w, i % 5 as p from range(40) r(i)")
    views = [
        f"SELECT {names} FROM t{f' WHERE {condition}' if condition else ''}"
        for names, condition in zip(columns, conditions, strict=True)
    ]
    with pytest.raises(sqlanon.QueryError, match=reason):
        sqlanon.breach(con, base="t", views=views, secret="SELECT i, p FROM t WHERE w = 1")


def test_a_view_with_everything_shows_what_it_selects():
    with connect() as con:
        con.execute("create table t as select i, i % 7 as j, i % 5 as p from range(40) r(i)")
        found = sqlanon.breach(con, base="t", views=["SELECT i, p, j FROM t WHERE j = 3"], secret="SELECT i, p FROM t")
        assert found.summary["associations"] == found.summary["certain"] == 6
        assert any(note.startswith("34 associations stand in rows") for note in found.notes)
