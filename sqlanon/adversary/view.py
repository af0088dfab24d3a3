"""What an adversary sees of a release, as relations: people by their quasi values, groups, values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlanon.adversary.findings import Finding
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import read_persons
from sqlanon.errors import DataError
from sqlanon.estimation.release_tables import Workspace
from sqlanon.plans.chapters import variables_of
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables
from sqlanon.wording import option

LEAST_IN_SOURCE = 0.95  # of the people in the release whom the source must hold
NOTHING: Mapping[str, Sql] = {}
# what a section may read of every form, and the method that makes it
MADE = {
    "person": "people",
    "line": "lines",
    "value": "values",
    "holding": "holdings",
    "combination": "combinations",
    "known_person": "known_people",
    "seat": "seats",
}


# What a release promises, as the confidence of an adversary who can exclude j values of a group. Anatomy and
# its kin promise one number. Different values among the rows of a group promise a weaker one: where n rows
# hold l different values and j of them are excluded, l - 1 - j values of one row each may be all that is left
# beside the one that is named, so that it is held by n - (l - 1) of n - j rows. Where cells are sets of
# alternatives, the l weights may all stand in one row: the named value then has n - 1 + 1 / l of n - j / l.
@dataclass(frozen=True)
class Promise:
    """What is promised of the confidence in anybody's value, None where nothing is.

    excluding: by how many values an adversary can exclude, from none on. why: the words for where this comes from,
    empty where the release says the number itself.
    """

    excluding: tuple[float | None, ...]
    why: str = ""

    @property
    def plain(self) -> float | None:
        """Return what is promised against who can exclude nothing."""
        return self.excluding[0]


def promise_of_different(l: int, largest: int | None, what: str, sets: bool = False) -> Promise:
    """Return what l different values leave, or weights (what), in groups of up to `largest` rows, None: no group.

    sets: whether a row holds several alternatives.
    """
    excluded = range(max(l - 1, 1))
    if l < 2 or not largest:
        return Promise(tuple(None for _ in excluded))
    bounds = tuple(
        (largest - 1 + 1 / l) / (largest - j / l) if sets else 1 - (l - 1 - j) / (largest - j) for j in excluded
    )
    rows = f"{l} different {what} in groups of up to {largest:,} rows"
    return Promise(bounds, f"{rows} leave a confidence of up to {bounds[0]:.1%}, and no more is promised")


class View:
    """The relations of one release as they are asked for; `close` drops them. Each form says what lies there.

    numbered: whether groups have published numbers, which may tell. even: whether a group's values are all as likely,
    so that naming the most frequent one is no attack of its own. kept: what is known of a person beside quasi values.
    shows_people: whether people lie in the release itself.
    exact_groups: whether it has groups of exact quasi values with certain sensitive ones. randomized: whether a row's
    value may not be its own. several_alternatives: whether a cell may stand for several values. intersects: whether a
    release leaves some values possible for people, which other releases narrow further. lacks_groups: what it has
    where whole groups cannot be drawn as a sample, empty where they can. drawn: the groups that are looked at, None for
    all. several: whether somebody may have several values, each of which is one person's of a group.
    """

    numbered = True
    even = True
    shows_people = True
    exact_groups = False
    randomized = False
    several_alternatives = False
    intersects = False
    lacks_groups = "no groups"
    several = False
    drawn: Sql | None = None
    kept = "group_id"

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published tables and the manifest."""
        columns = manifest["columns"]
        self.engine, self.tables, self.manifest = engine, tables, manifest
        self.published = PublishedTables(engine, tables, manifest)
        self.quasi = {name: f"quasi_{number}" for number, name in enumerate(columns["quasi"], start=1)}
        self.sensitive: str = columns["sensitive"][0]
        self.workspace = Workspace(engine)
        self.relations: dict[str, Sql] = {}

    @property
    def names(self) -> list[str]:
        """Return the columns that people are known by."""
        return list(self.quasi.values())

    def close(self) -> None:
        """Drop what was made."""
        self.workspace.close()
        self.published.close()

    def render(self, template: str, given: Mapping[str, Sql], /, **values: object) -> str:
        """Render a query; what it reads, is not given, and is one of `MADE`, is made first."""
        read = variables_of(template) & set(MADE) - {*given, *values}
        made: dict[str, Sql] = {name: getattr(self, MADE[name])() for name in sorted(read)}
        return self.workspace.render(template, {**made, **given}, **values)

    def keep(self, name: str, template: str, given: Mapping[str, Sql] = NOTHING, /, **values: object) -> Sql:
        """Make a relation once; return it."""
        if name not in self.relations:
            sql = self.render(template, given, **values)
            self.relations[name] = self.workspace.keep(name, sql)
        return self.relations[name]

    def subquery(self, template: str, given: Mapping[str, Sql] = NOTHING, /, **values: object) -> Sql:
        """Return a query in brackets, to stand where a relation that is read once does."""
        return Sql(f"(\n{self.render(template, given, **values)}\n)")

    def row(self, template: str, given: Mapping[str, Sql] = NOTHING, /, **values: object) -> dict[str, Any]:
        """Return the one row of figures of a query."""
        (figures,) = self.engine.rows(self.render(template, given, **values))
        return figures

    # -- what a form of release says -----------------------------------------------------------

    def people(self) -> Sql:
        """Return everybody who is looked at: person_number, quasi_1 …, and what is `kept`."""
        raise NotImplementedError

    def everybody(self) -> Sql:
        """Return the people of all groups, as `people` does, where these are drawn."""
        raise NotImplementedError

    def lines(self) -> Sql:
        """Return how much of every value a group holds: line_number, group_id, value, held."""
        raise NotImplementedError

    def read_source(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Return what the source says of people.

        Raises UsageError where it lacks a column, DataError where it is about others, or its identifier repeats.
        """
        raise NotImplementedError

    def links(self, truth: Sql) -> Sql:
        """Return how likely each value of somebody's group is to be their true one; the weights sum to 1."""
        raise NotImplementedError

    @staticmethod
    def show_people(view: "View", published: PublishedTables, name: str) -> Sql:
        """Return everybody with the value that a release of randomized values shows of them, as `people` does.

        view: says by which columns they are known, and keeps the relation under the name.
        """
        raise NotImplementedError

    @staticmethod
    def find_candidates(view: "View", published: PublishedTables, name: str) -> Sql:
        """Return the values that a release of this form leaves possible for each combination of the people of `view`.

        view: has the people, and keeps the relation under the name.
        """
        raise NotImplementedError

    def find_kept(self, against: object) -> Mapping[str, float]:
        """Return the shares of people who publish their own value, by parts where these are beyond chance."""
        raise NotImplementedError

    def find_unpromised(self) -> list[Finding]:
        """Return how sure somebody is of people of whom the promise does not speak."""
        return []

    def find_presence(self) -> list[Finding]:
        """Return the share of rows that nobody else's quasi values equal: who has these is surely in the table."""
        figures = self.people_figures
        whom = f"{figures['unique_people']:,} of {figures['people']:,} rows are unique on the quasi columns"
        reached = figures["unique_people"] / figures["people"] if figures["people"] else None
        return [Finding("presence", "quasi values are published exactly", reached, whom=whom)]

    # -- what follows from it ------------------------------------------------------------------

    def words_of(self, right: float, people: int) -> str:
        """Say how many people are right."""
        return f"{round(right):,} of {people:,} people"

    def promised_holdings(self) -> Sql:
        """Return what the groups hold that the promise speaks of."""
        return self.holdings()

    @cached_property
    def promise(self) -> Promise:
        """Return what the release promises, as confidences: of groups one, whoever excludes how many values."""
        l = int(self.manifest["parameters"]["l"])
        confidence = float(self.manifest["guarantee"].get("confidence", 1 / l))
        return Promise(tuple(confidence for _ in range(max(l - 1, 1))))

    def count_largest(self) -> int | None:
        """Return the rows of the largest group that the promise speaks of, None where it speaks of none."""
        (row,) = self.engine.rows(f"select max(group_size) as largest from {self.promised_holdings()}")
        return None if row["largest"] is None else round(row["largest"])

    def combinations(self) -> Sql:
        """Return what people are known by: combinations of quasi values with their rows."""
        return self.keep("combination", "adversary/view/combination", names=self.names)

    def ranked(self) -> Sql:
        """Return the combinations with the number of each of their values in its column's order, from 0."""
        return self.keep("ranked", "adversary/boxes/ranked", quasi=self.names)

    def values(self) -> Sql:
        """Return every published sensitive value with its number."""
        return self.keep("value", "adversary/view/value", {"holding": self.lines()}, weight=Sql("held"))

    def holdings(self) -> Sql:
        """Return what every group holds: a line for each group and value."""
        # people are counted where a group may hold more values than people, and are not there for all forms
        people = self.people() if self.several else self.lines()
        return self.keep("holding", "adversary/view/holding", {"person": people}, several=self.several)

    def slots(self, order_column: str) -> Sql:
        """Return the places of the values in each group, in one order."""
        return self.keep(f"slot_{order_column}", "adversary/view/slot", order_column=order_column)

    def count_everybody(self) -> Sql:
        """Return how many people of the release each combination is of, though some are looked at."""
        if self.drawn is None:
            return self.combinations()
        return self.keep("whole_count", "adversary/view/whole_count", {"everybody": self.everybody()}, quasi=self.names)

    def known_people(self) -> Sql:
        """Return everybody with the combination that they are known by."""
        return self.keep("known_person", "adversary/view/known_person", quasi=self.names, kept=self.kept)

    def seats(self) -> Sql:
        """Return how many people of each combination each group has: combination, group_id, people."""
        return self.keep("seat", "adversary/view/seat")

    def labelled(self) -> Sql:
        """Return everybody's combination and the value that a release of randomized values shows of them."""
        return self.keep("labelled", "adversary/releases/labelled_pair")

    def count_truth(self, truth: Sql) -> Sql:
        """Return what a source that was read says of each combination: combination, value_number, true_count."""
        return truth

    def seated_people(self) -> Sql:
        """Return everybody with their groups and quasi values."""
        return self.people()

    @cached_property
    def people_figures(self) -> dict[str, Any]:
        """Return how many people there are, and how many nobody else's quasi values equal."""
        return self.row("adversary/view/unique_figures")

    @cached_property
    def value_figures(self) -> dict[str, Any]:
        """Return what chance reaches in the groups, the most frequent value's share, and that of each group's own."""
        return self.row("adversary/view/value_figures")

    # -- the source ----------------------------------------------------------------------------

    def refuse_others(self, microdata: Sql) -> None:
        """Refuse a source that holds too few of the release's people."""
        figures = self.row("adversary/view/shared_people", {"other": microdata}, keys=self.names)
        refuse_other_people(figures["shared_people"], figures["people"])

    def told_by(self, source: Source, types: Mapping[str, str], shown: Mapping[str, str]) -> list[tuple[Sql, str]]:
        """Return what reads a source's quasi values and `value`, with their names; shown: types of quasi columns."""
        names = resolve_names(types, [*self.quasi, self.sensitive])
        quasi = [
            (Sql(f"cast({source.expression(name)} as {shown[published]})"), ours)
            for name, (published, ours) in zip(names, self.quasi.items(), strict=False)
        ]
        return [*quasi, (cast_text(source.expression(names[-1]), types[names[-1]]), "value")]

    def refuse_repeated(self, relation: Sql, columns: Sequence[str], identifier: Sequence[str]) -> None:
        """Refuse an identifier, among a relation's columns, that several rows share."""
        if not identifier:
            return
        names = resolve_names(columns, split_columns(identifier, columns))
        if repeated := read_persons(self.engine, relation, names)["repeating_persons"]:
            raise DataError(
                f"{repeated:,} persons have several rows in the source: {option('id')} names no single row;"
                " name a column whose values all differ"
            )


def cast_text(expression: Sql, sql_type: str) -> Sql:
    """Return an expression of a type, a text as one type of text: an engine may have two, and compare them not."""
    return Sql(f"cast({expression} as varchar)") if sql_type == "VARCHAR" else expression


def shown_sensitive(published: PublishedTables, table: str, sensitive: str) -> Sql:
    """Return a published sensitive column as it is compared with the source's and other releases'."""
    return cast_text(ident(sensitive), published.columns(table)[sensitive])


def refuse_other_people(shared: int, people: int) -> None:
    """Refuse a source that holds only `shared` of the release's people."""
    if shared < LEAST_IN_SOURCE * people:
        raise DataError(
            f"the source holds {shared:,} of the release's {people:,} people, as far as quasi values tell: it is about"
            " others, and nothing is scored; name the source that was published"
        )


def refuse_other_values(right: int, people: int, sensitive: str, share: float = LEAST_IN_SOURCE) -> None:
    """Refuse a source whose values only `right` people have in the release, where about a share of them should."""
    if right < share * people - 6 * (share * (1 - share) * people) ** 0.5:  # no chance
        raise DataError(
            f"of {people:,} people whom the release tells from others {right:,} have in it the {sensitive} of the"
            f" source, where at least {share:.0%} should: it is not the one that was published, and nothing is scored"
        )
