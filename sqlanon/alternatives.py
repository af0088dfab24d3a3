"""Uncertain cells: read attribute-ors and tuple-ors, and make the deterministic table (the paper's step 1).

A cell holds several alternatives as a list, or as text in braces; a row may be given as several alternative rows.
Everything after these steps is over single values: the templates are `sql_templates/uncertain/`.
"""

from collections.abc import Callable, Sequence

from sqlanon import grouping
from sqlanon.errors import DataError, UsageError
from sqlanon.hierarchy import SHOWN, Hierarchy
from sqlanon.plan import Guard, Row, Step, relation_name
from sqlanon.reading import Column, Kind, Reading
from sqlanon.templates import Sql

SENSITIVE = "_sensitive"  # what tells the sensitive attribute's relations from the quasi-identifiers'


def opening(reading: Reading) -> tuple[Step, ...]:
    """Return the steps that end in `population`: one row per person, uncertain cells as lists, checked."""
    request = reading.request
    internal = [column.internal for column in reading.columns]
    steps = [_source(reading)]
    rows = "source"
    if reading.texts:
        names = {column.name: column.internal for column in reading.columns}
        texts = [names[name] for name in reading.texts]
        passed = [*(name for name in internal if name not in texts), *reading.singles, "row_number"]
        passed += ["tie"] if reading.tie is not None else []
        kinds = [(names[name], Sql(f"{kind}[]")) for name, kind in reading.texts.items()]
        steps += [
            Step("uncertain/braces", "query", refuse=_refuse_braces(reading), values={"text_columns": texts}),
            Step("uncertain/listed", values={"passed_columns": passed, "text_columns": kinds}),
        ]
        rows = "listed"
    if reading.tie is not None:
        steps += _folded(reading, rows)
        rows = "folded"
    read = {"source": rows}
    if request.nulls == "drop":
        known = {"sensitive_columns": ["sensitive"]}
        steps.append(Step("grouping/known", "view", yields="population", reads=read, values=known))
        steps.append(Step("grouping/dropped", "query", refuse=lambda row: None, reads=read))
    else:
        steps.append(Step("grouping/everyone", "view", yields="population", reads=read))
    return (*steps, _cells(reading))


def _source(reading: Reading) -> Step:
    request = reading.request
    roles, source = request.roles, request.source
    named = [(column.name, column.internal) for column in reading.columns]
    named += zip(roles.identifier, grouping.identifier_names(request), strict=True)
    named += [(name, ours) for name, ours in ((reading.label, "label"), (reading.tie, "tie")) if name is not None]
    selected = [(source.expression(name), ours) for name, ours in named]
    selected.append((source.numbering or Sql("row_number() over ()"), "row_number"))
    return Step("grouping/source", "view", values={"relation": source.relation, "selected": selected})


def _folded(reading: Reading, rows: str) -> list[Step]:
    listed = {*reading.texts, *reading.request.source.lists}
    scalars = [column.internal for column in reading.columns if column.name not in listed]
    lists = [column.internal for column in reading.columns if column.name in listed]
    singles = {"single_columns": reading.singles}
    checked: dict[str, object] = {**singles, "max_alternatives": reading.most}
    columns: dict[str, object] = {**singles, "scalar_columns": scalars, "list_columns": lists}
    read = {"source": rows}
    return [
        Step("uncertain/tuples", "query", "", _refuse_tuples(reading), (), checked, reads=read),
        Step("uncertain/folded", values=columns, reads=read),
    ]


def _cells(reading: Reading) -> Step:
    lists = [column for column in reading.columns if column.uncertain]
    values = {"list_columns": [column.internal for column in lists], "max_alternatives": reading.most}
    sensitive = repr(reading.sensitive.name)
    guards = [
        Guard("null_count > 0", f"rows have no value in the sensitive column {sensitive}"),
        Guard("row_count = 0", grouping.NO_ROWS),
    ]
    for number, column in enumerate(lists, start=1):
        guards.append(Guard(f"empty_{number} > 0", _EMPTY.format(count="some", column=repr(column.name))))
        crowded = _CROWDED.format(count="some", column=repr(column.name), most=reading.most)
        guards.append(Guard(f"crowded_{number} > 0", crowded))
        if column.internal != "sensitive" and column.kind == "category":
            guards.append(Guard(f"uncertain_{number} > 0", _NO_HIERARCHY.format(count="some", column=column.name)))
    return Step("uncertain/cells", "query", "", _refuse_cells(reading, lists), tuple(guards), values)


_EMPTY = "{count} cells of {column} have nothing, or NULL, among their alternatives; write what they can be"
_CROWDED = "{count} cells of {column} have more than {most} alternatives; raise --max-alternatives, or leave them out"
_STARS = (
    "{count} cells of {column} hold *, which stands for what is suppressed; say --undiverse merge, or write another"
    " value into the source"
)
_NO_HIERARCHY = (
    "{count} cells of {column!r} are uncertain, and nothing says what their alternatives have in common:"
    " give --hierarchy {column}=FILE"
)


def _refuse_cells(reading: Reading, lists: Sequence[Column]) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        if row["null_count"]:
            raise DataError(
                f"{row['null_count']} rows have no value in the sensitive column {reading.sensitive.name!r}; say"
                " --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)"
            )
        if not row["row_count"]:
            raise DataError(grouping.NO_ROWS)
        for number, column in enumerate(lists, start=1):
            if row[f"empty_{number}"]:
                raise DataError(_EMPTY.format(count=row[f"empty_{number}"], column=repr(column.name)))
            if row[f"crowded_{number}"]:
                crowded = {"count": row[f"crowded_{number}"], "column": repr(column.name), "most": reading.most}
                raise DataError(_CROWDED.format(**crowded))
            if row[f"uncertain_{number}"] and column.internal != "sensitive" and column.kind == "category":
                raise DataError(_NO_HIERARCHY.format(count=row[f"uncertain_{number}"], column=column.name))

    return refuse


def _refuse_braces(reading: Reading) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        for number, (name, kind) in enumerate(reading.texts.items(), start=1):
            if row[f"unmatched_{number}"]:
                raise DataError(
                    f"{row[f'unmatched_{number}']} cells of {name!r} open a brace or close one without the other;"
                    " write alternatives as {a, b}"
                )
            if row[f"mixed_{number}"] and kind == "VARCHAR":
                raise DataError(
                    f"{row[f'mixed_{number}']} cells of {name!r} have numbers and text among their alternatives;"
                    " the alternatives of a cell are of one kind"
                )

    return refuse


def _refuse_tuples(reading: Reading) -> Callable[[Row], None]:
    request = reading.request
    named = [*map(repr, request.roles.identifier), *([repr(reading.label)] if reading.label is not None else [])]

    def refuse(row: Row) -> None:
        if row["untied_rows"]:
            raise DataError(
                f"{row['untied_rows']} rows have no value in {reading.tie!r}, which ties alternative rows together"
            )
        if row["crowded_tuples"]:
            raise DataError(
                f"{row['crowded_tuples']} tuples have more than {reading.most} alternative rows; raise"
                " --max-alternatives, or leave them out"
            )
        for number, name in enumerate(named, start=1):
            if row[f"differing_{number}"]:
                raise DataError(
                    f"{row[f'differing_{number}']} tuples have alternative rows that differ in {name}: a label or an"
                    " identifier is one for all alternatives of a row"
                )

    return refuse


def determined(reading: Reading, prefix: str) -> tuple[Step, ...]:
    """Return the steps from `drawn` to `determined`, with the hierarchies and the sets of sensitive values."""
    steps: list[Step] = []
    for column in reading.quasi:
        if column.hierarchy is not None:
            steps += _generalized(column, column.hierarchy)
    steps += [
        Step("uncertain/cell", suffix=SENSITIVE, values={"cell_column": "sensitive"}),
        _unfolded(reading.sensitive, SENSITIVE, reading.in_order),
        Step("uncertain/sensitive_set"),
        Step("uncertain/set_values", values={"places": reading.places}),
    ]

    def numbers(*kinds: Kind, uncertain: bool | None = None) -> list[int]:
        return [
            column.number for column in reading.quasi if column.kind in kinds and uncertain in (None, column.uncertain)
        ]

    values = {
        "row_columns": reading.row_columns,
        "plain": numbers("number", "moment", "category", uncertain=False),
        "nodes": [(number, relation_name(prefix, f"ancestor_{number}")) for number in numbers("hierarchy")],
        "largest": numbers("number", "moment", uncertain=True),
        "first": numbers("category", uncertain=True),
    }
    return (*steps, Step("uncertain/determined", values=values))


def no_stars(reading: Reading) -> Step:
    """Return the query that refuses stars among the values, where a star stands for what is suppressed."""
    texts = [column for column in reading.quasi if column.type == "VARCHAR" or column.hierarchy is not None]
    certain = [column for column in texts if column.hierarchy is None]
    counted = [column for column in texts if column.hierarchy is not None]
    values: dict[str, object] = {
        "certain_columns": [column.internal for column in certain],
        "counted_columns": [(column.internal, f"alternatives_{column.number}") for column in counted],
    }
    found = [(f"stars_{number}", column.name) for number, column in enumerate(certain, start=1)]
    found += [(f"counted_{number}", column.name) for number, column in enumerate(counted, start=1)]

    def refuse(row: Row) -> None:
        for name, column in found:
            if row[name]:
                raise DataError(_STARS.format(count=row[name], column=repr(column)))

    guards = [Guard(f"{name} > 0", _STARS.format(count="some", column=repr(column))) for name, column in found]
    return Step("uncertain/stars", "query", "", refuse, tuple(guards), values)


def _generalized(column: Column, hierarchy: Hierarchy) -> list[Step]:
    """Return the steps that find the common ancestor of every different cell of one attribute."""
    suffix, levels = f"_{column.number}", hierarchy.level_names
    lines = {"node_lines": hierarchy.lines, "level_columns": levels}
    common: dict[str, object] = {"level_columns": levels, "deepest_first": levels[::-1], "root": hierarchy.root}
    refuse = _refuse_outside(column)
    outside = Guard(
        "outside_count > 0 or inner_count > 0", f"{column.name!r} has values that are not leaves of its hierarchy"
    )
    return [
        Step("uncertain/hierarchy", suffix=suffix, values=lines),
        Step("uncertain/cell", suffix=suffix, values={"cell_column": column.internal}),
        _unfolded(column, suffix),
        Step("uncertain/outside", "query", "", refuse, (outside,), {"shown_values": SHOWN}, suffix),
        Step("uncertain/ancestor", suffix=suffix, values=common),
    ]


def _unfolded(column: Column, suffix: str, in_order: bool = False) -> Step:
    if not column.uncertain:
        return Step("uncertain/single", yields="alternative", suffix=suffix)
    if in_order:
        return Step("uncertain/sorted_alternative", yields="alternative", suffix=suffix)
    return Step("uncertain/alternative", suffix=suffix)


def _refuse_outside(column: Column) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        for count, named, words in (
            (row["outside_count"], row["outside"], "are not in its hierarchy"),
            (row["inner_count"], row["inner_nodes"], "are inner nodes of its hierarchy, and cells hold leaves"),
        ):
            if count:
                more = f" and {count - len(named)} more" if count > len(named) else ""
                listed = f"{', '.join(map(repr, named))}{more}"
                raise UsageError(f"{count} values of {column.name!r} {words}: {listed}")

    return refuse
