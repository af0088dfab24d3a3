"""Values are dealt as the model says: every way with its probability."""

import itertools

import numpy as np
import pandas as pd
import pytest

from sqlanon.adversary import dealing
from sqlanon.adversary.dealing import Dealing
from sqlanon.engines.connect import engine_of
from sqlanon.plans.templates import ident

COLUMNS = {"quasi": ["kind"], "sensitive": ["value"], "group": "group_id", "count": "count"}


@pytest.fixture
def deal(con):
    """Make a dealing of groups that all have the same kinds and values."""

    def made(kinds, held, groups):
        for name, rows in (("qit", kinds), ("st", held)):
            con.register(f"rows_{name}", pd.DataFrame(rows, columns=["kind"] if name == "qit" else ["value", "count"]))
            con.execute(f"create table {name} as select * from rows_{name}, range({groups}) t(group_id)")
        tables = {name: ident(name) for name in ("qit", "st")}
        manifest = {"columns": COLUMNS, "rows": len(kinds) * groups, "groups": groups}
        return Dealing(engine_of(con), tables, manifest, 7)

    return made


def shares(con_engine, relation, kinds, size):
    """Return how often each way to deal occurs: the values of a group's rows in the order of kinds."""
    rows = con_engine.frame(f"select row_number, value_number from {relation} order by row_number")
    ways, counts = np.unique(rows["value_number"].to_numpy().reshape(-1, size), axis=0, return_counts=True)
    return {tuple(map(int, way)): count / counts.sum() for way, count in zip(ways, counts, strict=True)}


@pytest.mark.parametrize("held", [[(1, 1), (2, 1), (3, 1), (4, 1)], [(1, 2), (2, 1), (3, 1)]])
def test_ways_have_the_probabilities_of_an_enumeration(deal, held, monkeypatch):
    monkeypatch.setattr(dealing, "SWEEPS", 24)
    groups, kinds = 3000, ["a", "b", "c", "d"]
    chain = deal(kinds, held, groups)
    effects = np.random.default_rng(2).normal(size=(4, len(held)))  # of values: each is a kind of its own
    space = chain.space
    dealt = chain.deal(chain.seat_rows(), effects, 1)
    found = shares(space.engine, dealt, kinds, 4)

    values = [number for number, (_, count) in enumerate(held, start=1) for _ in range(count)]
    exact: dict[tuple[int, ...], float] = {}
    for way in itertools.permutations(values):
        exact[way] = exact.get(way, 0) + np.exp(sum(effects[row, value - 1] for row, value in enumerate(way)))
    whole = sum(exact.values())
    assert set(found) <= set(exact)
    distance = sum(abs(found.get(way, 0) - weight / whole) for way, weight in exact.items()) / 2
    assert distance < 0.05


def test_groups_of_one_row_keep_their_value(deal):
    chain = deal(["a"], [("x", 1)], 30)
    for dealt in chain.complete(2):
        ((column, relation, _),) = dealt
        assert column == "value"
        assert chain.space.engine.rows(f"select count(*) as n from {relation} where value_number = 1") == [{"n": 30}]
