"""What leaves the engine for verbs over whole tables grows with values and codes: twice the rows, no more of it."""

import duckdb
import pytest

import sqlanon
from sqlanon.adversary import dealing, learned
from sqlanon.attacks.attack_release import attack_release
from sqlanon.releases.release import Release
from sqlanon.risks.candidates import CompareQuestion
from sqlanon.risks.compare import compare
from tests.recording import Recording

PEOPLE = (
    "create table people as select i as id, (hash(i, 1) % 6)::integer as age, (hash(i, 2) % 4)::integer as job,"
    " i % 2 as sex, 'd' || (hash(i, 3) % 7) as d from range({}) t(i)"
)
ROLES = {"quasi": ["age", "job", "sex"], "sensitive": "d", "id": "id", "l": 3, "key": "1" * 64}


def complete(release):
    release.complete(1, seed=1)


def attack(release):
    attack_release(release, against="people", identifier=("id",))


def verify(release):
    release.engine.connection.execute(
        "create table known as select distinct sex, 'd1' as d, 0.2 as probability from people"
    )
    release.verify(background="known")


def compare_methods(release):
    question = CompareQuestion(source="people", quasi=("age", "job"), sensitive=("d",), queries=6, quick=True)
    compare(question, release.engine)


VERBS = {"complete": complete, "attack": attack, "verify": verify, "compare": compare_methods}


@pytest.mark.parametrize("verb", VERBS)
def test_twice_the_rows_bring_no_more(verb, monkeypatch):
    monkeypatch.setattr(dealing, "MOST_ROWS", 800)
    monkeypatch.setattr(learned, "MOST_PEOPLE", 300)
    largest = []
    for rows in (4200, 8400):
        with duckdb.connect() as con:
            con.execute(PEOPLE.format(rows))
            release = sqlanon.anatomy(con, "people", **ROLES)
            engine = Recording(con)
            VERBS[verb](Release(engine, release.tables, release.manifest))
            largest.append(max(engine.fetched))
    # among 1,400 groups nearly all kinds occur that there are, and of each kind one is read
    assert largest[1] <= largest[0] * 1.1 < 1000
