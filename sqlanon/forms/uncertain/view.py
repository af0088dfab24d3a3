"""What an adversary sees of uncertain data: what QIT shows of everybody, and sets of equally likely alternatives."""

from collections.abc import Mapping
from functools import cached_property

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.view import Promise, View, promise_of_different
from sqlanon.engines.base import Engine
from sqlanon.forms.qit_st.view import GroupView, find_in_groups
from sqlanon.forms.uncertain.source_rows import read_sets, read_source_rows, unfold_marks, weigh_groups, write_true_rows
from sqlanon.methods.uncertain.read_manifest import GENERALIZE, described
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables


class UncertainView(GroupView):
    """QIT and ST of uncertain data. A value of a set of n alternatives is held by 1 / n of a row.

    People whose quasi values are hidden, or generalized with their group, have a line of their own among the findings;
    all others are attacked as the rows of groups are, known by what is shown of them and by how many alternatives it
    stands for.
    """

    even = False
    exact_groups = False
    several_alternatives = True

    @cached_property
    def promise(self) -> Promise:
        """Return what different weights leave in groups with a grave value."""
        sets = len(self.manifest["columns"]["values"]) > 1
        return promise_of_different(int(self.manifest["parameters"]["l"]), self.count_largest(), "weights", sets)

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published tables and the manifest."""
        super().__init__(engine, tables, manifest)
        self.read = described(manifest)
        self.quasi[manifest["columns"]["qiid"]] = f"quasi_{len(self.quasi) + 1}"

    @staticmethod
    def find_candidates(view: View, published: PublishedTables, name: str) -> Sql:
        """Return the alternatives of everybody's group."""
        columns = [(Sql("published_group"), "group_id"), (Sql("unnest(chosen)"), "value")]
        line = view.keep(f"{name}_line", "source", {}, relation=read_sets(published), selected=columns)
        return find_in_groups(view, published, name, line, as_text=True)

    @property
    def _sql_types(self) -> list[Sql]:
        """Return the type of each quasi column's values; a node of a hierarchy is a text."""
        return [Sql("varchar" if n in self.read.hierarchies else self.read.types[n]) for n in self.read.quasi]

    @cached_property
    def _unfolded(self) -> Sql:
        return self.workspace.keep("unfolded", f"select * from {unfold_marks(self.published, self.read)}")

    def people(self) -> Sql:
        """Return the rows of QIT that are not hidden, as they lie."""
        return self.pick_drawn("person", self.everybody())

    def everybody(self) -> Sql:
        """Return the rows of QIT that are not hidden, of all groups."""
        relations = {"unfolded": self._unfolded}
        columns = {"sql_types": self._sql_types, "marks": self.names[-1]}
        return self.subquery("adversary/sets/shown_person", relations, **columns)

    @cached_property
    def _sets(self) -> Sql:
        return self.workspace.keep("read_set", f"select * from {read_sets(self.published)}")

    def _set_lines(self) -> Sql:
        return self.keep("set_line", "adversary/sets/set_line", {"set_line": self._sets})

    def _set_values(self) -> Sql:
        return self.keep("set_value", "adversary/view/value", {"holding": self._set_lines()}, weight=Sql("held"))

    def lines(self) -> Sql:
        """Return how much of every value a group holds, alternatives by their share."""
        return self.keep("line", "adversary/sets/alternative_line", {"set_line": self._set_lines()})

    def slots(self, order_column: str) -> Sql:
        """Return the places of the sets in each group, in one order, with each of their alternatives."""
        relations = {"line": self._set_lines(), "value": self._set_values()}
        relations["person"] = self._set_lines()
        placed = {"holding": self.keep("set_holding", "adversary/view/holding", relations, several=False)}
        slot = self.keep(f"set_slot_{order_column}", "adversary/view/slot", placed, order_column=order_column)
        relations = {"slot": slot, "set_value": self._set_values()}
        return self.keep(f"slot_{order_column}", "adversary/sets/member_slot", relations)

    def promised_holdings(self) -> Sql:
        """Return what groups with a grave value hold: the promise speaks of these."""
        weighed = {"weighed_group": weigh_groups(self.published, self.read)}
        least = self.manifest["parameters"]["threshold"]
        return self.keep("promised", "adversary/sets/grave_holding", weighed, threshold=least)

    def find_unpromised(self) -> list[Finding]:
        """Return how sure somebody is of whom the promise does not speak: in harmless groups, and among the hidden."""
        harmless = self.row("adversary/sets/harmless_figures", {"promised": self.promised_holdings()})
        relations = {"set_line": self._sets, "unfolded": self._unfolded}
        hidden = self.row("adversary/sets/hidden_figures", relations, names=self.names[:-1])
        findings = []
        if harmless["people"]:
            whom = f"in the worst of the groups without a grave value, {harmless['people']:,} rows in all"
            findings.append(_unpromised("a harmless value is named", harmless["confidence"], whom))
        if hidden["people"]:
            climbs = self.manifest["parameters"]["undiverse"] == GENERALIZE
            way, of = ("generalized", "those above one's values") if climbs else ("hidden", "them")
            whom = f"{hidden['people']:,} rows are {way}: who is in the table and not shown is one of {of}"
            findings.append(_unpromised(f"who is not shown is among the {way}", hidden["confidence"], whom))
        return findings

    def read_source(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Return the source's alternatives of people by combination, each by its share."""
        source, types = self.published.find_original(against)
        self.refuse_repeated(source.relation, list(types), identifier)
        original = read_source_rows(self.published, source, types)
        # what stands in the place of the label is the set of sensitive alternatives
        rows = write_true_rows(self.published, original, ["sensitive"])
        values = {"sql_types": self._sql_types, "marks": self.names[-1], "held": original.sql_types["sensitive"]}
        sql = render_query("forms/uncertain/source/shown_microdata", values, {"true_row": rows})
        return self.meet(self.workspace.keep("microdata", sql))

    def meet(self, microdata: Sql) -> Sql:
        """Return how many people of each combination have which alternative; refuse microdata of others."""
        self.refuse_others(microdata)
        told = self.keep("truth", "adversary/sets/set_truth", {"microdata": microdata}, quasi=self.names)
        return self.in_proportion(told)


def _unpromised(attack: str, confidence: float, whom: str) -> Finding:
    return Finding("background knowledge", attack, float(confidence), whom=whom, headline=True)


VIEW = UncertainView
