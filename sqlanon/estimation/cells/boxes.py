"""Estimate counts from generalized rows as if rows were spread evenly in their boxes, with bounds that always hold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.cells.places import compares_alone, places_of
from sqlanon.estimation.cells.tables import CellTables
from sqlanon.estimation.release_tables import select_columns
from sqlanon.estimation.temporary_tables import Steps
from sqlanon.methods.mondrian.attributes import described, held_table
from sqlanon.plans.templates import Sql, ident

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.plain_counts import PlainCount
    from sqlanon.estimation.query_run import Estimator

MOST_POINTS = 1_000_000  # of a range that is read point by point


class BoxTables(CellTables):
    """Hold the tables that every query over generalized rows reads. Nothing of them is hidden.

    A count is what is to be expected of rows that lie evenly in their boxes; low and high hold for every table that has
    these boxes.
    """

    contents, whole = "generalized rows", ("box", "whole.row_count", "1")
    refusal = "{} over generalized rows is not answered: a box holds a range of values; count rows with COUNT(*)"

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) of a release; nothing runs before the first query."""
        self.attributes = described(dict(manifest))
        self.quasi, (self.sensitive,) = [one.name for one in self.attributes], manifest["columns"]["sensitive"]
        self.hierarchies = {one.number: one.hierarchy for one in self.attributes if one.hierarchy is not None}
        self.types = {one.number: one.sql_type for one in self.attributes}
        # published as ranges: a value between two bounds may be somebody's
        self.open_places = {one.number for one in self.attributes if one.shape == "bounds"}
        super().__init__(engine, tables)

    def loading_steps(self) -> Steps:
        """Render what the first query runs."""
        bounds, shown = list[dict[str, object]](), list[dict[str, object]]()
        for attribute in self.attributes:
            number: dict[str, object] = {"number": attribute.number}
            if attribute.shape == "bounds":
                places = places_of(attribute.type)
                unknown = ident(f"unknown_{attribute.number}") if "unknown" in attribute.names else Sql("false")
                ends = {"low_place": places.read("low"), "high_place": places.read("high")}
                bounds.append(number | {"unknown": unknown, **ends})
            else:
                ((name, _),), tree = attribute.shown, attribute.hierarchy
                held, roots = ("", []) if tree is None else (held_table(tree), [tree.root] * attribute.has_unknown)
                shown.append(number | {"name": name, "held": held, "roots": roots})
        boxed = [(name, part) for attribute in self.attributes for part, name in attribute.shown]
        values = {"boxed": boxed, "bounds": bounds, "shown": shown, "sensitive": self.sensitive}
        return self.write("evidence/boxes", self.tables, **values)

    def column(self, place: int, pieces: Sequence[Sql] = ()) -> dict[str, Any]:
        """Return how the cells of a column are read: ranges, or what nodes and sets stand for."""
        attribute, column = self.attributes[place - 1], {"number": place, "sql_type": self.types[place]}
        if attribute.shape != "bounds":
            return {"kind": "covered", "covered": self.relations[f"covered_{place}"], **column}
        places = places_of(attribute.type)
        return column | {
            "kind": "bounds",
            "cell": self.relations[f"cell_{place}"],
            "unit": places.unit,
            "filling": Sql(places.filling),
            "middle": Sql(places.middle),
            "most_points": MOST_POINTS,
            # what else than a comparison says of values between two points is open
            "open_gaps": int(not all(map(compares_alone, pieces))),
        }

    def render_candidates(self, place: int, constants: Sequence[Sql] = ()) -> Sql:
        """Write the values that a column may hold; constants: what a query compares them with."""
        attribute = self.attributes[place - 1]
        values = [Sql(f"try_cast({constant} as {attribute.type})") for constant in constants]
        placed = [(value, places_of(attribute.type).read(value)) for value in values if attribute.shape == "bounds"]
        return Sql(self.render("evidence/candidates", {}, column=self.column(place), constants=placed))

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for the sensitive column, which is not generalized."""
        return select_columns(columns, self.tables["data"]) if columns <= {self.sensitive} else None

    def answer_together(
        self, plain: "Iterator[tuple[int, PlainCount]]", name: str, estimate: "Estimator"
    ) -> "dict[int, Answered]":
        """Answer plain counts that compare columns without a hierarchy."""
        from sqlanon.estimation.cells.box_batch import answer_boxes  # scipy is slow to load

        self.load()
        return answer_boxes(self, plain)
