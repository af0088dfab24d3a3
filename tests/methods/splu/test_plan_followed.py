"""Randomized values of the same people, release after release: the rules, and what all releases tell together."""

import random
from fractions import Fraction

import duckdb
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from sqlanon.errors import DataError
from sqlanon.methods.splu import plan
from tests.examples import examples
from tests.ledgers.history import DecoyRules
from tests.methods.test_republication import DISEASES, Days, fresh
from tests.oracles.decoy_histories import posteriors
from tests.oracles.histories import after_a_change


@pytest.fixture(scope="module")
def session():
    with duckdb.connect(config={"threads": 1}) as con:
        yield con


def begin(con, gamma):
    """Return a history and its rules on a session whose tables of before are gone."""
    history, _ = fresh(con, gamma, "splu")
    return history, DecoyRules(gamma)


def publish(history, rules, people, changed="leave"):
    release = history.publish(people, changed)
    rules.hold(people, release, changed, history.reports)
    number = len(history.releases)
    rules.hold_ledger(history.con.execute(f"select person, group_id, code, published from person_{number}").fetchall())
    return release


@pytest.mark.parametrize(("gamma", "changed"), [(2, "keep"), (3, "leave")])
def test_all_worlds_of_a_history_leave_nobody_above_the_promise(session, gamma, changed):
    chance = random.Random(f"{gamma}{changed}")
    history, rules = begin(session, gamma)
    people, number = {person: DISEASES[person % 5] for person in range(6)}, 6
    for _ in range(4):
        publish(history, rules, people, changed)
        people = {p: chance.choice(DISEASES) if chance.random() < 0.15 else value for p, value in people.items()}
        people = {p: value for p, value in people.items() if chance.random() < 0.8}
        people |= {p: rules.truth[p] for p in rules.truth if p not in people and chance.random() < 0.3}
        people |= {number + new: chance.choice(DISEASES) for new in range(chance.randint(gamma, gamma + 3))}
        number += gamma + 3
    assert len(rules.drawings) > 1
    for drawing in rules.drawings:
        for told in posteriors([drawing], rules.truth, gamma).values():
            assert max(told.values()) <= Fraction(1, gamma)
            assert max(after_a_change(told, DISEASES).values()) <= Fraction(1, gamma)


def test_other_values_of_those_who_come_new_are_told(session):
    history, rules = begin(session, 2)
    publish(history, rules, {number: DISEASES[number % 6] for number in range(60)})
    told = []
    for first, values in ((100, DISEASES), (200, "xyz")):
        publish(history, rules, {first + number: values[number % len(values)] for number in range(60)})
        told.append(plan._describe_drift(history.reports["drift"]))
    assert told[0] == "" and "100% of theirs" in told[1]


class RandomizedDays(Days):
    """The same ward, published with randomized values."""

    def __init__(self):
        super().__init__()
        self.history, self.rules = begin(self.con, self.l)

    @precondition(lambda self: self.people)
    @rule(changed=st.sampled_from(["leave", "keep"]))
    def publish(self, changed):
        try:
            publish(self.history, self.rules, self.people, changed)
        except DataError:  # a first release that is not possible, or one that would show nobody
            known = {p: self.rules.truth[p] for p in self.people if p in self.rules.truth}
            assert not any(changed == "keep" or self.people[p] == value for p, value in known.items())


def test_any_days(session):
    RandomizedDays.con = session
    run_state_machine_as_test(RandomizedDays, settings=settings(examples(4), stateful_step_count=12))


def test_the_oracle_sees_what_values_drawn_again_tell():
    truth = {1: "a", 2: "b", 3: "c", 4: "d"}
    once = {1: "a", 2: "a", 3: "c", 4: "d"}
    again = [once, {1: "a", 2: "d", 3: "a", 4: "b"}, {1: "a", 2: "c", 3: "b", 4: "a"}]
    assert max(posteriors([once], truth, 2)[1].values()) == Fraction(1, 2)
    assert posteriors(again, truth, 2)[1]["a"] > Fraction(9, 10)
