"""Publishing the same people again: the rules person by person, and what all releases tell together."""

import random
from fractions import Fraction

import duckdb
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from sqlanon.errors import DataError
from tests.examples import examples
from tests.ledgers.history import History, Rules
from tests.oracles.histories import after_a_change, posteriors

DISEASES = "abcdef"


@pytest.fixture(scope="module")
def session():
    with duckdb.connect(config={"threads": 1}) as con:
        yield con


def fresh(con, l, method="anatomy"):
    """Return a history on a session whose tables of before are gone."""
    for kind, name in con.execute(
        "select 'view', view_name from duckdb_views() where not internal union all select 'table', table_name from"
        " duckdb_tables() where not internal"
    ).fetchall():
        con.execute(f'drop {kind} if exists "{name}"')
    return History(con, l, method), Rules(l)


def test_a_history_by_hand(session):
    history, rules = fresh(session, 2)
    first = {1: "a", 2: "b", 3: "a", 4: "c"}
    shown, values = history.publish(first)
    rules.hold(first, (shown, values), "leave", history.reports)
    group = shown[1]
    assert sorted(values) == [0, 1] and all(len(one) == 2 for one in values.values())
    # 1 leaves, 4 has another value; 5 and 6 come new and have the same one: they wait
    second = {2: "b", 3: "a", 4: "b", 5: "d", 6: "d"}
    again, held = history.publish(second)
    rules.hold(second, (again, held), "leave", history.reports)
    assert again == {2: shown[2], 3: shown[3]} and held == {g: values[g] for g in set(again.values())}
    # 1 and 4 are back with the old values, 7 gives one of those who waited a group
    third = {**first, 5: "d", 6: "d", 7: "e"}
    last, held = history.publish(third)
    rules.hold(third, (last, held), "leave", history.reports)
    assert {p: last[p] for p in first} == shown and last[7] == 2 and (5 in last) != (6 in last)
    assert last[1] == group and history.reports["outcome"]["waiting"] == 1
    told = posteriors(history.releases)
    assert {max(one.values()) for one in told.values()} == {Fraction(1, 2)}


def test_kept_values_are_stale_until_they_leave(session):
    history, _ = fresh(session, 2)
    shown, values = history.publish({1: "a", 2: "b"})
    assert history.publish({1: "z", 2: "b"}, "keep") == (shown, values)
    ((standing,),) = session.execute("select standing from person_2 where standing <> 'present'").fetchall()
    assert standing == "stale"
    assert history.publish({1: "z", 2: "b"}, "leave") == ({2: shown[2]}, values)
    assert history.publish({1: "a", 2: "b"}, "leave") == (shown, values)


def random_history(chance, history, rules, changed, turns):
    """Publish random days: people come, leave, come back and fall ill of something else."""
    people, known, gone = {}, 0, {}
    for turn in range(turns):
        for _ in range(chance.randint(8, 12) if turn == 0 else chance.randint(0, 5)):
            known += 1
            people[known] = DISEASES[known % len(DISEASES)] if turn == 0 else chance.choice(DISEASES)
        for person in [p for p in people if turn and chance.random() < 0.25]:
            gone[person] = people.pop(person)
        for person in [p for p in gone if chance.random() < 0.4]:
            people[person] = gone.pop(person)
        for person in [p for p in people if turn and chance.random() < 0.15]:
            people[person] = chance.choice(DISEASES)
        release = history.publish(people, changed)
        rules.hold(people, release, changed, history.reports)


@pytest.mark.parametrize(("l", "changed"), [(2, "leave"), (3, "leave"), (2, "keep"), (3, "keep")])
def test_all_worlds_of_a_history_leave_nobody_above_the_promise(session, l, changed):
    for turns in (3, 5) if l == 2 else (4,):
        history, rules = fresh(session, l)
        random_history(random.Random(f"{l}{changed}{turns}"), history, rules, changed, turns)
        for told in posteriors(history.releases).values():
            assert max(told.values()) <= Fraction(1, l)
            # that somebody left who is still in the source says that the value is another one, and no more
            assert max(after_a_change(told, DISEASES).values()) <= Fraction(1, l)


def test_the_oracle_sees_what_independent_releases_tell(session):
    chance, largest = random.Random(7), []
    for seed in range(2):
        people = {number: DISEASES[number % 6] for number in range(12)}
        independent = []
        for turn in range(3):
            history, _ = fresh(session, 2)
            # other people beside them make other groups of them
            others = {100 * (turn + 1) + number: chance.choice(DISEASES) for number in range(4)}
            independent.append(history.publish({**people, **others, 100 * seed + 99: "a"}))
        renamed = [({p: (turn, g) for p, g in shown.items()}, {(turn, g): v for g, v in held.items()})
                   for turn, (shown, held) in enumerate(independent)]  # fmt: skip
        largest.append(max(max(told.values()) for told in posteriors(renamed).values()))
    assert max(largest) > Fraction(1, 2)


@pytest.mark.parametrize("changed", ["leave", "keep"])
def test_robust_groups_arrivals_class_by_class_and_lets_go_who_changes_class(session, changed):
    chance = random.Random(changed)
    history, rules = fresh(session, 2, "robust")
    people = {number: DISEASES[number % 6] for number in range(16)}
    classes = {number: "xy"[number // 8] for number in range(16)}
    for turn in range(4):
        release = history.publish(people, changed, classes=classes)
        rules.hold(people, release, changed, history.reports, classes)
        moved = [p for p in people if chance.random() < 0.2]
        classes |= {p: chance.choice("xy") for p in moved}
        people |= {100 * turn + number: chance.choice(DISEASES) for number in range(100, 106)}
        classes |= {p: chance.choice("xy") for p in people if p not in classes}
        people = {p: value for p, value in people.items() if chance.random() < 0.9}
    assert all(max(told.values()) <= Fraction(1, 2) for told in posteriors(history.releases).values())


class Days(RuleBasedStateMachine):
    """A ward: people come, leave, return, change, and every now and then a release is published."""

    con = None
    l = 2

    def __init__(self):
        super().__init__()
        self.history, self.rules = fresh(self.con, self.l)
        self.people, self.gone, self.number = {}, {}, 0

    @rule(values=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=6))
    def come(self, values):
        for value in values:
            self.number += 1
            self.people[self.number] = value

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def leave(self, data):
        person = data.draw(st.sampled_from(sorted(self.people)))
        self.gone[person] = self.people.pop(person)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def come_back(self, data):
        person = data.draw(st.sampled_from(sorted(self.gone)))
        self.people[person] = self.gone.pop(person)

    @precondition(lambda self: self.people)
    @rule(data=st.data(), value=st.sampled_from(["a", "b", "c", "d", None]))
    def change(self, data, value):
        self.people[data.draw(st.sampled_from(sorted(self.people)))] = value

    @precondition(lambda self: self.people)
    @rule(changed=st.sampled_from(["leave", "keep"]))
    def publish(self, changed):
        try:
            release = self.history.publish(self.people, changed)
        except DataError:  # a first release that is not possible, or one that would show nobody
            known = {p: self.rules.entered[p][1] for p in self.people if p in self.rules.entered}
            assert not any(changed == "keep" or self.people[p] == value for p, value in known.items())
            return
        self.rules.hold(self.people, release, changed, self.history.reports)
        told = posteriors(self.history.releases)
        assert all(max(one.values()) <= Fraction(1, self.l) for one in told.values())


def test_any_days(session):
    Days.con = session
    run_state_machine_as_test(Days, settings=settings(examples(4), stateful_step_count=12))
