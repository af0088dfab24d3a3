"""The statements of a query's components, each over combinations of the cells of its own columns.

Candidates of a cell for which all that a query reads is equal have one signature; what is joint is evaluated on
combinations of signatures, which are few.
"""

from collections.abc import Mapping, Sequence

from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimation.uncertain.cell_tables import CellTables
from sqlanon.estimation.uncertain.query_parts import Component, QueryParts
from sqlanon.plans.templates import Sql


class ComponentStatements:
    """Write the statements of one query's components, over the relations that the query has placed."""

    def __init__(
        self, loaded: CellTables, parts: QueryParts, relations: Mapping[str, Sql], cases: Sequence[Sql]
    ) -> None:
        """Take the release's tables, the split query, its relations, and the pieces that tell sensitive cases apart."""
        self.loaded, self.parts, self.relations, self.cases = loaded, parts, relations, cases

    def render_signature(self, place: int) -> Sql:
        """Write the signatures of a column's candidates, each with its marks, to stand where a relation does."""
        given = {"marked": self.relations[f"marked_{place}"]}
        return inline(self.loaded.render_own("signature", given, marks=self.parts.list_marks(place)))

    def _render_combination(self, component: Component) -> Sql:
        """Write the combinations of cells that the release has in a component's columns."""
        if not component.columns:
            return Sql("(select 0 as nothing)")
        return inline(self.loaded.render_own("cell_combination", columns=sorted(component.columns)))

    def render_world_count(self, component: Component) -> str:
        """Write the query for how many combinations of cells and signatures a component has to be evaluated on."""
        spreads = [(place, self.relations[f"spread_{place}"]) for place in sorted(component.columns)]
        given = {"cell_combination": self._render_combination(component)}
        return self.loaded.render_own("world_count", given, spreads=spreads)

    def render_hit(self, component: Component) -> str:
        """Write how surely each combination of cells satisfies a component, by case and keys."""
        own, columns = self.loaded.render_own, sorted(component.columns)
        # A component over both sides holds or fails case by case, once for every combination of sensitive parts.
        cases = inline(own("asked_case", {"asked": self.relations["asked"]}, parts=self.cases))
        world = own(
            "possible_world",
            {"cell_combination": self._render_combination(component)},
            spreads=[(place, self.relations[f"spread_{place}"], self.render_signature(place)) for place in columns],
            cases=[cases] if component.mixed else [],
            conditions=component.open_conditions,
            keys=list(component.keys),
            asked_columns=component.asked_columns,
            measures=component.open_measures,
        )
        places = [place for place, _ in component.keys]
        measures = [number for number, *_ in component.measures]
        given = {"possible_world": inline(world)}
        return own("possible_hit", given, columns=columns, key_places=places, measures=measures)

    @property
    def key_places(self) -> list[int]:
        """Return the places of the query's quasi keys, from 1."""
        return sorted(place for one in self.parts.components for place, _ in one.keys)

    def _render_possible_row(self, measures: bool) -> Sql:
        """Write the rows that satisfy every component, with or without those that are only measured.

        Components share no column, so that their shares multiply.
        """
        numbered = [
            (number, one)
            for number, one in enumerate(self.parts.components, start=1)
            if measures or one.conditions or one.keys
        ]
        hits = [number for number, _ in numbered]
        keys = {place: Sql(f"hit_{number}.key_{place}") for number, one in numbered for place, _ in one.keys}
        case = next((Sql(f"hit_{number}.case_number") for number, one in numbered if one.mixed), Sql("0"))
        rows = self.loaded.render_own(
            "possible_row",
            hits=hits,
            joins=[(n, self.relations[f"hit_{n}"], sorted(one.columns)) for n, one in numbered],
            keys=[keys[place] for place in sorted(keys)],
            case_column=case,
            # Hidden rows are counted apart where a condition or key reads a quasi column.
            conditions=[Sql("cell_person.suppressed = 0")] if measures or self.parts.asks_rows else [],
            measures=[
                (measure, number, [other for other in hits if other != number])
                for number, one in numbered
                for measure, *_ in one.measures
                if measures
            ],
        )
        return inline(rows)

    def render_person_hit(self) -> str:
        """Write how many rows of each group and cell satisfy every component."""
        apart = [Sql("person"), Sql("case_number")] if self.parts.mixed else []
        given = {"possible_row": self._render_possible_row(measures=False)}
        return self.loaded.render_own("person_hit", given, key_places=self.key_places, apart=apart)

    def render_measured_row(self, number: int) -> str:
        """Write what a measure of quasi columns may be on the rows of each group and cell."""
        given = {"possible_row": self._render_possible_row(measures=True)}
        return self.loaded.render_own("measured_row", given, number=number, key_places=self.key_places)
