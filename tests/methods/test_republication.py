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
from tests.ledgers.history import History, MoveRules, Rules
from tests.oracles import moves
from tests.oracles.histories import after_a_change, posteriors

DISEASES = "abcdef"


@pytest.fixture(scope="module")
def session():
    with duckdb.connect(config={"threads": 1}) as con:
        yield con


def fresh(con, l, method="anatomy", reserve=0):
    """Return a history on a session whose tables of before are gone, and its rules."""
    for kind, name in con.execute(
        "select 'view', view_name from duckdb_views() where not internal union all select 'table', table_name from"
        " duckdb_tables() where not internal"
    ).fetchall():
        con.execute(f'drop {kind} if exists "{name}"')
    return History(con, l, method, reserve), MoveRules(l, reserve) if reserve else Rules(l)


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


def random_history(chance, history, rules, changed, turns, first=(8, 12)):
    """Publish random days: people come, leave, come back and fall ill of something else."""
    people, known, gone = {}, 0, {}
    for turn in range(turns):
        for _ in range(chance.randint(*first) if turn == 0 else chance.randint(0, first[0] // 2 + 1)):
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


def largest(releases, most_moves=6):
    """Return the largest posterior of all stays in groups, None where there are too many moves to count worlds."""
    stays, _, made = moves.stays_of(releases)
    if max(len(between) for _, between in moves.connected(stays, made)) > most_moves:
        return None
    return max(max(told.values()) for told in moves.posteriors(releases).values())


@pytest.mark.parametrize(("l", "seed"), [(2, "26"), (3, "34")])
def test_all_worlds_of_a_history_with_moves_leave_nobody_above_the_promise(session, l, seed):
    history, rules = fresh(session, l, reserve=2)
    random_history(random.Random(seed), history, rules, "move", 3, first=(4 * l + 8, 4 * l + 12))
    assert max(rules.moves.values()) > 1
    # moves tell something: without them each of a group's values would be as likely as any other
    assert Fraction(1, l + 2) < largest(history.releases) <= Fraction(1, l)


def test_moves_by_hand(session):
    history, rules = fresh(session, 2, reserve=2)
    first = dict(enumerate("abcdabcd"))
    shown, values = history.publish(first, "move")
    rules.hold(first, (shown, values), "move", history.reports)
    assert len(values) == 2 and all(len(held) == 4 for held in values.values())
    members = [p for p in first if shown[p] == shown[0]]
    # all four of a group change; two may leave for the group of those who come, and the others are not shown
    second = {**first, **dict.fromkeys(members, "e"), 10: "a", 11: "b", 12: "c", 13: "d"}
    again, held = history.publish(second, "move")
    rules.hold(second, (again, held), "move", history.reports)
    # both bring one value, and there is one group
    assert history.reports["account"] == {"moved": 1, "waiting": 1, "spent": 2}
    (mover,) = (p for p in members if p in again)
    assert again[mover] == again[10] and set(held[again[10]]) == {*"abcde"} and shown[0] not in held
    # who moved may move again, and who returns to the value of before comes to another group all the same
    third = {**second, mover: first[mover], 14: "a", 15: "b", 16: "c", 17: "d", 18: "e", 19: "f", 20: "g", 21: "h"}
    last, held = history.publish(third, "move")
    rules.hold(third, (last, held), "move", history.reports)
    assert last.get(mover) not in (shown[mover], again[mover])
    assert largest(history.releases) <= Fraction(1, 2)
    # under the other rules nobody moves, and groups keep their reserve
    rules.hold(third, history.publish(third, "keep"), "keep", history.reports)


def test_a_group_that_few_moves_touch_tells_little_whatever_the_others_are():
    chance, reached = random.Random(5), {}
    for _ in range(150):
        size, groups = chance.choice((3, 4)), range(chance.randint(2, 4))
        values = {group: frozenset(chance.sample(range(size + 2), size)) for group in groups}
        stays = {group: [(f"{group}/{place}", group) for place in range(size)] for group in groups}
        made = []
        for _ in range(chance.randint(1, 5)):
            before, after = chance.sample(groups, 2)
            made.append((chance.choice(stays[before]), chance.choice(stays[after])))
        sizes = dict.fromkeys(groups, size)
        total = moves.count(sizes, values, made, {})
        for group in groups if total else ():
            touching = sum(group in (before[1], after[1]) for before, after in made)
            told = max(
                Fraction(moves.count(sizes, values, made, {stay: value}), total)
                for stay in stays[group] for value in values[group]
            )  # fmt: skip
            assert touching >= size or told <= Fraction(1, size - touching)
            reached[size, touching] = max(told, reached.get((size, touching), 0))
    # a reserve of one value is too little for two moves: l = 2 promises 1/2
    assert reached[3, 2] > Fraction(1, 2) and Fraction(1, 4) < reached[4, 2] < Fraction(1, 2)


@pytest.mark.parametrize("changed", ["leave", "keep", "move"])
def test_robust_groups_arrivals_class_by_class_and_lets_go_who_changes_class(session, changed):
    chance = random.Random(changed)
    history, rules = fresh(session, 2, "robust", reserve=2 if changed == "move" else 0)
    people = {number: DISEASES[number % 6] for number in range(16)}
    classes = {number: "xy"[number // 8] for number in range(16)}
    for turn in range(4):
        release = history.publish(people, changed, classes=classes)
        rules.hold(people, release, changed, history.reports, classes)
        moved = [p for p in people if chance.random() < 0.2]
        classes |= {p: chance.choice("xy") for p in moved}
        people |= {p: chance.choice(DISEASES) for p in people if changed == "move" and chance.random() < 0.2}
        coming = range(100, 114 if changed == "move" else 106)
        people |= {100 * turn + number: chance.choice(DISEASES) for number in coming}
        classes |= {p: chance.choice("xy") for p in people if p not in classes}
        people = {p: value for p, value in people.items() if chance.random() < 0.9}
    assert largest(history.releases) <= Fraction(1, 2)
    assert changed != "move" or rules.moves


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


class MovingDays(Days):
    """The same ward under a ledger with a reserve, where whoever changed may move."""

    def __init__(self):
        super().__init__()
        self.history, self.rules = fresh(self.con, self.l, reserve=2)

    @rule(count=st.integers(4, 9))
    def come(self, count):
        for _ in range(count):
            self.number += 1
            self.people[self.number] = "abcdef"[self.number % 6]

    @precondition(lambda self: self.people)
    @rule(changed=st.sampled_from(["move", "move", "leave", "keep"]))
    def publish(self, changed):
        try:
            release = self.history.publish(self.people, changed)
        except DataError:
            return
        self.rules.hold(self.people, release, changed, self.history.reports)
        assert (largest(self.history.releases, 4) or 0) <= Fraction(1, self.l)


def test_any_days_with_moves(session):
    MovingDays.con = session
    run_state_machine_as_test(MovingDays, settings=settings(examples(4), stateful_step_count=12))
