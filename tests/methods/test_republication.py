"""Publishing the same people again: the rules person by person, and what all releases tell together."""

import random
from fractions import Fraction

import duckdb
import pytest
import scipy.stats as stats
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from sqlanon.errors import DataError
from sqlanon.methods.republication import COINS, MOST_FAILING
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql
from tests.examples import examples
from tests.ledgers.history import History, Rules
from tests.oracles import waiting
from tests.oracles.histories import after_a_change, posteriors

DISEASES = "abcdef"


@pytest.fixture(scope="module")
def session():
    with duckdb.connect(config={"threads": 1}) as con:
        yield con


def fresh(con, l, method="anatomy"):
    """Return a history on a session whose tables of before are gone, and its rules."""
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
    # 1 and 4 are back with the old values; 7 would give one of those who waited a group, and waits with both
    third = {**first, 5: "d", 6: "d", 7: "e"}
    last, held = history.publish(third)
    rules.hold(third, (last, held), "leave", history.reports)
    assert last == shown and last[1] == group and history.reports["outcome"]["waiting"] == 3
    # with 8 everybody finds one
    fourth = {**third, 8: "f"}
    last, held = history.publish(fourth)
    rules.hold(fourth, (last, held), "leave", history.reports)
    assert {last[p] for p in (5, 6, 7, 8)} == {2, 3} and history.reports["outcome"]["waiting"] == 0
    told = posteriors(history.releases)
    assert {max(one.values()) for one in told.values()} == {Fraction(1, 2)}


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


@pytest.mark.parametrize(("l", "changed", "turns"), [(2, "leave", 5), (3, "leave", 4), (2, "keep", 3)])
def test_all_worlds_of_a_history_leave_nobody_above_the_promise(session, l, changed, turns):
    history, rules = fresh(session, l)
    random_history(random.Random(f"{l}{changed}{turns}"), history, rules, changed, turns)
    for told in posteriors(history.releases).values():
        assert max(told.values()) <= Fraction(1, l)
        # that somebody left who is still in the source says that the value is another one, and no more
        assert max(after_a_change(told, DISEASES).values()) <= Fraction(1, l)


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
    assert max(max(told.values()) for told in posteriors(history.releases).values()) <= Fraction(1, 2)


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


# -- who waits ------------------------------------------------------------------------------------------------------


def largest_posterior(nights, l, policy):
    """Return the largest posterior of anybody, whatever may be seen, by the oracle's worlds."""
    seen = waiting.posteriors(nights, "abc", l, policy)
    return max(max(values.values()) for _, _, persons in seen for values in persons.values())


@pytest.mark.parametrize(("policy", "largest"), [
    # who waits for want of a group has the value that the others do not
    (waiting.alone, Fraction(1)),
    # two who wait together for want of a group have the same value
    (waiting.together(2), Fraction(1)),
    # how many have come decides: in a group nobody is told from the others, and who waits has any value
    (waiting.together(4), Fraction(1, 2)),
])  # fmt: skip
def test_all_worlds_of_those_who_wait(policy, largest):
    assert largest_posterior((2, 2), 2, policy) == largest


def test_those_who_come_new_are_shown_all_together_or_not_at_all(session):
    for method in ("anatomy", "splu", "robust"):
        chance, shown_together, waited_together = random.Random(method), 0, 0
        history, _ = fresh(session, 2, method)
        people = {person: DISEASES[person % 6] for person in range(60)}
        history.publish(people, hurries=False)
        shown = set(people)
        for night in range(1, 5):
            people |= {100 * night + number: chance.choice(DISEASES) for number in range(5)}
            release = history.publish(people, hurries=False)
            now = set(release if method == "splu" else release[0])
            looked = set(people) - shown
            left = history.reports["gathering"]["waiting_rows"]
            assert left in (0, len(looked))
            # beyond a multiple of gamma rows wait that are drawn evenly
            assert len(looked - now) == left or (method == "splu" and len(looked - now) == len(looked) % 2)
            shown_together += not left
            waited_together += bool(left)
            shown |= now
        assert shown_together and waited_together


def wave(con, shown, arrived, release=2, put_off=False):
    """Return what is decided of those who come new, by how often values were shown and came; groups of three."""
    con.execute("create or replace table key as select 'secret' as secret")
    for name, counts, made in (
        ("lines", shown, "place as code, null::bigint as published"),
        ("arrivals", arrived, "'d' || place as sensitive"),
    ):
        listed = ", ".join(f"({place}, {count})" for place, count in enumerate(counts))
        con.execute(
            f"create or replace table {name} as select {made} from (values {listed}) v(place, count), range(count)"
        )
    values = {"signature": (), "size": 3, "follows": True, "just_put_off": put_off}
    values |= {
        "most_millionths": 10**6,
        "most": "100.0%",
        "most_failing": MOST_FAILING,
        "coins": COINS,
        "purpose": f"release {release}",
    }
    names = {"arrived": "arrivals", "matched": "lines", "known_person": "lines", "key": "key"}
    decided, *_ = build((Chapter("followed/wave", values),), "", {name: Sql(one) for name, one in names.items()})
    (row,) = con.execute(decided.sql).fetchall()
    return dict(zip(("pool", "row_count", "failing", "is_enough", "is_called"), row, strict=True))


@pytest.mark.parametrize("shown", [(10, 10, 10), (5, 10, 10, 5), (4, 5, 6, 7, 8), (1, 1, 1, 1, 30, 30, 26)])
def test_enough_have_come_where_a_binomial_tail_says_so(session, shown):
    decided = set()
    for size in (2, 3, 5, 12, 40, 200, 1000):
        row = wave(session, shown, [size // 4] * 3 + [size - 3 * (size // 4)])
        exact = sum(stats.binom.sf(size // 3, size, count / sum(shown)) for count in shown)
        # a bound that is no further off than what Stirling's formula and a geometric series take
        assert min(exact, 1) * (1 - 1e-9) <= row["failing"] and (row["failing"] <= 2 * exact or exact > 0.3 or size < 4)
        assert row["is_enough"] == (size >= 3 and row["failing"] <= MOST_FAILING)
        decided.add(row["is_enough"])
    # a value that stands in every group is as likely too frequent as not, however many come
    assert decided == ({False} if max(shown) * 3 == sum(shown) else {False, True})


def test_a_coin_puts_off_those_who_would_all_find_a_group(session):
    shown, arrived = (20, 20, 20, 20, 20), (12, 12, 12, 12, 12)
    rows = [wave(session, shown, arrived, release) for release in range(2, 62)]
    assert {row["is_enough"] for row in rows} == {True}
    chance = min(0.5, COINS * rows[0]["failing"])
    assert stats.binomtest(sum(not row["is_called"] for row in rows), 60, chance).pvalue > 1e-6 and chance > 0.02
    # after a night on which they were put off, every other time
    rows = [wave(session, shown, arrived, release, put_off=True) for release in range(2, 42)]
    assert 6 < sum(not row["is_called"] for row in rows) < 34
    # where not all find a group, always
    assert not any(wave(session, shown, (30, 10, 10, 10), release)["is_called"] for release in range(2, 6))


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
