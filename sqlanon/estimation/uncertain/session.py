"""Answer counts from a release of uncertain data: what is certain, what is possible, what is to be expected.

A cell tells a node and how many alternatives, or a largest value and how many: the recipient knows what it may hold
(its candidates). Candidates for which all that a query asks is equal have one signature; what is joint is evaluated
on combinations of signatures, which are few.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, QueryError
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, QueryRun, inline
from sqlanon.estimation.uncertain.query_parts import Component, marked, taken_apart
from sqlanon.estimation.uncertain.tables import Candidates
from sqlanon.estimators import estimator_of
from sqlanon.estimators.moments import Array
from sqlanon.plans.plan import relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, literal
from sqlanon.sql.aggregate_query import Query, parse

METHOD = "uncertain"
PUBLISHED = {"certain": "certain", "possible": "possible", "value": "expected"}
DIGITS = 9  # decimals: sums of shares are exact to more
_SUMS = (
    "{} over uncertain data is not answered: a cell may hold several values, so that there is no one sum;"
    " count rows with COUNT(*), under conditions or by GROUP BY"
)
_HIDDEN = (
    "{:,} rows are hidden behind '*': possible for every condition on quasi columns, certain for none, expected as the"
    " share among the other rows"
)
_INNER = "{} is no value of {} but a node above several: no row equals it; name the values below it"
_WIDE = "the query tells {} combinations of alternatives apart, more than {:,}; ask one column at a time, or coarser"


@dataclass(frozen=True)
class Counts:
    """Three counts, cells x asked sets: certain <= value (expected) <= possible."""

    certain: Array
    possible: Array
    value: Array


class Session:
    """Answer COUNT queries about one release; what depends on the release only is made once."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) and the manifest; nothing runs before the first query."""
        self.loaded = Candidates(engine, tables, manifest)
        self._parsed = lru_cache(maxsize=256)(lambda sql: parse(sql, self.loaded.quasi, self.loaded.sensitive))

    def answer(self, sql: str, estimator: str | None = None) -> pd.DataFrame:
        """Answer one query: a row per answer with the columns certain, possible and expected.

        sql: as `query.parse` reads it, COUNT(*) being the one aggregate; COUNT(*) AS n gives n_certain, ….
        `attrs["messages"]` of the frame tells of hidden rows and of nodes that are no values.
        Raises QueryError for a query outside the grammar, DataError where it fails on this data.
        """
        _, estimate = estimator_of(METHOD, estimator)
        asking = _Asking(self.loaded, self._parsed(sql))
        self.loaded.load()
        return asking.answer(estimate)

    def statements(self, sql: str, estimator: str | None = None) -> list[tuple[str, str]]:
        """Return the names and texts of the statements that `answer` runs, in order; run nothing."""
        estimator_of(METHOD, estimator)
        return self.loaded.loading() + _Asking(self.loaded, self._parsed(sql)).statements()

    def close(self) -> None:
        """Forget the temporary tables of this session."""
        self.loaded.close()


class _Asking(QueryRun):
    """One query on its way through cells, signatures, rows and sets of sensitive values."""

    FIGURES = tuple(PUBLISHED)
    ASKED = ("sensitive", "constant")

    def __init__(self, loaded: Candidates, query: Query) -> None:
        super().__init__(loaded, query)
        for aggregate in query.aggregates:
            if aggregate.function != "count":
                raise QueryError(_SUMS.format(aggregate.function.upper()))
        self.loaded = loaded
        parts = taken_apart(query)
        self.marks, self.components = parts.marks, parts.components
        self.mixed = any(component.mixed for component in self.components)
        self._place()

    def _place(self) -> None:
        """Say where the steps' relations stand."""
        names = [f"{name}_{place}" for place in self.marks for name in ("marked", "spread")]
        names += [f"hit_{number}" for number in range(1, len(self.components) + 1)]
        names += ["person_hit", "asked", "asked_line", "asked_share", "figure"]
        self.relations |= {name: relation_name(self.loaded.prefix, name) for name in names}
        if not self.keeps_asked:
            self.relations["asked"] = inline(self.render_asked())
        self.relations["hit"] = self.relations["person_hit"]
        nulls = ", ".join(f"cast(null as {kind}) as quasi_{place}" for place, kind in self.loaded.kinds.items())
        asked = inline(self.render_asked())
        self.people = Sql(f"(select * from (select {nulls}) as row_of_nulls cross join {asked} as asked)")

    def _tell(self) -> None:
        """Say which rows tell nothing, and which texts are nodes above several values."""
        if self.loaded.hidden and self.marks:
            self.remarks.append(_HIDDEN.format(self.loaded.hidden))
        for place in set(self.loaded.said.trees) & set(self.marks):
            name = self.loaded.quasi[place - 1]
            for node in self.loaded.said.inner(name):
                if any(literal(node) in piece for piece in self.marks[place]):
                    self.messages.append(_INNER.format(repr(node), repr(name)))

    def named(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate: certain, possible, expected; under an alias n, n_certain, …."""
        keys = [item.name for item in self.query.items if item.aggregate is None]
        before = "" if name == "count" else f"{name}_"
        return [(figure, free_name(f"{before}{said}", keys)) for figure, said in PUBLISHED.items()]

    # -- the statements ------------------------------------------------------------------------

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order."""
        listed = [("asked", self.render_asked()), *((name, sql) for name, sql, _ in self.steps())]
        listed += [("moment", self.moment_text()), ("satisfying_share", self.share_text())]
        listed.append(("hidden", self.hidden_text()))
        return [*listed, ("answer", self.render_answer())] if self.query.grouped else listed

    def steps(self) -> Iterator[tuple[str, str, str]]:
        """Yield names, texts, and which figure of it is limited (nothing where the text makes a table)."""
        own, given = self.loaded.own, self.relations
        for place, marks in self.marks.items():
            candidate, kept = inline(self.loaded.candidate(place)), given[f"marked_{place}"]
            yield f"marked_{place}", own("marked", {"candidate": candidate}, marks=marked(marks)), ""
            if place in (column for column, _ in self.loaded.said.ordered):
                yield f"signature_count_{place}", own("signature_count", {"marked": kept}), "compared"
            yield f"spread_{place}", self.loaded.spread(place, kept, self._signature(place)), ""
        for number, component in enumerate(self.components, start=1):
            if component.columns:
                yield f"world_count_{number}", self._world_count(component), "world_count"
            yield f"hit_{number}", self._hit(component), ""
        yield "person_hit", self._person_hit(), ""
        if self.query.touched:
            line = own("asked_line", given)
            yield "asked_line", line, ""
            yield "asked_share", own("asked_share", given), ""
        else:
            conditions = [piece.sql for piece in self.query.filters("constant")]
            yield "asked_share", own("whole_share", given, conditions=conditions), ""

    def _signature(self, place: int) -> Sql:
        given = {"marked": self.relations[f"marked_{place}"]}
        return inline(self.loaded.own("signature", given, marks=marked(self.marks[place])))

    def _combination(self, component: Component) -> Sql:
        """Return the combinations of cells that the release has in a component's columns."""
        if not component.columns:
            return Sql("(select 0 as nothing)")
        return inline(self.loaded.own("cell_combination", columns=sorted(component.columns)))

    def _world_count(self, component: Component) -> str:
        spreads = [(place, self.relations[f"spread_{place}"]) for place in sorted(component.columns)]
        return self.loaded.own("world_count", {"cell_combination": self._combination(component)}, spreads=spreads)

    def _hit(self, component: Component) -> str:
        own, columns = self.loaded.own, sorted(component.columns)
        cases = inline(own("asked_case", {"asked": self.relations["asked"]}, parts=self.query.parts))
        world = own(
            "possible_world",
            {"cell_combination": self._combination(component)},
            spreads=[(place, self.relations[f"spread_{place}"], self._signature(place)) for place in columns],
            cases=[cases] if component.mixed else [],
            conditions=component.open_conditions,
            keys=list(component.keys),
        )
        places = [place for place, _ in component.keys]
        return own("possible_hit", {"possible_world": inline(world)}, columns=columns, key_places=places)

    def _person_hit(self) -> str:
        numbered = list(enumerate(self.components, start=1))
        keys = {place: Sql(f"hit_{number}.key_{place}") for number, one in numbered for place, _ in one.keys}
        case = next((Sql(f"hit_{number}.case_number") for number, one in numbered if one.mixed), Sql("0"))
        rows = self.loaded.own(
            "possible_row",
            hits=[number for number, _ in numbered],
            joins=[(n, self.relations[f"hit_{n}"], sorted(one.columns)) for n, one in numbered],
            keys=[keys[place] for place in sorted(keys)],
            case_column=case,
            hidden=[True] if self.marks else [],
        )
        apart = [Sql("person"), Sql("case_number")] if self.mixed else []
        given = {"possible_row": inline(rows)}
        return self.loaded.own("person_hit", given, key_places=sorted(keys), apart=apart)

    def moment_text(self) -> str:
        """Write the query that joins rows with sets of sensitive values through their groups."""
        return self.loaded.own("paired_moment" if self.mixed else "possible_moment", self.relations)

    def share_text(self) -> str:
        """Write the query for what hidden rows are taken to be like."""
        return self.loaded.own("satisfying_share", self.relations, apart=[True] if self.mixed else [])

    def hidden_text(self) -> str:
        """Write the query for the sets of sensitive values of hidden rows."""
        return self.loaded.own("hidden_case" if self.mixed else "hidden_share", self.relations)

    # -- running -------------------------------------------------------------------------------

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Counts], NDArray[np.bool_]]:
        """Make the relations and read the three counts."""
        self._tell()
        asked, _ = self.read_selected()
        for name, sql, limited in self.steps():
            if limited:
                self._require_narrow(sql, limited)
            else:
                self.keep(name, sql)
        share = self.loaded.engine.frame(self.share_text())
        cells = int(share["cell"].max()) + 1 if len(share) else int(not self.quasi_keys)
        if cells * asked.set_count > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(f"{cells:,} x {asked.set_count:,}", LARGEST_ANSWER))
        moment = self.loaded.engine.frame(self.moment_text())
        shape = (cells, asked.set_count)
        figures = {name: _filled(shape, moment, said, "cell", "set_number") for name, said in PUBLISHED.items()}
        seen = figures["possible"] > 0
        if self.loaded.hidden and self.marks:
            self._add_hidden(figures, share, int(asked.case.max(initial=0)) + 1)
        figures["value"] = np.clip(figures["value"], figures["certain"], figures["possible"])
        occurring = seen | (figures["value"] > 0) | (not (self.mixed and self.quasi_keys))
        counts = Counts(**{name: np.round(found, DIGITS) for name, found in figures.items()})
        return [counts] * len(self.query.aggregates), occurring

    def _require_narrow(self, sql: str, limited: str) -> None:
        (row,) = self.loaded.engine.rows(sql)
        if row[limited] > LARGEST_ANSWER:
            raise AnswerError(_WIDE.format(f"{int(row[limited]):,}", LARGEST_ANSWER))

    def _add_hidden(self, figures: dict[str, Array], share: pd.DataFrame, cases: int) -> None:
        """Add hidden rows: possible, and expected as the other rows are (NaN where there is no other)."""
        cells, sets = figures["possible"].shape
        frame = self.loaded.engine.frame(self.hidden_text())
        added = {
            name: _filled((sets, cases), frame, name, "set_number", "case_number") for name in ("expected", "possible")
        }
        others = _filled((cells, cases), share, "expected", "cell", "case_number")
        likely = others / self.loaded.shown if self.loaded.shown else np.full_like(others, np.nan)
        figures["value"] += likely @ added["expected"].T
        figures["possible"] += added["possible"].sum(axis=1)


def _filled(shape: tuple[int, int], frame: pd.DataFrame, figure: str, row: str, column: str) -> Array:
    """Return a frame's figure as a matrix, 0 where the frame says nothing."""
    found = np.zeros(shape)
    place = tuple(frame[name].to_numpy(dtype=np.int64) for name in (row, column))
    found[place] = frame[figure].to_numpy(dtype=float)
    return found
