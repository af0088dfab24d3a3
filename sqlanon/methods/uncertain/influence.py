"""The influence matrix M|S: what quasi-identifiers say about each sensitive value, and the value's weight.

A line holds a sensitive value, its influence t_ij in [0, 1] for every quasi-identifier, and its weight b_i in
[0, 1], unlike every other's. It is given by somebody who knows the field, or learned and then corrected.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.models.values import HERE, PLACE, Here, parameter_table
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Beside, Row
from sqlanon.plans.roles import Roles, free_name
from sqlanon.plans.templates import Sql, constant_table

SHOWN = 20  # faults that a message names


@dataclass(frozen=True)
class Learn:
    """Ask for a matrix that is learned from the data."""


LEARN = Learn()


def _matrix(value: Any, here: Here) -> Any:
    table = PLACE.read(value, HERE)
    return here.file(table) if isinstance(table, str) and table != "learn" else table


# the table of a matrix, or `learn`
MATRIX = replace(
    PLACE,
    read=_matrix,
    made=lambda value: LEARN if isinstance(value, str) and value == "learn" else parameter_table(value),
)


def heads(roles: Roles) -> tuple[str, ...]:
    """Return the names of a matrix file's columns: the sensitive column, the quasi columns, the weight."""
    column_names = (*roles.sensitive, *roles.quasi)
    return (*column_names, free_name("weight", column_names))


def read_matrix(roles: Roles, rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """Return the lines of a matrix file; raise UsageError naming what is wrong with its rows, all of it.

    A line has a sensitive value, its influences in the order of the quasi columns, and its weight.

    Columns are found by name (case does not count); others may stand beside them.
    """
    column_names = heads(roles)
    spellings = {name.lower(): name for name in rows[0]} if rows else {}
    missing = [name for name in column_names if name.lower() not in spellings]
    if missing:
        raise UsageError(
            f"the influence file has no column {', '.join(map(repr, missing))}; its columns are the sensitive column,"
            f" every quasi column and the weight: {', '.join(map(repr, column_names))}"
        )
    columns = [spellings[name.lower()] for name in column_names]
    faults = []
    for number, row in enumerate(rows, start=1):
        faults += [f"row {number} names no value"] if row[columns[0]] is None else []
        # by its number: what the line is about is a sensitive value
        faults += [
            f"{name!r} in row {number} is {row[name]!r}, not a number from 0 to 1"
            for name in columns[1:]
            if not _in_range(row[name])
        ]
    faults += _doubles([row[columns[0]] for row in rows], "value")
    if not faults:
        faults = _doubles([float(row[columns[-1]]) for row in rows], "weight")
    if faults:
        rest = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        raise UsageError(f"the influence file is not right: {'; '.join([*faults[:SHOWN], *rest])}")
    return [(row[columns[0]], *(float(row[name]) for name in columns[1:])) for row in rows]


def _in_range(text: Any) -> bool:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return False
    return math.isfinite(number) and 0 <= number <= 1


def _doubles(values: Sequence[object], what: str) -> list[str]:
    first_rows: dict[object, int] = {}
    faults = []
    for number, value in enumerate(values, start=1):
        if first_rows.setdefault(value, number) != number:
            faults.append(f"rows {first_rows[value]} and {number} have the same {what}")
    return faults


def chapter(
    roles: Roles, numbers: Sequence[Sql], influence: Beside | Learn, threshold: float, *, show_values: bool
) -> Chapter:
    """Return the chapter that ends in `influence`, and in the report of the matrix.

    numbers: for each quasi-identifier the expression that reads it as a number, empty where it is none. threshold:
    every weight that is learned lies above it. show_values: whether a message may name values that have no line.
    """
    matrix: dict[str, object] = {}
    if not isinstance(influence, Learn):
        named = [f"influence_{number}" for number, _ in enumerate(numbers, start=1)]
        heads = (("sensitive", "varchar"), *((name, "double") for name in (*named, "weight")))
        columns = zip(*read_matrix(roles, influence.rows), strict=True)
        given = {name: (kind, values) for (name, kind), values in zip(heads, columns, strict=True)}
        matrix = constant_table(given, {})
    values = {
        "matrix": matrix,
        "show_values": show_values,
        "numbers": [*enumerate(numbers, start=1)],
        "readings": [(number, reading) for number, reading in enumerate(numbers, start=1) if reading],
        "threshold": threshold,
    }
    return Chapter("uncertain/influence", values)


def lines(row: Row) -> list[list[Any]]:
    """Return the matrix that `facts` found, as lines of a value, its influences and its weight."""
    return [[value, *map(float, numbers)] for value, *numbers in json.loads(row["matrix"])]
