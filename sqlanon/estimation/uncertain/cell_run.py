"""The run of one query over uncertain data: cells, signatures, rows, and sets of sensitive values.

The query is split into components, each over the cells of its own columns. Candidates of a cell for which everything
that the query reads is equal have one signature. What columns decide together is evaluated on combinations of
signatures, which are few.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sqlanon.errors import AnswerError
from sqlanon.estimation.memory_need import require_memory
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimation.uncertain.cell_tables import CellTables
from sqlanon.estimation.uncertain.counts import DIGITS, FIGURES, Counts, fill
from sqlanon.estimation.uncertain.query_parts import QUASI, Component, QueryParts, split_query
from sqlanon.estimators.evidence import Array, BoolArray
from sqlanon.plans.plan import relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Comparison, Query
from sqlanon.sql.user_sql import list_constants

_HIDDEN = (
    "{:,} rows are hidden behind '*': possible for every condition on quasi columns, certain for none, expected as the"
    " share among the other rows"
)
_INNER = "{} is no value of {} but a node above several: no row equals it; name the values below it"
ANSWER_ARRAYS = 25  # numbers that are held at once of a cell and set, by measurement
_WIDE = "the query tells {} combinations of alternatives apart, more than {:,}; ask one column at a time, or coarser"


class ComponentStatements:
    """Write the statements of one query's components, over the relations that the query has placed."""

    def __init__(
        self, loaded: CellTables, parts: QueryParts, relations: Mapping[str, Sql], cases: Sequence[Sql]
    ) -> None:
        """Take the release's tables, the split query, its relations, and the pieces that tell sensitive cases apart."""
        self.loaded, self.parts, self.relations, self.cases = loaded, parts, relations, cases

    def render_signature(self, place: int) -> Sql:
        """Write the signatures of a column's candidates, each with its marks, to stand where a relation does."""
        columns = ["signature", *(str(mark) for mark, _ in self.parts.list_marks(place))]
        return inline(self.loaded.render_different(self.relations[f"marked_{place}"], columns))

    def _render_combination(self, component: Component) -> Sql:
        """Write the combinations of cells that the release has in a component's columns."""
        if not component.columns:
            return Sql("(select 0 as nothing)")
        columns = [f"cell_{number}" for number in sorted(component.columns)]
        return inline(self.loaded.render_different(self.loaded.relations["cell_person"], columns, "suppressed = 0"))

    def render_world_count(self, component: Component) -> str:
        """Write the query for how many combinations of cells and signatures a component has to be evaluated on."""
        spreads = [(place, self.relations[f"spread_{place}"]) for place in sorted(component.columns)]
        relations = {"cell_combination": self._render_combination(component)}
        return self.loaded.render_own("estimation/uncertain/world_count", relations, spreads=spreads)

    def render_hit(self, component: Component) -> str:
        """Write how surely each combination of cells satisfies a component, by case and keys."""
        render, columns = self.loaded.render_own, sorted(component.columns)
        # A component over both sides holds or fails case by case, once for every combination of sensitive parts.
        parts = ["case_number", *(f"part_{number}" for number in range(1, len(self.cases) + 1))]
        cases = inline(self.loaded.render_different(self.relations["asked"], parts))
        world = render(
            "estimation/uncertain/possible_world",
            {"cell_combination": self._render_combination(component)},
            spreads=[(place, self.relations[f"spread_{place}"], self.render_signature(place)) for place in columns],
            cases=[cases] if component.mixed else [],
            conditions=component.open_conditions,
            keys=list(component.keys),
            asked_columns=component.asked_columns,
        )
        places = [place for place, _ in component.keys]
        relations = {"possible_world": inline(world)}
        return render("estimation/uncertain/possible_hit", relations, columns=columns, key_places=places)

    @property
    def keys(self) -> list[tuple[int, Sql]]:
        """Return the query's quasi keys, each with its place from 1, in their order."""
        return sorted((place, sql) for component in self.parts.components for place, sql in component.keys)

    def _render_possible_row(self) -> Sql:
        """Write the rows that satisfy every component.

        Components share no column, so that their shares multiply.
        """
        numbered = list(enumerate(self.parts.components, start=1))
        hits = [number for number, _ in numbered]
        keys = {
            place: Sql(f"hit_{number}.key_{place}") for number, component in numbered for place, _ in component.keys
        }
        case = next((Sql(f"hit_{number}.case_number") for number, component in numbered if component.mixed), Sql("0"))
        rows = self.loaded.render_own(
            "estimation/uncertain/possible_row",
            hits=hits,
            joins=[(n, self.relations[f"hit_{n}"], sorted(component.columns)) for n, component in numbered],
            keys=[keys[place] for place in sorted(keys)],
            case_column=case,
            # Hidden rows are counted apart where a condition or key reads a quasi column.
            conditions=[Sql("cell_person.suppressed = 0")] if self.parts.asks_rows else [],
        )
        return inline(rows)

    def render_person_hit(self) -> str:
        """Write how many rows of each group and cell satisfy every component."""
        apart = [Sql("person"), Sql("case_number")] if self.parts.mixed else []
        relations = {"possible_row": self._render_possible_row()}
        return self.loaded.render_own("estimation/uncertain/person_hit", relations, keys=self.keys, apart=apart)


@dataclass(frozen=True)
class RunStep:
    """A table that a run makes, or a query (`limited` names its one figure) that refuses too much of it."""

    name: str
    sql: str
    limited: str = ""


class CellWay:
    """What one run answers from its counts: certain, possible and expected rows. A form says what it takes."""

    def __init__(self, run: "CellRun") -> None:
        """Take the run, whose query is sorted."""
        self.run = run

    def refuse_aggregates(self) -> None:
        """Raise QueryError where the query asks for more than is answered."""
        raise NotImplementedError

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate: certain, possible, expected; under an alias n, n_certain, …."""
        keys = [item.name for item in self.run.query.items if item.aggregate is None]
        before = "" if name == "count" else f"{name}_"
        return [(figure, free_name(f"{before}{ending}", keys)) for figure, ending in FIGURES.items()]

    def make_estimates(self, counts: Counts, occurring: BoolArray) -> Sequence[Any]:
        """Return a dataclass of arrays per aggregate."""
        raise NotImplementedError


class CellRun(QueryRun):
    """One query on its way through rows whose cells may hold one of several values."""

    SELECTING = ("sensitive", "constant")
    answers_averages = False

    def __init__(self, loaded: CellTables, query: Query, way: type[CellWay]) -> None:
        """Split the query and place its relations; nothing runs yet. Raises QueryError for what is not answered."""
        super().__init__(loaded, query)
        self.way = way(self)
        self.way.refuse_aggregates()
        self.loaded, self.parts = loaded, split_query(query)
        self._place_relations()
        self.component_statements = ComponentStatements(loaded, self.parts, self.relations, query.parts)

    def _place_relations(self) -> None:
        """Say where the steps' relations stand."""
        names = [f"{name}_{place}" for place in self.parts.marks for name in ("marked", "spread")]
        names += [f"hit_{number}" for number in range(1, len(self.parts.components) + 1)]
        names += ["person_hit", "asked", "asked_line", "asked_share", "figure"]
        self.relations |= {name: relation_name(self.loaded.prefix, name) for name in names}
        asked_values = inline(self.render_asked())
        if not self.keeps_asked:
            self.relations["asked"] = asked_values
        self.relations["hit"] = self.relations["person_hit"]
        # A row's cells hold no one value: a piece that fails is tried on NULLs of the columns' types.
        nulls = ", ".join(f"cast(null as {sql_type}) as quasi_{place}" for place, sql_type in self.loaded.types.items())
        self.people = Sql(f"(select * from (select {nulls}) as row_of_nulls cross join {asked_values} as asked)")

    def _tell_unknown(self) -> None:
        """Say which rows tell nothing, and which texts are nodes above several values."""
        if self.loaded.hidden_rows and self.parts.asks_rows:
            self.remarks.append(_HIDDEN.format(self.loaded.hidden_rows))
        for place in set(self.loaded.described.trees) & set(self.parts.marks):
            name = self.loaded.quasi[place - 1]
            for node in self.loaded.described.inner(name):
                if any(literal(node) in piece for piece in self.parts.marks[place]):
                    self.explained_constants.add(Sql(f"({literal(node)})"))
                    self.messages.append(_INNER.format(repr(node), repr(name)))

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate as the way of answering has them."""
        return self.way.name_columns(name)

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [("asked", self.render_asked()), *((step.name, step.sql) for step in self.steps())]
        listed += [("moment", self._render_moment()), ("satisfying_share", self._render_share())]
        listed.append(("hidden", self._render_hidden()))
        return listed + self.closing_statements()

    def comparisons(self) -> Sequence[Comparison]:
        """Leave out columns whose cells may hold values that none of them shows."""
        open_columns = self.loaded.open_columns
        return [comparison for comparison in self.query.comparisons if comparison.column not in open_columns]

    def domain(self, column: str) -> Sql:
        """Return the values that a column's cells, or sets of sensitive values, may hold."""
        if column == "sensitive":
            return self.relations["value"]
        return inline(self.loaded.render_candidates(int(column.removeprefix(QUASI)), []))

    def steps(self) -> Iterator[RunStep]:
        """Yield the tables that are made, and what must not be too much before they are."""
        render, relations = self.loaded.render_own, self.relations
        for place in self.parts.marks:
            candidate, marked = inline(self._render_candidates(place)), relations[f"marked_{place}"]
            yield RunStep(
                f"marked_{place}",
                render("estimation/uncertain/marked", {"candidate": candidate}, marks=self.parts.list_marks(place)),
            )
            if place in (column for column, _ in self.loaded.described.ordered):
                yield RunStep(
                    f"signature_count_{place}",
                    render("estimation/uncertain/signature_count", {"marked": marked}),
                    "compared",
                )
            yield RunStep(f"spread_{place}", self._render_spread(place, marked, candidate))
        for number, component in enumerate(self.parts.components, start=1):
            if component.columns:
                yield RunStep(
                    f"world_count_{number}", self.component_statements.render_world_count(component), "world_count"
                )
            yield RunStep(f"hit_{number}", self.component_statements.render_hit(component))
        yield RunStep("person_hit", self.component_statements.render_person_hit())
        if self.query.touched:
            yield RunStep("asked_line", render("estimation/uncertain/asked_line", relations))
            yield RunStep("asked_share", render("estimation/uncertain/asked_share", relations))
        else:
            conditions = [piece.sql for piece in self.query.filters("constant")]
            relation, row_count = self.loaded.whole
            share = {"row_count": Sql(row_count), "conditions": conditions}
            relations = {"whole": relations[relation]}
            yield RunStep("asked_share", render("estimation/uncertain/whole_share", relations, **share))

    def _render_candidates(self, place: int) -> str:
        """Write the query for the values that cells of a column may hold."""
        constants = [constant for piece in self.parts.marks[place] for constant in list_constants(piece)]
        return self.loaded.render_candidates(place, list(dict.fromkeys(constants)))

    def _render_spread(self, place: int, marked: Sql, candidate: Sql) -> str:
        """Write the query for how likely each cell of a column has each signature."""
        signature = self.component_statements.render_signature(place)
        return self.loaded.render_spread(place, marked, candidate, signature, [*self.parts.marks[place]])

    def _render_moment(self) -> str:
        """Write the query that joins rows with sets of sensitive values through their groups."""
        return self.loaded.render_own(
            "estimation/uncertain/paired_moment" if self.parts.mixed else "estimation/uncertain/possible_moment",
            self.relations,
        )

    def _render_share(self) -> str:
        """Write the query for what hidden rows are taken to be like."""
        apart = [Sql("case_number")] if self.parts.mixed else []
        return self.loaded.render_own("estimation/uncertain/satisfying_share", self.relations, apart=apart)

    def _render_hidden(self) -> str:
        """Write the query for the sets of sensitive values of hidden rows."""
        return self.loaded.render_own(
            "estimation/uncertain/hidden_case" if self.parts.mixed else "estimation/uncertain/hidden_share",
            self.relations,
        )

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Any], BoolArray]:
        """Make the relations and read the three counts (`Counts`), of which the way makes its figures."""
        self._tell_unknown()
        selected, _ = self.read_selected()
        for step in self.steps():
            if step.limited:
                self._require_narrow(step)
            else:
                self.keep(step.name, step.sql)
        share = self.loaded.engine.frame(self._render_share())
        cells = int(share["cell"].max()) + 1 if len(share) else int(not self.quasi_keys)
        if cells * selected.set_count > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(f"{cells:,} x {selected.set_count:,}", LARGEST_ANSWER))
        require_memory(self.loaded.engine, 0, cells, ANSWER_ARRAYS * selected.set_count)
        moment = self.loaded.engine.frame(self._render_moment())
        shape = (cells, selected.set_count)
        figures = {name: fill(shape, moment, ending, "cell", "set_number") for name, ending in FIGURES.items()}
        # Hidden rows make every group possible: a group occurs where a row that shows its values may lie in it.
        possible_groups = figures["possible"] > 0
        if self.loaded.hidden_rows and self.parts.asks_rows:
            self._add_hidden(figures, share, int(selected.case.max(initial=0)) + 1)
        # Shares sum up to their bounds but for rounding.
        figures["value"] = np.clip(figures["value"], figures["certain"], figures["possible"])
        occurring = possible_groups | (figures["value"] > 0) | (not (self.parts.mixed and self.quasi_keys))
        counts = Counts(**{name: np.round(figure, DIGITS) for name, figure in figures.items()})
        return self.way.make_estimates(counts, occurring), occurring

    def _require_narrow(self, step: RunStep) -> None:
        (row,) = self.loaded.engine.rows(step.sql)
        if row[step.limited] > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(f"{int(row[step.limited]):,}", LARGEST_ANSWER))

    def _add_hidden(self, figures: dict[str, Array], share: pd.DataFrame, cases: int) -> None:
        """Add hidden rows: possible, and expected as the other rows are (NaN where there is no other).

        With n the rows that show values and n_c those of them that satisfy the quasi part in case c, a hidden row does
        with probability n_c/n: expected += Σ_c n_c/n · (hidden rows whose sensitive alternatives lie in case c).
        """
        cells, sets = figures["possible"].shape
        frame = self.loaded.engine.frame(self._render_hidden())
        expected, possible = (
            fill((sets, cases), frame, name, "set_number", "case_number") for name in ("expected", "possible")
        )
        others = fill((cells, cases), share, "expected", "cell", "case_number")
        likely = others / self.loaded.shown_rows if self.loaded.shown_rows else np.full_like(others, np.nan)
        figures["value"] += likely @ expected.T
        figures["possible"] += possible.sum(axis=1)
