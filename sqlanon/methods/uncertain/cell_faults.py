"""Faults of uncertain cells: each is a count and a message, and refuses the publication.

Faults are: cells with no alternatives or too many, unmatched braces, alternative rows that do not belong together.
"""

from collections.abc import Callable, Sequence

from sqlanon.errors import DataError
from sqlanon.methods.feasibility import NO_ROWS
from sqlanon.methods.uncertain.columns import Column, Reading
from sqlanon.plans.plan import Guard, Row, Step
from sqlanon.wording import option

_EMPTY = "{count} cells of {column} have nothing, or NULL, among their alternatives; write what they can be"
_CROWDED = (
    "{count} cells of {column} have more than {most} alternatives; raise "
    + option("max_alternatives")
    + ", or leave them out"
)
_BRACES = {
    "unmatched": "{count} cells of {column} open a brace or close one without the other; write alternatives as"
    " {{a, b}}",
    "nested": "{count} cells of {column} have braces inside braces, or an alternative that begins with a quote: quotes"
    " and braces inside braces are not read; use lists",
    "mixed": "{count} cells of {column} have numbers and text among their alternatives; the alternatives of a cell are"
    " of one kind",
}
_NO_HIERARCHY = (
    "{count} cells of {column!r} are uncertain, and nothing says what their alternatives have in common:"
    " give " + option("hierarchy", "{column}=FILE")
)


def cells(reading: Reading) -> Step:
    """Return the query that refuses faulty cells, rows without a sensitive value, and no rows."""
    lists = [column for column in reading.columns if column.uncertain]
    values = {"list_columns": [column.internal for column in lists], "max_alternatives": reading.most}
    sensitive = repr(reading.sensitive.name)
    guards = [
        Guard("null_count > 0", f"rows have no value in the sensitive column {sensitive}"),
        Guard("row_count = 0", NO_ROWS),
    ]
    for number, column in enumerate(lists, start=1):
        guards.append(Guard(f"empty_{number} > 0", _EMPTY.format(count="some", column=repr(column.name))))
        crowded = _CROWDED.format(count="some", column=repr(column.name), most=reading.most)
        guards.append(Guard(f"crowded_{number} > 0", crowded))
        if column.internal != "sensitive" and column.scale == "category":
            guards.append(Guard(f"uncertain_{number} > 0", _NO_HIERARCHY.format(count="some", column=column.name)))
    return Step(
        "methods/uncertain/cell_faults/cells", "query", "", _refuse_cells(reading, lists), tuple(guards), values
    )


def _refuse_cells(reading: Reading, lists: Sequence[Column]) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        if row["null_count"]:
            raise DataError(
                f"{row['null_count']} rows have no value in the sensitive column {reading.sensitive.name!r}; say"
                f" {option('nulls', 'drop')} (leave them out, which tells who had none to somebody who"
                " knows who was in the table)"
            )
        if not row["row_count"]:
            raise DataError(NO_ROWS)
        for number, column in enumerate(lists, start=1):
            if row[f"empty_{number}"]:
                raise DataError(_EMPTY.format(count=row[f"empty_{number}"], column=repr(column.name)))
            if row[f"crowded_{number}"]:
                crowded = {"count": row[f"crowded_{number}"], "column": repr(column.name), "most": reading.most}
                raise DataError(_CROWDED.format(**crowded))
            if row[f"uncertain_{number}"] and column.internal != "sensitive" and column.scale == "category":
                raise DataError(_NO_HIERARCHY.format(count=row[f"uncertain_{number}"], column=column.name))

    return refuse


def braces(reading: Reading, texts: Sequence[str]) -> Step:
    """Return the query that refuses braces that do not match or hold what is not read, and kinds mixed in a cell.

    texts: the columns whose cells may stand in braces, by their names inside.
    """
    faults = [
        (f"{fault}_{number}", words, repr(name))
        for number, (name, sql_type) in enumerate(reading.texts.items(), start=1)
        for fault, words in _BRACES.items()
        if fault != "mixed" or sql_type == "VARCHAR"
    ]

    def refuse(row: Row) -> None:
        for fault, words, column in faults:
            if row[fault]:
                raise DataError(words.format(count=row[fault], column=column))

    guards = [Guard(f"{fault} > 0", words.format(count="some", column=column)) for fault, words, column in faults]
    return Step(
        "methods/uncertain/cell_faults/braces", "query", "", refuse, tuple(guards), {"text_columns": list(texts)}
    )


def refuse_tuples(reading: Reading) -> Callable[[Row], None]:
    """Return what raises DataError where alternative rows are not tied, too many, or not of one person."""
    request = reading.request
    names = [*map(repr, request.roles.identifier), *([repr(reading.label)] if reading.label is not None else [])]

    def refuse(row: Row) -> None:
        if row["untied_rows"]:
            raise DataError(
                f"{row['untied_rows']} rows have no value in {reading.tie!r}, which ties alternative rows together;"
                " fill it in, or leave these rows out"
            )
        if row["crowded_tuples"]:
            raise DataError(
                f"{row['crowded_tuples']} tuples have more than {reading.most} alternative rows; raise"
                f" {option('max_alternatives')}, or leave them out"
            )
        for number, name in enumerate(names, start=1):
            if row[f"differing_{number}"]:
                raise DataError(
                    f"{row[f'differing_{number}']} tuples have alternative rows that differ in {name}: a label or an"
                    " identifier is one for all alternatives of a row"
                )

    return refuse
