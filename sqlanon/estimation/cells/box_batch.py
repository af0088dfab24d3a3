"""Answer many plain counts over boxes together: each column by itself, then all boxes at once.

A condition holds for a share of the values that a box has in a column; the shares of the columns of a box multiply.
Boxes that are equal in the columns that the queries read are added up in the engine. Axes: P different pieces (or
values) of a column, Q queries, B different boxes, V sensitive values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from sqlanon.estimation.answered import Answered
from sqlanon.estimation.cells.boxes import BoxTables
from sqlanon.estimation.cells.places import compares_alone, places_of
from sqlanon.estimation.cells.query_parts import place_of
from sqlanon.estimation.cells.run import DIGITS
from sqlanon.estimation.coded_rows import Condition, tell_holding
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import PlainCount, answer_in_chunks, choose_values
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.plans.templates import Sql
from sqlanon.sql.user_sql import list_constants

MOST_HELD = 4_000_000  # different boxes x sensitive values that leave the engine at once
CHUNK = 32  # queries that are answered at once


@dataclass(frozen=True)
class Held:
    """What conditions say of the cells of a column: Q columns each, shares, and whether all or any of it holds."""

    share: Array
    certain: BoolArray
    possible: BoolArray


@dataclass(frozen=True)
class Sides:
    """Boxes that are alike in the columns that some queries read, added up: B of them.

    cells: by column the cell of each. weights: how many rows of them have each sensitive value, B x V.
    """

    cells: Mapping[int, IntArray]
    weights: sparse.csr_array


class BoxBatch:
    """Answer plain counts of one release of boxes, many at a time, as each would be answered alone."""

    def __init__(self, loaded: BoxTables) -> None:
        """Take the loaded release."""
        self.loaded = loaded
        (row,) = loaded.engine.rows(f"select count(*) as sensitive_values from {loaded.relations['value']}")
        self.value_count = int(row["sensitive_values"])

    def answer_all(self, queries: Iterable[tuple[int, PlainCount]]) -> dict[int, Answered]:
        """Return the answers by the queries' places; where something fails on this data, those queries' are missing."""
        by_columns: dict[tuple[int, ...], list[tuple[int, PlainCount]]] = {}
        for place, query in queries:
            columns = tuple(sorted({place_of(column) for column, _ in query.quasi}))
            by_columns.setdefault(columns, []).append((place, query))
        answers = dict[int, Answered]()
        for columns, some in by_columns.items():
            if (sides := self._read_sides(columns)) is not None:
                answers |= answer_in_chunks(some, partial(self.answer, sides), CHUNK)
        return answers

    def _read_sides(self, columns: Sequence[int]) -> Sides | None:
        """Add up the boxes that are alike in some columns; None where there are too many to hold."""
        cells = [f"cell_{place}" for place in columns]
        boxes, rows = (self.loaded.relations[name] for name in ("cell_person", "alternative"))
        alike = (
            f"select {''.join(f'{cell}, ' for cell in cells)}code, sum(weight) as weight"
            f" from {boxes} as box inner join {rows} as line on line.group_id = box.group_id"
            f" group by {''.join(f'{cell}, ' for cell in cells)}code"
        )
        (row,) = self.loaded.engine.rows(f"select count(*) as lines from ({alike}) as alike_box")
        if row["lines"] > MOST_HELD:
            return None
        lines = self.loaded.engine.arrays(alike)
        shape = np.stack([lines[name].astype(np.int64) for name in cells] or [np.zeros(len(lines["code"]), np.int64)])
        different, number = np.unique(shape, axis=1, return_inverse=True)
        weights = (lines["weight"].astype(float), (number.ravel(), lines["code"].astype(np.int64)))
        held = sparse.csr_array(weights, shape=(different.shape[1], self.value_count))
        return Sides(dict(zip(columns, different, strict=False)), held)

    def answer(self, sides: Sides, queries: Sequence[PlainCount]) -> list[Answered]:
        """Return an answer for each of some queries that read the same columns."""
        rows = sides.weights @ choose_values(self.loaded, self.value_count, queries).astype(float)  # B x Q
        share, certain, possible = np.ones((3, *rows.shape))
        for place, cells in sides.cells.items():
            conditions = [[term for column, term in query.quasi if place_of(column) == place] for query in queries]
            verdict = self._hold(place, conditions)
            share *= verdict.share[cells]
            certain *= verdict.certain[cells]
            possible *= verdict.possible[cells]
        low, high = ((rows * chance).sum(axis=0) for chance in (certain, possible))
        value = np.clip((rows * share).sum(axis=0), low, high)
        figures = [np.round(array, DIGITS) for array in (value, low, high)]
        return [self._frame(query, *(float(figure[n]) for figure in figures)) for n, query in enumerate(queries)]

    # -- one column ----------------------------------------------------------------------------

    def _hold(self, place: int, conditions: Sequence[Sequence[Sql]]) -> Held:
        """Return what each query's conditions on one column say of its cells; none says nothing."""
        different = list(dict.fromkeys(term for condition in conditions for term in condition))
        constants = list(dict.fromkeys(constant for term in different for constant in list_constants(term)))
        ranged = self.loaded.attributes[place - 1].shape == "bounds"
        candidate = inline(self.loaded.render_candidates(place, constants))
        placed = ["first_place", "last_place"] if ranged else []
        text = f"select *, row_number() over (order by name asc nulls last) - 1 as code from {candidate} as candidate"
        relation = self.loaded.keep(f"numbered_{place}", text)
        try:
            listed = ", ".join(["name", *placed])
            pieces = self.loaded.engine.frame(f"select {listed} from {relation} order by code asc nulls last")
            holds = tell_holding(self.loaded, relation, len(pieces), different)
        finally:
            self.loaded.forget([str(relation)])
        selection = np.ones((len(pieces), len(conditions)), dtype=bool)
        for number, terms in enumerate(conditions):
            for term in terms:
                selection[:, number] &= holds[:, different.index(term)]
        return self._hold_ranges(place, pieces, selection) if ranged else self._hold_values(place, pieces, selection)

    def _hold_ranges(self, place: int, pieces: pd.DataFrame, selection: BoolArray) -> Held:
        """Sum the points (or lengths) of the pieces between the ends of each range; NULL, the last piece, is one."""
        relation = self.loaded.relations[f"cell_{place}"]
        cells = self.loaded.engine.frame(
            f"select cell, low_place, high_place, unknown from {relation} order by cell asc nulls last"
        )
        unit = places_of(self.loaded.attributes[place - 1].type).unit
        first, last = (pieces[name].to_numpy(dtype=float)[:-1] for name in ("first_place", "last_place"))
        low, high = (cells[name].to_numpy(dtype=float) for name in ("low_place", "high_place"))
        empty, unknown = np.isnan(low), cells["unknown"].to_numpy(dtype=bool)
        begin = np.where(empty, 0, np.searchsorted(first, low))
        # a piece that begins at the upper end is the point there: gaps begin behind points, or where values are
        # measured at the same place, so that the point is the first of the two
        end = np.where(empty, 0, np.searchsorted(first, high) + 1)
        points = last - first + unit
        one_point = low == high
        width = np.where(one_point, 1.0, _between(points[:, None], begin, end)[:, 0])
        inside = _between(points[:, None] * selection[:-1], begin, end)
        count = _between(selection[:-1].astype(float), begin, end)
        inside = np.where(one_point[:, None], count, inside)
        null_points = unknown * np.where(empty | one_point | (unit == 1), 1.0, 0.0)
        null_holds = unknown[:, None] & selection[-1]
        with np.errstate(invalid="ignore"):
            share = (inside + null_points[:, None] * selection[-1]) / (width * ~empty + null_points)[:, None]
        holding = count + null_holds
        return Held(share, holding == (end - begin + unknown)[:, None], holding > 0)

    def _hold_values(self, place: int, values: pd.DataFrame, selection: BoolArray) -> Held:
        """Count the values of each node or set that conditions hold for."""
        covered = self.loaded.engine.frame(f"select cell, name from {self.loaded.relations[f'covered_{place}']}")
        names = pd.Index(values["name"].astype(object).where(values["name"].notna(), None))
        code = names.get_indexer(covered["name"].astype(object).where(covered["name"].notna(), None))
        shape = (int(covered["cell"].max()) + 1, len(values))
        ones = sparse.csr_array((np.ones(len(covered)), (covered["cell"].to_numpy(dtype=np.int64), code)), shape=shape)
        holding, size = ones @ selection.astype(float), ones.sum(axis=1)
        return Held(holding / size[:, None], holding == size[:, None], holding > 0)

    # -- the answers ---------------------------------------------------------------------------

    def _frame(self, query: PlainCount, value: float, low: float, high: float) -> Answered:
        figures = {"": value, "_std_error": 0.0 if low == high else np.nan, "_low": low, "_high": high}
        columns = {
            f"{item.name}{end}": np.array([figure]) for item in query.query.items for end, figure in figures.items()
        }
        messages = MissingValues(self.loaded, self.loaded.domain).tell(self.loaded.told(query.query.comparisons))
        return Answered(columns, messages, messages)


def compares_values(loaded: BoxTables, conditions: Sequence[Condition]) -> bool:
    """Tell whether no condition reads a column with a hierarchy, nor more than compares one published as ranges.

    Of the first, constants above the leaves are told; of the second, values between two points decide.
    """
    ranged = loaded.open_places
    return all(
        place_of(column) not in loaded.hierarchies and (place_of(column) not in ranged or compares_alone(condition))
        for column, condition in conditions
    )


def _between(values: Array, begin: IntArray, end: IntArray) -> Array:
    """Sum the rows of values (P x Q) from `begin` to before `end` of every cell."""
    sums = np.concatenate([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])
    return np.asarray(sums[end] - sums[begin])
