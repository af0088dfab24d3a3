"""Answer many plain counts over boxes together: each column by itself, then all boxes at once.

A condition holds for a share of the values that a box has in a column; the shares of the columns of a box multiply.
Boxes that are equal in the columns that the queries read are added up in the engine. Axes: P different pieces (or
values) of a column, Q queries, B different boxes, V sensitive values.
"""

from collections.abc import Iterable, Sequence
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
Boxes = tuple[dict[int, IntArray], sparse.csr_array]  # the cells of B boxes by column, and their rows by value, B x V
Held = tuple[Array, BoolArray, BoolArray]  # of the cells of a column (Q columns): shares, and whether all or any holds


def answer_boxes(loaded: BoxTables, plain: Iterable[tuple[int, PlainCount]]) -> dict[int, Answered]:
    """Return answers as each would be alone, by the queries' places.

    Those for which something fails on this data are missing, and those that do more than compare values.
    """
    (row,) = loaded.engine.rows(f"select count(*) as sensitive_values from {loaded.relations['value']}")
    by_columns: dict[tuple[int, ...], list[tuple[int, PlainCount]]] = {}
    for place, query in plain:
        if _compares_values(loaded, query.quasi):
            columns = tuple(sorted({place_of(column) for column, _ in query.quasi}))
            by_columns.setdefault(columns, []).append((place, query))
    answers = dict[int, Answered]()
    for columns, some in by_columns.items():
        if (boxes := _read_boxes(loaded, columns, int(row["sensitive_values"]))) is not None:
            answers |= answer_in_chunks(some, partial(_answer, loaded, boxes), CHUNK)
    return answers


def _compares_values(loaded: BoxTables, conditions: Sequence[Condition]) -> bool:
    """Tell whether no condition reads a column with a hierarchy, nor more than compares one published as ranges.

    Of the first, constants above the leaves are told; of the second, values between two points decide.
    """
    return all(
        place_of(column) not in loaded.hierarchies
        and (place_of(column) not in loaded.open_places or compares_alone(condition))
        for column, condition in conditions
    )


def _read_boxes(loaded: BoxTables, columns: Sequence[int], value_count: int) -> Boxes | None:
    """Add up the boxes that are alike in some columns; None where there are too many to hold."""
    cells = [f"cell_{place}" for place in columns]
    keys = ", ".join([*cells, "code"])
    alike = (
        f"select {keys}, sum(weight) as weight from {loaded.relations['cell_person']} as box"
        f" inner join {loaded.relations['alternative']} as line on line.group_id = box.group_id group by {keys}"
    )
    (row,) = loaded.engine.rows(f"select count(*) as lines from ({alike}) as alike_box")
    if row["lines"] > MOST_HELD:
        return None
    lines = loaded.engine.arrays(alike)
    code = lines["code"].astype(np.int64)
    shape = np.stack([lines[name].astype(np.int64) for name in cells] or [np.zeros_like(code)])
    different, number = np.unique(shape, axis=1, return_inverse=True)
    weights = (lines["weight"].astype(float), (number.ravel(), code))
    held = sparse.csr_array(weights, shape=(different.shape[1], value_count))
    return dict(zip(columns, different, strict=False)), held


def _answer(loaded: BoxTables, boxes: Boxes, queries: Sequence[PlainCount]) -> list[Answered]:
    """Return an answer for each of some queries that read the same columns."""
    cells_by_place, weights = boxes
    rows = weights @ choose_values(loaded, weights.shape[1], queries).astype(float)  # B x Q
    chances = [np.ones(rows.shape) for _ in range(3)]
    for place, cells in cells_by_place.items():
        conditions = [[term for column, term in query.quasi if place_of(column) == place] for query in queries]
        held = _hold(loaded, place, conditions)
        chances = [chance * each[cells] for chance, each in zip(chances, held, strict=True)]
    value, low, high = ((rows * chance).sum(axis=0) for chance in chances)
    figures = np.round([np.clip(value, low, high), low, high], DIGITS).T.tolist()
    return [_write(loaded, query, *figure) for query, figure in zip(queries, figures, strict=True)]


def _write(loaded: BoxTables, query: PlainCount, value: float, low: float, high: float) -> Answered:
    figures = {"": value, "_std_error": 0.0 if low == high else np.nan, "_low": low, "_high": high}
    columns = {f"{item.name}{end}": np.array([figure]) for item in query.query.items for end, figure in figures.items()}
    messages = MissingValues(loaded, loaded.domain).tell(loaded.told(query.query.comparisons))
    return Answered(columns, messages, messages)


def _hold(loaded: BoxTables, place: int, conditions: Sequence[Sequence[Sql]]) -> Held:
    """Return what each query's conditions on one column say of its cells; none says nothing."""
    different = list(dict.fromkeys(term for condition in conditions for term in condition))
    constants = list(dict.fromkeys(constant for term in different for constant in list_constants(term)))
    ranged = place in loaded.open_places
    candidate = inline(loaded.render_candidates(place, constants))
    text = f"select *, row_number() over (order by name asc nulls last) - 1 as code from {candidate} as candidate"
    relation = loaded.keep(f"numbered_{place}", text)
    try:
        shown = "name, first_place, last_place" if ranged else "name"
        pieces = loaded.engine.frame(f"select {shown} from {relation} order by code asc nulls last")
        holds = tell_holding(loaded, relation, len(pieces), different)
    finally:
        loaded.forget([str(relation)])
    selection = np.ones((len(pieces), len(conditions)), dtype=bool)
    for number, terms in enumerate(conditions):
        for term in terms:
            selection[:, number] &= holds[:, different.index(term)]
    return (_hold_ranges if ranged else _hold_values)(loaded, place, pieces, selection)


def _hold_ranges(loaded: BoxTables, place: int, pieces: pd.DataFrame, selection: BoolArray) -> Held:
    """Sum the points (or lengths) of the pieces between the ends of each range; NULL, the last piece, is one."""
    cells = loaded.engine.frame(
        f"select low_place, high_place, unknown from {loaded.relations[f'cell_{place}']} order by cell asc nulls last"
    )
    unit = places_of(loaded.attributes[place - 1].type).unit
    first, last = (pieces[name].to_numpy(dtype=float)[:-1] for name in ("first_place", "last_place"))
    low, high = (cells[name].to_numpy(dtype=float) for name in ("low_place", "high_place"))
    empty, unknown = np.isnan(low), cells["unknown"].to_numpy(dtype=bool)
    begin = np.where(empty, 0, np.searchsorted(first, low))
    # a piece that begins at the upper end is the point there: gaps begin behind points, or where values are
    # measured at the same place, so that the point is the first of the two
    end = np.where(empty, 0, np.searchsorted(first, high) + 1)
    points = (last - first + unit)[:, None]
    one_point = low == high
    width = np.where(one_point, 1.0, _between(points, begin, end)[:, 0])
    count = _between(selection[:-1].astype(float), begin, end)
    inside = np.where(one_point[:, None], count, _between(points * selection[:-1], begin, end))
    null_points = unknown * np.where(empty | one_point | (unit == 1), 1.0, 0.0)
    with np.errstate(invalid="ignore"):
        share = (inside + null_points[:, None] * selection[-1]) / (width * ~empty + null_points)[:, None]
    holding = count + (unknown[:, None] & selection[-1])
    return share, holding == (end - begin + unknown)[:, None], holding > 0


def _hold_values(loaded: BoxTables, place: int, values: pd.DataFrame, selection: BoolArray) -> Held:
    """Count the values of each node or set that conditions hold for."""
    covered = loaded.engine.frame(f"select cell, name from {loaded.relations[f'covered_{place}']}")
    names = pd.Index(values["name"].astype(object).where(values["name"].notna(), None))
    code = names.get_indexer(covered["name"].astype(object).where(covered["name"].notna(), None))
    shape = (int(covered["cell"].max()) + 1, len(values))
    ones = sparse.csr_array((np.ones(len(covered)), (covered["cell"].to_numpy(dtype=np.int64), code)), shape=shape)
    holding, size = ones @ selection.astype(float), ones.sum(axis=1)[:, None]
    return holding / size, holding == size, holding > 0


def _between(values: Array, begin: IntArray, end: IntArray) -> Array:
    """Sum the rows of values (P x Q) from `begin` to before `end` of every cell."""
    sums = np.concatenate([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])
    return np.asarray(sums[end] - sums[begin])
