"""What an adversary sees of groups, and of any release that shows quasi values as they are."""

from collections.abc import Mapping

from sqlanon.adversary.findings import bound_share
from sqlanon.adversary.view import LEAST_IN_SOURCE, Promise, View, cast_text, refuse_other_values, shown_sensitive
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.plans.manifest import Manifest, follows, of_people
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables
from sqlanon.wording import option

AS_THEY_LIE = Sql("row_number() over ()")  # the numbers of stored rows, in their order


def shown_quasi(published: PublishedTables, table: str, quasi: Mapping[str, str]) -> list[tuple[Sql, str]]:
    """Return published quasi columns, each with the name that it has in attacks."""
    sql_types = published.columns(table)
    return [(cast_text(ident(name), sql_types[name]), ours) for name, ours in quasi.items()]


class ExactView(View):
    """A release whose rows are people, known by their quasi values."""

    table: str

    def read_source(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Return the source's values of people by combination."""
        source, types = self.published.find_original(against)
        if self.several:
            self._refuse_other_persons(source)
        else:
            self.refuse_repeated(source.relation, list(types), identifier)
        selected = self.told_by(source, types, self.published.columns(self.table))
        rows = source.select([f"{expression} as {name}" for expression, name in selected], facts=True)
        return self.meet(self.workspace.keep("microdata", f"select * from {rows} as told"))

    def _refuse_other_persons(self, source: Source) -> None:
        """Refuse an identifier that tells other persons than those who were published."""
        persons = ", ".join(map(ident, source.persons))
        told = f"select count(*) as people from (select distinct {persons} from {source.relation}) as person"
        people, shown = int(self.engine.rows(told)[0]["people"]), self.manifest["rows"] + self.manifest["dropped_rows"]
        if people != shown:
            raise DataError(
                f"by {option('id')} the source has {people:,} persons, and the release was made of {shown:,}: say by"
                " which column persons were told when it was published, and name that source"
            )

    def meet(self, microdata: Sql) -> Sql:
        """Return how many people of each combination have which value; refuse microdata of others."""
        self.refuse_others(microdata)
        truth = self.keep("truth", "adversary/view/truth", {"microdata": microdata}, quasi=self.names)
        # of several values one may lie elsewhere; under a ledger people may keep values that the source has no more
        if not (self.several or follows(self.manifest)):
            own = self.row("adversary/view/own_values", {"truth": truth, "own_pair": self.own_pairs()})
            refuse_other_values(own["right_people"], own["people"], self.sensitive, self.own_share)
        return truth

    @property
    def own_share(self) -> float:
        """Return what share of the people, at least, have their own value in the release."""
        return LEAST_IN_SOURCE

    def own_pairs(self) -> Sql:
        """Return everybody's combination with the values of which one should be theirs."""
        raise NotImplementedError

    def links(self, truth: Sql) -> Sql:
        """Return how likely each value is to be somebody's true one, as source and groups tell: weights sum to 1.

        A release does not say whose row is whose. Who is known by quasi values of their own has one value; others share
        what the source says of people like them.
        """
        return self.keep("link", "adversary/view/link", {"truth": truth})


class GroupView(ExactView):
    """QIT and ST."""

    table = "qit"
    exact_groups = True
    lacks_groups = ""
    intersects = True

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published tables and the manifest, which says whether people have several values."""
        super().__init__(engine, tables, manifest)
        self.several = of_people(manifest)

    @property
    def promise(self) -> Promise:
        """Return what groups promise; of people who have several values none is excluded by another."""
        promise = super().promise
        return Promise(promise.excluding[:1], promise.why) if self.several else promise

    @staticmethod
    def find_candidates(view: View, published: PublishedTables, name: str) -> Sql:
        """Return the values of everybody's group."""
        columns = published.manifest["columns"]
        sensitive = shown_sensitive(published, "st", columns["sensitive"][0])
        selected = [(ident(columns["group"]), "group_id"), (sensitive, "value")]
        line = view.keep(f"{name}_line", "source", {}, relation=published.tables["st"], selected=selected)
        return find_in_groups(view, published, name, line, view.several_alternatives)

    def people(self) -> Sql:
        """Return the rows of QIT as they lie."""
        return self.pick_drawn("person", self.everybody())

    def everybody(self) -> Sql:
        """Return the rows of QIT, of all groups."""
        group = (ident(self.manifest["columns"]["group"]), "group_id")
        selected = [(AS_THEY_LIE, "person_number"), group, *shown_quasi(self.published, self.table, self.quasi)]
        stored = self.engine.in_stored_order(self.tables["qit"])
        return self.subquery("source", {}, relation=stored, selected=selected)

    def lines(self) -> Sql:
        """Return the lines of ST as they lie."""
        columns, stored = self.manifest["columns"], self.engine.in_stored_order(self.tables["st"])
        sensitive = (shown_sensitive(self.published, "st", self.sensitive), "value")
        roles = [(ident(columns["group"]), "group_id"), sensitive, (ident(columns["count"]), "held")]
        selected = [(AS_THEY_LIE, "line_number"), *roles]
        return self.pick_drawn("line", self.subquery("source", {}, relation=stored, selected=selected))

    def pick_drawn(self, name: str, numbered: Sql) -> Sql:
        """Make once what lies in the groups that are looked at: rows or lines, numbered as all of them lie."""
        if name not in self.relations:
            where = "" if self.drawn is None else f" where group_id in (select group_id from {self.drawn})"
            self.relations[name] = self.workspace.keep(name, f"select * from {numbered} as numbered{where}")
        return self.relations[name]

    def meet(self, microdata: Sql) -> Sql:
        """Return how many people of each combination have which value, in proportion to those looked at."""
        return self.in_proportion(super().meet(microdata))

    def own_pairs(self) -> Sql:
        """Return everybody's combination with each value of their group."""
        return self.keep("held_pair", "adversary/view/held_pair")

    def in_proportion(self, truth: Sql) -> Sql:
        """Return what the source says of people as if it were of those only that are looked at."""
        if self.drawn is None:
            return truth
        return self.keep("drawn_truth", "adversary/view/drawn_truth", {"truth": truth})

    def words_of(self, right: float, people: int) -> str:
        """Say how many people are right, of a sample with the interval of their share."""
        words = super().words_of(right, people)
        if self.drawn is None:
            return words
        low, high = bound_share(right, people)
        return f"{words} of a sample (95 %: {low:.1%} to {high:.1%})"


def find_in_groups(view: View, published: PublishedTables, name: str, line: Sql, as_text: bool) -> Sql:
    """Return what `line` says of the groups in which QIT shows each combination of quasi values of the view's people.

    as_text: quasi values are compared as texts, for one side shows more than plain values.
    """
    sql_types, known_by = published.columns("qit"), []
    for column in view.manifest["columns"]["quasi"]:
        text = "cast({} as varchar)" if as_text or sql_types.get(column) == "VARCHAR" else "{}"
        sides = f"combination.{ident(view.quasi[column])}", f"qit.{ident(column)}"
        known_by.append(tuple(Sql(text.format(side)) for side in sides))
    relations = {"stored_qit": published.tables["qit"], "line": line}
    group_column = published.manifest["columns"]["group"]
    return view.keep(name, "adversary/releases/candidate", relations, known_by=known_by, group_column=group_column)


VIEW = GroupView
