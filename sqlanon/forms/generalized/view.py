"""Releases of generalized rows: boxes with exact sensitive values; people come from the source."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.knowledge import boxes_query
from sqlanon.adversary.view import (
    Promise,
    View,
    promise_of_different,
    refuse_other_people,
    refuse_other_values,
    shown_sensitive,
)
from sqlanon.engines.base import Engine
from sqlanon.forms.generalized.verification import covered_values, is_frequent, shapes_of
from sqlanon.methods.mondrian.attributes import Attribute, described
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables


class Boxes:
    """The boxes of one release, seen by a view whose people are looked up. name: tells them from another release's."""

    def __init__(self, view: View, published: PublishedTables, name: str = "") -> None:
        """Take the tables of a release; the view has the people, and keeps what is made."""
        self.view, self.published, self.name = view, published, name
        self.attributes = described(published.manifest)
        columns = [name for attribute in self.attributes for name in attribute.names.values()]
        self.columns = {column: f"shown_{number}" for number, column in enumerate(columns, start=1)}
        (self.sensitive,) = published.manifest["columns"]["sensitive"]

    def keep(self, name: str, template: str, given: Mapping[str, Sql], /, **values: object) -> Sql:
        """Make a relation of this release once."""
        return self.view.keep(f"{name}{self.name}", template, given, **values)

    @cached_property
    def box(self) -> Sql:
        """Return the boxes, numbered, with their rows."""
        text = boxes_query(self.published, list(self.columns), self.sensitive)
        return self.view.workspace.keep(f"box{self.name}", text)

    @cached_property
    def rows(self) -> Sql:
        """Return the published rows as they lie: line_number, group_id (of the box), value, held."""
        stored = self.view.engine.in_stored_order(self.published.tables["data"])
        relations, columns = {"stored_data": stored, "box": self.box}, list(self.columns.items())
        sensitive = shown_sensitive(self.published, "data", self.sensitive)
        return self.keep("box_row", "adversary/boxes/box_row", relations, boxed=columns, sensitive=sensitive)

    def lines(self) -> Sql:
        """Return how much of every value a box holds."""
        return self.keep("box_line", "adversary/boxes/box_line", {"box_row": self.rows})

    @property
    def shapes(self) -> dict[str, object]:
        """Return what boxes show of the columns that people are known by."""
        known_by = [attribute for attribute in self.attributes if attribute.name in self.view.quasi]
        return shapes_of(known_by, self.columns, self.covered)

    def figures(self) -> dict[str, Any]:
        """Return how many rows there are, in the smallest box, and in boxes that hold one combination of values."""
        return self.view.row("adversary/boxes/box_figures", {"box": self.box}, **self.shapes)

    def covered(self, attribute: Attribute) -> Sql:
        """Return what each node or set of one attribute stands for."""
        name = f"covered_{attribute.number}{self.name}"
        if name not in self.view.relations:
            text = f"select distinct shown, name from {covered_values(self.published, attribute)} as covered"
            self.view.relations[name] = self.view.workspace.keep(name, text)
        return self.view.relations[name]

    def find_people(self) -> Sql:
        """Return the boxes that have room for each combination of quasi values: combination, box."""
        return self.keep("fit", "adversary/boxes/fit", {"box": self.box}, people=self.view.quasi, **self.shapes)


class BoxView(View):
    """Boxes are groups without a number, and nobody's quasi values are published.

    Who is attacked is somebody whose quasi values are known from elsewhere: the source says of whom. A box is then a
    group of the people that it has room for; where boxes overlap, somebody is in several.
    """

    numbered = False
    even = False
    shows_people = False
    intersects = True
    lacks_groups = "boxes, which overlap"

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published table and the manifest."""
        super().__init__(engine, tables, manifest)
        self.boxes = Boxes(self, self.published)
        self._people: Sql | None = None

    def people(self) -> Sql:
        """Return the people of the source, as it has them."""
        assert self._people is not None, "boxes show nobody before the source is read"
        return self._people

    @staticmethod
    def find_candidates(view: View, published: PublishedTables, name: str) -> Sql:
        """Return the values of the boxes that have room for people."""
        if isinstance(view, BoxView) and published is view.published:
            boxes = view.boxes
        else:
            boxes = Boxes(view, published, f"_of_{name}")
        return view.keep(name, "adversary/boxes/boxed_candidate", {"fit": boxes.find_people(), "line": boxes.lines()})

    @cached_property
    def promise(self) -> Promise:
        """Return what different values in a box leave."""
        if is_frequent(self.manifest):
            l = int(self.manifest["parameters"]["l"])
            return Promise(tuple(1 / (l - excluded) for excluded in range(l - 1)))
        return promise_of_different(int(self.manifest["parameters"]["l"]), self.count_largest(), "values")

    def lines(self) -> Sql:
        """Return how much of every value a box holds."""
        return self.boxes.lines()

    def slots(self, order_column: str) -> Sql:
        """Return the places of the values in each box; those of single rows where they are taken as they lie."""
        if order_column != "line_number":
            return super().slots(order_column)
        rows = self.boxes.rows
        placed = {
            "holding": self.keep("row_holding", "adversary/view/holding", {"line": rows, "person": rows}, several=False)
        }
        return self.keep("slot_line_number", "adversary/view/slot", placed, order_column=order_column)

    def known_people(self) -> Sql:
        """Return everybody, once for each box that has room for them."""
        fit = {"fit": self.boxes.find_people()}
        return self.keep("known_person", "adversary/boxes/boxed_person", fit, quasi=self.names)

    def seats(self) -> Sql:
        """Return the people of each combination in each box that has room for them.

        Nothing tells people of one combination apart: a table of 148,318 rows has 7,209 by four quasi columns.
        """
        return self.keep("seat", "adversary/boxes/boxed_seat", {"fit": self.boxes.find_people()})

    def count_truth(self, truth: Sql) -> Sql:
        """Return how many people of each combination have which value."""
        return self.keep("truth", "adversary/view/truth", {"microdata": truth}, quasi=self.names)

    def seated_people(self) -> Sql:
        """Return everybody in each box that has room for them."""
        return self.known_people()

    def read_source(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Read who there is, with their true values; people in no box are refused where they are many."""
        source, types = self.published.find_original(against)
        self.refuse_repeated(source.relation, list(types), identifier)
        selected = self.told_by(source, types, {one.name: one.type for one in described(self.manifest)})
        selected.append((Sql("row_number() over ()"), "person_number"))
        relation = self.published.without_dropped(source, types).relation
        rendered = render_query("source", {"relation": relation, "selected": selected}, {})
        self._people = self.workspace.keep("person", rendered)
        found = {"other": self.boxes.find_people()}
        figures = self.row("adversary/view/shared_people", found, keys=["combination"])
        refuse_other_people(figures["shared_people"], figures["people"])
        (own,) = self.engine.rows(f"select count(distinct person_number) as people from {self.links(self._people)}")
        refuse_other_values(own["people"], figures["shared_people"], self.sensitive)
        return self._people

    def links(self, truth: Sql) -> Sql:
        """Return everybody's own value in each of their boxes that holds it, by its rows there."""
        return self.keep("link", "adversary/boxes/box_link", {"person": truth})

    def find_presence(self) -> list[Finding]:
        """Return how few rows may be somebody's, and how many rows lie in boxes that are no ranges at all."""
        figures: dict[str, Any] = self.boxes.figures()
        k, rows = self.manifest["guarantee"]["k"], int(figures["rows"])
        picked, promised = 1 / figures["smallest"], 1 / k
        leak = picked > promised + 1e-9
        whom = f"the smallest box has {figures['smallest']:,} rows"
        alone = f"{figures['point_rows']:,} of {rows:,} rows lie in boxes that hold one combination of quasi values"
        return [
            Finding(
                "presence", "a row of somebody's own box is picked", reached=picked, promised=promised, chance=None,
                whom=whom, leak=leak,
            ),
            Finding("presence", "boxes show quasi values exactly", figures["point_rows"] / rows, whom=alone),
        ]  # fmt: skip


VIEW = BoxView
