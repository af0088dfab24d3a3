"""Covers counted by bits: those of sets written down, over more properties than one page holds."""

import random
from collections import defaultdict

import pandas as pd
import pytest

import sqlanon

PAGE = 480  # properties
VIEWS = ["SELECT i, j FROM t", "SELECT j, p FROM t"]


@pytest.fixture
def rows(con):
    """Make a table of ids in one to four components, whose properties are more than two pages hold, NULL among them."""
    draw = random.Random(5)
    most = 2 * PAGE + 70
    base = [(None, draw.randrange(6), draw.randrange(most) or None) for _ in range(4 * most)]
    base += [(i, draw.randrange(6), draw.choice((3, 4, None))) for i in range(300) for _ in range(1 + i % 4)]
    columns = [list(column) for column in zip(*base, strict=True)]
    con.execute("create table t as select unnest(?) as i, unnest(?) as j, unnest(?) as p", columns).fetchall()
    assert len({p for _, _, p in base}) > 2 * PAGE
    return base


def test_covers_are_those_of_sets(con, rows):
    components, properties = defaultdict(set), defaultdict(set)
    for i, j, p in rows:
        components[i].add(j)
        properties[j].add(p)
    secret = "SELECT i, p FROM t WHERE i IS NOT NULL"
    for row in sqlanon.breach(con, base="t", views=VIEWS, secret=secret).df().itertuples():
        assert row.cover == len(set().union(*(properties[j] for j in components[row.id])))
    restricted = sqlanon.breach(con, base="t", views=VIEWS, secret=secret, model="restricted").df()
    several = 0
    for row in restricted.itertuples():
        common = set.intersection(*(properties[j] for j in components[row.id]))
        own = None if pd.isna(row.property) else int(row.property)
        several += len(components[row.id]) > 1
        assert row.probability == pytest.approx(1 / len(common) if own in common else 0, abs=1e-16), row
    assert several > 300
