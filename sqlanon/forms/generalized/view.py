"""Releases of generalized rows: boxes with exact sensitive values; people come from the source."""

from collections.abc import Mapping
from typing import Any

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.view import View, refuse_unmet
from sqlanon.engines.base import Engine
from sqlanon.forms.generalized.box_lookup import Boxes
from sqlanon.methods.mondrian.read_manifest import described
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident


class BoxView(View):
    """Boxes are groups without a number, and nobody's quasi values are published.

    Who is attacked is somebody whose quasi values are known from elsewhere: the source says of whom. A box is then a
    group of the people that it has room for; where boxes overlap, somebody is in several.
    """

    numbered = False
    even = False
    shows_people = False

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published table and the manifest."""
        super().__init__(engine, tables, manifest)
        self.boxes = Boxes(self, self.published)
        self._people: Sql | None = None

    def people(self) -> Sql:
        """Return the people of the source, as it has them."""
        assert self._people is not None, "boxes show nobody before the source is read"
        return self._people

    def lines(self) -> Sql:
        """Return how much of every value a box holds."""
        return self.boxes.lines()

    def slots(self, order_column: str) -> Sql:
        """Return the places of the values in each box; those of single rows where they are taken as they lie."""
        if order_column != "line_number":
            return super().slots(order_column)
        relations = {"line": self.boxes.rows, "value": self.values()}
        placed = {"holding": self.keep("row_holding", "holding", relations)}
        return self.keep("slot_line_number", "slot", placed, order_column=order_column)

    def coded_people(self) -> Sql:
        """Return everybody with combination and codes, once for each box that has room for them."""
        combinations = {"coded_combination": self.coded_combinations(), "fit": self.boxes.find_people()}
        relations = {"person": self.people(), **combinations}
        return self.keep("coded_person", "boxed_person", relations, quasi=self.names, codes=self.codes)

    def seated_people(self) -> Sql:
        """Return everybody in each box that has room for them."""
        return self.coded_people()

    def read_source(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Read who there is, with their true values; people in no box are refused where they are many."""
        source, types = self.published.find_original(against)
        names = resolve_names(list(types), [*self.quasi, self.sensitive])
        kinds = {attribute.name: attribute.type for attribute in described(self.manifest)}
        self.refuse_repeated(source.relation, resolve_names(list(types), identifier))
        selected = [
            (Sql(f"cast({source.expression(name)} as {kinds[published]})"), ours)
            for name, (published, ours) in zip(names, self.quasi.items(), strict=False)
        ]
        selected += [(source.expression(names[-1]), "value"), (Sql("row_number() over ()"), "person_number")]
        relation = source.relation
        if self.manifest["parameters"].get("nulls") == "drop":  # who had no value was left out
            others = resolve_names(list(types), self.manifest["columns"].get("beside", ()))
            valued = " and ".join(f"{ident(name)} is not null" for name in (names[-1], *others))
            relation = Sql(f"(select * from {relation} where {valued})")
        rendered = render_query("shared/source", {"relation": relation, "selected": selected}, {})
        self._people = self.workspace.keep("person", rendered)
        relations = {"combination": self.combinations(), "other": self.boxes.find_people()}
        figures = self.row("met_figures", relations, keys=["combination"])
        refuse_unmet(figures["met_people"], figures["people"])
        return self._people

    def links(self, truth: Sql) -> Sql:
        """Return everybody's own value in each of their boxes that holds it, by its rows there."""
        relations = {"coded_person": self.coded_people(), "person": truth, "holding": self.holdings()}
        return self.keep("link", "box_link", relations)

    def scores(self, links: Sql) -> Sql:
        """Return everybody's own value, whatever their boxes."""
        return self.keep("own_value", "own_value", {"link": links})

    def find_presence(self) -> list[Finding]:
        """Return how few rows may be somebody's, and how many rows lie in boxes that are no ranges at all."""
        figures: dict[str, Any] = self.boxes.figures()
        k, rows = self.manifest["guarantee"]["k"], int(figures["rows"])
        picked, promised = 1 / figures["smallest"], 1 / k
        leak = picked > promised + 1e-9
        whom = f"the smallest box has {figures['smallest']:,} rows"
        alone = f"{figures['point_rows']:,} of {rows:,} rows lie in boxes that hold one combination of quasi values"
        return [
            Finding("presence", "a row of somebody's own box is picked", picked, promised, None, whom, leak),
            Finding("presence", "boxes show quasi values exactly", figures["point_rows"] / rows, whom=alone),
        ]
