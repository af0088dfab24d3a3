"""Generalized rows loaded for estimation: boxes, the cells of each attribute, and sensitive values with counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.generalized.places import compares_alone, places_of
from sqlanon.estimation.sound_tables import load_readable
from sqlanon.estimation.uncertain.cell_tables import CellTables
from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.methods.mondrian.read_manifest import described, held_table
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql, ident

MOST_POINTS = 1_000_000  # of a range that is read point by point


@dataclass(frozen=True)
class BoxColumns:
    """The attributes by what a query's run asks of them. ordered: those whose candidates depend on each other: none."""

    attributes: tuple[Attribute, ...]
    ordered: tuple[tuple[int, Sql], ...] = field(default=())

    @property
    def trees(self) -> list[int]:
        """Return the places of the columns that have a hierarchy, from 1."""
        return [attribute.number for attribute in self.attributes if attribute.hierarchy is not None]

    def inner(self, column: str) -> list[str]:
        """Return the nodes of a column's hierarchy that no row holds: each stands for several values."""
        (hierarchy,) = (attribute.hierarchy for attribute in self.attributes if attribute.name == column)
        return [] if hierarchy is None else sorted(set(hierarchy.paths) - hierarchy.leaves)


class BoxTables(CellTables):
    """Hold the tables that every query over generalized rows reads. Nothing of them is hidden."""

    whole = ("box", "row_count")

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table (`data`) of a release; nothing runs before the first query."""
        self.attributes = described(dict(manifest))
        self.described: BoxColumns = BoxColumns(self.attributes)
        self.quasi = [attribute.name for attribute in self.attributes]
        (self.sensitive,) = manifest["columns"]["sensitive"]
        boxed = [(name, part) for attribute in self.attributes for part, name in attribute.shown]
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, {"boxed": boxed, "sensitive": self.sensitive}, names)
        self._loaded = False
        for name, _ in self._render_tables():
            self.relations[name] = relation_name(self.prefix, name)

    @property
    def types(self) -> dict[int, Sql]:
        """Return the type of each quasi column's values, by its place from 1."""
        return {attribute.number: Sql(attribute.type) for attribute in self.attributes}

    @property
    def open_columns(self) -> set[str]:
        """Return our names of the columns published as ranges: a value between two bounds may be somebody's."""
        return {f"quasi_{attribute.number}" for attribute in self.attributes if attribute.shape == "bounds"}

    def load(self) -> None:
        """Make the tables at the first call; raise ReleaseError where they are no generalized rows."""
        if not self._loaded:
            load_readable(self._keep_tables, "generalized rows")
            self._loaded = True

    def _keep_tables(self) -> None:
        for name, sql in self._render_tables():
            self.keep(name, sql)

    # -- the statements ------------------------------------------------------------------------

    def loading_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the first query runs."""
        return self._render_tables()

    def render_own(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> str:
        """Render a template over these tables and the given ones."""
        return self.render(template, {**self.relations, **(given or {})}, **values)

    def _render_tables(self) -> list[tuple[str, str]]:
        relations: dict[str, Sql] = {
            **self.tables,
            **{name: relation_name(self.prefix, name) for name in ("box", "value")},
        }
        listed = [("box", self.render("estimation/generalized/box", relations))]
        bounds, shown_cells = [], []
        for attribute in self.attributes:
            name = f"cell_{attribute.number}"
            cell = relation_name(self.prefix, name)
            if attribute.shape == "bounds":
                places, unknown = places_of(attribute.type), _unknown(attribute)
                ends = {"low_place": places.read("low"), "high_place": places.read("high")}
                listed.append(
                    (
                        name,
                        self.render(
                            "estimation/generalized/bounds_cell",
                            relations,
                            number=attribute.number,
                            unknown=unknown,
                            **ends,
                        ),
                    )
                )
                bounds.append((attribute.number, cell, unknown))
                continue
            ((column, _),) = attribute.shown
            listed.append((name, self.render("estimation/generalized/shown_cell", relations, shown_column=column)))
            shown_cells.append((attribute.number, cell, column))
            listed.append((f"covered_{attribute.number}", self._render_covered(attribute, cell)))
        return [
            *listed,
            (
                "cell_person",
                self.render("estimation/generalized/box_person", relations, bounds=bounds, shown=shown_cells),
            ),
            ("value", self.render_values(self.tables["data"], ident(self.sensitive), Sql("count(*)"))),
            ("alternative", self.render("estimation/generalized/box_line", relations)),
        ]

    def _render_covered(self, attribute: Attribute, cell: Sql) -> str:
        """Write the query for the values that each node, or set, of an attribute stands for."""
        if attribute.hierarchy is None:
            return self.render("estimation/generalized/set_covered", {"cell": cell})
        step = held_table(attribute.hierarchy)
        node_values = Sql(f"(\n{self.render(step.template, {}, **step.values)}\n)")
        roots = [attribute.hierarchy.root] * attribute.has_unknown
        return self.render("estimation/generalized/node_covered", {"cell": cell, "held": node_values}, roots=roots)

    # -- one column ----------------------------------------------------------------------------

    def render_candidates(self, place: int, constants: Sequence[Sql]) -> str:
        """Write the query for the values that a column may hold; constants: what a query compares them with."""
        attribute = self.attributes[place - 1]
        if attribute.shape != "bounds":
            covered = {"covered": self.relations[f"covered_{place}"]}
            return self.render(
                "estimation/generalized/candidate_covered", covered, number=place, sql_type=Sql(attribute.type)
            )
        places = places_of(attribute.type)
        values = [Sql(f"try_cast({constant} as {attribute.type})") for constant in constants]
        return self.render(
            "estimation/generalized/candidate_bounds",
            {"cell": self.relations[f"cell_{place}"]},
            number=place,
            constants=[(value, places.read(value)) for value in values],
            filled=[Sql(places.filling)] if places.filling else [],
            middle=Sql(places.middle),
            unit=places.unit,
            most_points=MOST_POINTS,
        )

    def render_spread(self, place: int, marked: Sql, candidate: Sql, signature: Sql, pieces: Sequence[Sql]) -> str:
        """Write the query for how likely each cell of a column has each signature; pieces: what decides it."""
        attribute = self.attributes[place - 1]
        if attribute.shape != "bounds":
            return self.render(
                "estimation/generalized/spread_covered",
                {"covered": self.relations[f"covered_{place}"], "marked": marked},
            )
        relations = {"cell": self.relations[f"cell_{place}"], "candidate": candidate, "marked": marked}
        # what else than a comparison says of values between two points is open
        open_gaps = int(not all(map(compares_alone, pieces)))
        values = {"unit": places_of(attribute.type).unit, "open_gaps": open_gaps}
        return self.render("estimation/generalized/spread_bounds", relations, **values)

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._loaded = False


def _unknown(attribute: Attribute) -> Sql:
    return ident(f"unknown_{attribute.number}") if "unknown" in attribute.names else Sql("false")
