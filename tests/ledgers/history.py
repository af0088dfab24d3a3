"""Releases under a ledger whose tables stay in the session: what the rules say, without files."""

from collections import Counter, defaultdict
from contextlib import nullcontext
from unittest.mock import patch

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.key import Key
from sqlanon.methods import republication
from sqlanon.plans.plan import Following
from sqlanon.plans.templates import Sql
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from tests.databases import insert
from tests.oracles.histories import most_groups

KEY = Key("5e" * 32, given=True)


class History:
    """Publish the people of a day after the people of another; remember every release."""

    def __init__(self, con, l, method="anatomy"):
        self.con, self.engine = con, DuckDBEngine(con)
        known = {"background": (), "background_from": (("c",),)}
        self.method = method
        named = {"anatomy": {"l": l}, "splu": {"gamma": l}, "robust": {"r": l, "max_suppressed": 0.9, **known}}
        self.parameters = named[method]
        self.releases, self.relations, self.reports = [], {}, {}

    def publish(self, people, changed="leave", losses=True, classes=None, hurries=True):
        """Publish a mapping of persons to values; return who is shown in which group, and the groups' values.

        With randomized values return who is shown with which value. hurries: whether those who come new are taken as
        soon as all of them find a group: so few people mostly never do in 95 of 100 cases.
        """
        self.con.execute("create or replace table people (id integer, s varchar, q integer, c varchar)")
        lines = [(p, value, p, (classes or {}).get(p, "x")) for p, value in people.items()]
        insert(self.con, "people", lines)
        number = len(self.releases) + 1
        roles = (("q", "c"), ("s",), ("id",))
        asked = ReleaseRequest(self.method, "people", *roles, "value", key=KEY, unique_quasi="keep")
        following = Following(number, changed, self.relations, losses)
        soon = patch.multiple(republication, MOST_FAILING=1e9, COINS=0) if hurries else nullcontext()
        with soon:
            named = {**self.parameters, "following": following, "block": 64}
            with prepare(asked, self.engine, fresh_prefix(), **named) as (plan, _):
                pass
        with run_plan(plan, self.engine, KEY) as reports:
            tables = [self.con.execute(output.sql).fetchall() for output in plan.outputs]
            for name, relation in plan.ledger.items():
                self.con.execute(f"create table {name}_{number} as select * from {relation}")
        self.relations = {f"known_{name}": Sql(f"{name}_{number}") for name in plan.ledger}
        self.reports = reports
        if self.method == "splu":
            (data,) = tables
            self.releases.append({person: value for person, _, value in data})
            return self.releases[-1]
        qit, st = tables
        values = defaultdict(list)
        for group, value, count in st:
            assert count == 1
            values[group].append(value)
        self.releases.append(({person: group for person, _, group in qit}, dict(values)))
        return self.releases[-1]


def groups_for_all(new, size):
    """Return how many groups of different values those who come new form all together; 0 where they wait together."""
    most = len(new) // size
    return most if max(Counter(new.values()).values(), default=0) <= most else 0


class Rules:
    """The rules of publishing the same people again, followed person by person."""

    def __init__(self, l):
        self.l, self.entered, self.members = l, {}, defaultdict(list)

    def hold(self, people, release, changed, reports, classes=None):
        """Assert that a release follows from the ones before, and remember it."""
        shown, values = release
        classed = {p: (classes or {}).get(p, "x") for p in people}
        known = {p for p in people if p in self.entered}
        same = {p for p in known if classed[p] == self.entered[p][2]}
        stays = {p for p in same if changed == "keep" or people[p] == self.entered[p][1]}
        new = {p: value for p, value in people.items() if p not in self.entered}
        entering = {p: group for p, group in shown.items() if p in new}
        assert {p: group for p, group in shown.items() if p not in new} == {p: self.entered[p][0] for p in stays}
        for one in set(classed.values()):
            self._hold_entering(
                {p: value for p, value in new.items() if classed[p] == one},
                {p: group for p, group in entering.items() if classed[p] == one},
            )
        for p, group in entering.items():
            self.entered[p] = (group, people[p], classed[p])
            self.members[group].append(people[p])
        assert {group: sorted(held, key=str) for group, held in values.items()} == {
            group: sorted(self.members[group], key=str) for group in set(shown.values())
        }
        assert reports["outcome"]["waiting"] == len(new) - len(entering)
        assert reports["outcome"]["withheld"] == len(people) - len(shown)
        assert reports["turnover"]["changed"] == sum(people[p] != self.entered[p][1] for p in same)
        assert reports["turnover"]["reclassed"] == len(known - same)

    def _hold_entering(self, new, entering):
        most = groups_for_all(new, self.l)
        assert len(entering) == (len(new) if most else 0)
        assert len(set(entering.values())) == most
        assert not set(entering.values()) & set(self.members)
        held = defaultdict(list)
        for p, group in entering.items():
            held[group].append(new[p])
        assert all(len(set(one)) == len(one) >= self.l for one in held.values())


class DecoyRules:
    """The rules of publishing randomized values of the same people again, followed person by person.

    drawings: what the persons publish who drew decoys among themselves, entry by entry. truth: their values.
    """

    def __init__(self, gamma):
        self.gamma, self.shown, self.truth, self.drawings = gamma, {}, {}, []

    def hold(self, people, release, changed, reports):
        """Assert that a release follows from the ones before, and remember it."""
        stays = {p for p in people if p in self.shown and (changed == "keep" or people[p] == self.truth[p])}
        new = {p: value for p, value in people.items() if p not in self.shown}
        assert {p: value for p, value in release.items() if p not in new} == {p: self.shown[p] for p in stays}
        entering = {p: value for p, value in release.items() if p in new}
        counts = Counter(new.values()).values()
        # a first release leaves over whom it finds no group for
        most = groups_for_all(new, self.gamma) if self.shown else most_groups([*counts], self.gamma)
        assert len(entering) == most * self.gamma
        held = Counter(new[p] for p in entering)
        assert max(held.values(), default=0) <= most and set(entering.values()) <= set(held)
        if entering:
            self.drawings.append(entering)
        self.shown |= entering
        self.truth |= {p: new[p] for p in entering}
        assert reports["outcome"]["waiting"] == len(new) - len(entering)
        assert reports["outcome"]["departed"] == len(self.shown) - len(release)
        assert reports["turnover"]["changed"] == sum(people[p] != self.truth[p] for p in people if p not in new)

    def hold_ledger(self, lines):
        """Assert that decoy groups are whole, and that everybody publishes a value of the group's.

        lines: of person, group, own code, published code.
        """
        groups = defaultdict(list)
        for _, group, own, published in lines:
            groups[group].append((own, published))
        for held in groups.values():
            own = {code for code, _ in held}
            assert len(own) == len(held) == self.gamma and {published for _, published in held} <= own
