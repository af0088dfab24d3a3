"""Estimate counts from generalized rows as if rows were spread evenly in their boxes, with bounds that always hold."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.cells.places import compares_alone, places_of
from sqlanon.estimation.cells.run import CellRun, CellTables, Counts
from sqlanon.estimation.exact import select_columns
from sqlanon.estimation.plain_counts import read_plain_counts
from sqlanon.estimation.query_run import Estimator, QueryRun
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.estimators.evidence import Estimate
from sqlanon.methods.mondrian.read_manifest import described, held_table
from sqlanon.plans.plan import Loop, Report
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Query

FEW = 8  # queries that are answered sooner alone
MOST_POINTS = 1_000_000  # of a range that is read point by point


class BoxTables(CellTables):
    """Hold the tables that every query over generalized rows reads. Nothing of them is hidden."""

    contents, whole = "generalized rows", ("box", "whole.row_count", "1")

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) of a release; nothing runs before the first query."""
        self.attributes = described(dict(manifest))
        self.quasi = [attribute.name for attribute in self.attributes]
        (self.sensitive,) = manifest["columns"]["sensitive"]
        self.hierarchies = {each.number: each.hierarchy for each in self.attributes if each.hierarchy is not None}
        self.types = {each.number: each.sql_type for each in self.attributes}
        # published as ranges: a value between two bounds may be somebody's
        self.open_places = {each.number for each in self.attributes if each.shape == "bounds"}
        super().__init__(engine, dict(tables))

    def loading_steps(self) -> list[Statement | Report | Loop]:
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


class BoxRun(CellRun):
    """Answer COUNT(*) alone: a cell is a side of a box, and may hold what the side covers."""

    refusal = "{} over generalized rows is not answered: a box holds a range of values; count rows with COUNT(*)"

    def make_estimates(self, counts: Counts) -> list[Estimate]:
        """Return the expected counts; the interval is from the certain count to the possible one, without an error."""
        error = np.where(counts.certain == counts.possible, 0.0, np.nan)
        estimate = Estimate(counts.value, error, counts.certain, counts.possible, counts.value)
        return [estimate] * len(self.query.aggregates)


class BoxSession(Session):
    """A session of a release of boxes, for COUNT(*).

    A count is what is to be expected of rows that lie evenly in their boxes; low and high hold for every table that has
    these boxes.
    """

    has_errors = False
    loaded: BoxTables

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) and the manifest; nothing runs before the first query."""
        self.loaded = BoxTables(engine, tables, manifest)
        super().__init__(self.loaded.quasi, self.loaded.sensitive, UNIFORM_ALONE, "mondrian")

    def start(self, query: Query, name: str) -> CellRun:
        """Start the run of a query."""
        return BoxRun(self.loaded, query)

    def load(self, run: QueryRun) -> None:
        """Make the tables of boxes."""
        self.loaded.load()

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for the sensitive column, which is not generalized."""
        return select_columns(columns, self.loaded.tables["data"]) if set(columns) <= set(self.sensitive) else None

    def answer_together(self, queries: Sequence[str], name: str, estimate: Estimator) -> dict[int, Answered]:
        """Answer plain counts that compare columns without a hierarchy."""
        if len(queries) < FEW or not self.loaded.engine.in_process:
            return {}
        from sqlanon.estimation.cells.box_batch import BoxBatch, compares_values  # scipy is slow to load

        self.loaded.load()
        plain = read_plain_counts(queries, self._parse)
        together = ((place, query) for place, query in plain if compares_values(self.loaded, query.quasi))
        return BoxBatch(self.loaded).answer_all(together)
