"""Counts of generalized rows as if rows were spread evenly in their boxes, with bounds that always hold.

Where the values of an ordered type lie are whole numbers that can be counted, or points on a line. Many plain counts
are answered together, each column by itself, then all boxes at once: a condition holds for a share of the values that a
box has in a column; the shares of the columns of a box multiply. Boxes that are equal in the columns that the queries
read are added up in the engine. Axes: P different pieces (or values) of a column, Q queries, B different boxes, V
sensitive values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.cells import DIGITS, CellTables, place_of
from sqlanon.estimation.failures import MissingValues
from sqlanon.estimation.plain_counts import Condition, PlainCount, answer_in_chunks, choose_values, tell_holding
from sqlanon.estimation.release_tables import Steps, inline, select_columns
from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.methods.mondrian.attributes import described, held_table
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.user_sql import list_constants

if TYPE_CHECKING:
    from scipy import sparse

    from sqlanon.estimation.query_run import Estimator

_LARGEST = {"DOUBLE": "1e300", "FLOAT": "3.4e38"}  # numbers whose values may be infinite, or NaN
_COMPARISONS = (
    exp.Column, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In,
    exp.Is,
)  # fmt: skip
_WHOLE = re.compile(r"(TINY|SMALL|BIG)?INT(EGER)?|U(TINY|SMALL)INT|UINTEGER")
MOST_POINTS = 1_000_000  # of a range that is read point by point
MOST_HELD = 4_000_000  # different boxes x sensitive values that leave the engine at once
CHUNK = 32  # queries that are answered at once


@dataclass(frozen=True)
class Places:
    """How values of one type become places and back.

    unit: 1 where places are counted, 0 where they are measured. reading: SQL of a place, `{0}` the value. filling: SQL
    of the value at `place`, empty where places are not counted. middle: SQL of the value amid `place` and `next_place`.
    """

    unit: int
    reading: str
    filling: str
    middle: str

    def read(self, value: str) -> Sql:
        """Return the SQL of a value's place."""
        return Sql(self.reading.format(value))


def places_of(sql_type: str) -> Places:
    """Return the places of a type."""
    between = "place + (next_place - place) / 2"
    if _WHOLE.fullmatch(sql_type):
        middle = "place + (next_place - place) // 2"
        return Places(1, "cast({0} as bigint)", f"cast(place as {sql_type})", f"cast({middle} as {sql_type})")
    if sql_type == "DATE":
        day = "date '1970-01-01' + cast({} as integer)"
        # infinite dates have no days since 1970: they lie beyond all others
        reading = f"coalesce(cast(floor(epoch({{0}}) / 86400) as bigint), {_beyond(2**31 - 1, 'date')})"
        return Places(1, reading, day.format("place"), day.format("place + (next_place - place) // 2"))
    if sql_type.startswith("TIMESTAMP"):
        moment = f"cast(make_timestamp(cast({between} as bigint)) as {sql_type})"
        return Places(
            0, f"cast(coalesce(epoch_us({{0}}), {_beyond(2**63 - 2**10, 'timestamp')}) as double)", "", moment
        )
    line = "greatest(least(cast({0} as double), cast(1e300 as double)), cast(-1e300 as double))"
    if sql_type not in _LARGEST:
        return Places(0, f"case when {{0}} is not null then {line} end", "", f"cast({between} as {sql_type})")
    # infinities lie beyond all numbers, and NaN beyond them, as values are ordered
    endless = "cast('Infinity' as double)"
    reading = (
        f"case when cast({{0}} as double) > {endless} then 4e300 when cast({{0}} as double) = {endless} then 2e300"
        f" when cast({{0}} as double) = -{endless} then -2e300 when {{0}} is not null then {line} end"
    )
    most = _LARGEST[sql_type]
    middle = f"greatest(least({between}, cast({most} as double)), cast(-{most} as double))"
    return Places(0, reading, "", f"cast({middle} as {sql_type})")


def _beyond(place: int, kind: str) -> str:
    """Return the SQL of the place of a value that is infinite, NULL for NULL."""
    return f"case when {{0}} > {kind} '2000-01-01' then {place} when {{0}} is not null then -{place} end"


def compares_alone(condition: Sql) -> bool:
    """Tell whether a condition is made of comparisons of the column itself with constants.

    Between two neighbouring constants it then has one result for all values; of `year(x) = 2024` nobody can tell.
    """
    node = sqlglot.parse_one(str(condition), read="duckdb").unnest()
    if isinstance(node, exp.Connector | exp.Not):
        return all(compares_alone(Sql(side.sql("duckdb"))) for side in node.iter_expressions())
    sides = [side.unnest() for side in node.iter_expressions()]
    plain = all(isinstance(side, exp.Column) or not side.find(exp.Column) for side in sides)
    return plain and isinstance(node, _COMPARISONS)


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
        self.load()
        return answer_boxes(self, plain)


Boxes = tuple[dict[int, IntArray], "sparse.csr_array"]  # the cells of B boxes by column, and their rows by value, B x V
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
    from scipy import sparse  # slow to load, and read by many questions alone

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
    return [_write_count(loaded, query, *figure) for query, figure in zip(queries, figures, strict=True)]


def _write_count(loaded: BoxTables, query: PlainCount, value: float, low: float, high: float) -> Answered:
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
    from scipy import sparse

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
