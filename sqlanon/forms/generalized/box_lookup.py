"""Find the boxes of generalized rows in which people lie, who are known by their quasi values.

No pair of a person and a box need be looked at whose codes do not meet: boxes are laid out over the codes of those
columns that tell them apart best, people find them by equality, and only these pairs are compared exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlanon.adversary.view import View
from sqlanon.adversary.voter_list import boxes_query
from sqlanon.forms.generalized.verification import covered_values
from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.methods.mondrian.read_manifest import described
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables

CELLS_PER_BOX, LEAST_CELLS = 100, 2_000_000  # how far boxes are laid out


@dataclass(frozen=True)
class Side:
    """What one attribute shows of a box, by the internal names of its columns.

    quasi, code: the columns of people that it is compared with. shown: low, high (and unknown), or one node or set.
    """

    attribute: Attribute
    quasi: str
    code: str
    shown: Sequence[str]

    @property
    def unknown(self) -> Sql:
        """Return the condition on a box under which it has room for who has no value."""
        return Sql(f"box.{self.shown[2]}") if len(self.shown) > 2 else Sql("false")


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
    def sides(self) -> list[Side]:
        """Return what is shown of the columns that people are known by."""
        places = {name: place for place, name in enumerate(self.view.quasi)}
        return [
            Side(
                attribute,
                self.view.names[places[attribute.name]],
                self.view.codes[places[attribute.name]],
                [self.columns[name] for name in attribute.names.values()],
            )
            for attribute in self.attributes
            if attribute.name in places
        ]

    @property
    def _ranges(self) -> list[Side]:
        return [side for side in self.sides if side.attribute.shape == "bounds"]

    @property
    def _listed(self) -> list[Side]:
        return [side for side in self.sides if side.attribute.shape != "bounds"]

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
        return self.keep("box_row", "box_row", relations, boxed=columns, sensitive=self.sensitive)

    def lines(self) -> Sql:
        """Return how much of every value a box holds."""
        return self.keep("box_line", "box_line", {"box_row": self.rows})

    def figures(self) -> dict[str, Any]:
        """Return how many rows there are, in the smallest box, and in boxes that hold one combination of values."""
        listed = [(side.shown[0], self.covered(side)) for side in self._listed]
        ends = [(*side.shown[:2], side.unknown) for side in self._ranges]
        return self.view.row("box_figures", {"box": self.box}, bounds=ends, lists=listed)

    def covered(self, side: Side) -> Sql:
        """Return what each node or set of one attribute stands for."""
        name = f"covered_{side.attribute.number}{self.name}"
        if name not in self.view.relations:
            text = f"select distinct shown, name from {covered_values(self.published, side.attribute)} as covered"
            self.view.relations[name] = self.view.workspace.keep(name, text)
        return self.view.relations[name]

    def _room(self, side: Side) -> Sql:
        """Return the codes of one attribute for which each box has room."""
        name, relations = (
            f"room_{side.attribute.number}",
            {"combination": self.view.coded_combinations(), "box": self.box},
        )
        roles = {"name": side.quasi, "code": side.code, "shown": list(side.shown[:2])}
        if side.attribute.shape == "bounds":
            return self.keep(name, "room_of_bounds", relations, unknown=side.unknown, **roles)
        return self.keep(name, "room_of_list", {**relations, "covered": self.covered(side)}, **roles)

    def _choose(self) -> list[tuple[Sql, str]]:
        """Return the columns over which boxes are laid out: those of which a box has the smallest share of codes."""
        candidates = []
        for side in self.sides:
            room = self._room(side)
            figures = self.view.row("room_figures", {"room": room}, code=side.code)
            mean = float(figures["mean_codes"])
            candidates.append((mean / max(figures["codes"], 1), mean, room, side.code))
        (boxes,) = self.view.engine.rows(f"select count(*) as boxes from {self.box}")
        cells, most = boxes["boxes"], max(LEAST_CELLS, CELLS_PER_BOX * boxes["boxes"])
        rooms: list[tuple[Sql, str]] = []
        for _, mean, room, code in sorted(candidates, key=lambda candidate: candidate[0]):
            if not rooms or cells * mean <= most:
                cells *= mean
                rooms.append((room, code))
        return rooms

    def find_people(self) -> Sql:
        """Return the boxes that have room for each combination of quasi values: combination, box."""
        rooms = self._choose()
        codes = [code for _, code in rooms]
        cell = self.keep("cell", "cell", {"box": self.box}, rooms=rooms)
        relations = {"combination": self.view.coded_combinations(), "cell": cell, "box": self.box}
        bounds = [(*side.shown[:2], side.unknown, side.quasi) for side in self._ranges]
        lists = [(side.shown[0], self.covered(side), side.quasi) for side in self._listed]
        return self.keep("fit", "fit", relations, codes=codes, bounds=bounds, lists=lists)
