"""Uncertain cells: read attribute-ors and tuple-ors, and make the deterministic table (the paper's step 1).

A cell holds several alternatives as a list, or as text in braces; a row may be given as several alternative rows.
Everything after these steps is over single values: the templates are `sql_templates/methods/uncertain/deterministic/`.
"""

import json

from sqlanon.methods.grouping import leave_out_nulls
from sqlanon.methods.internal_names import identifier_names
from sqlanon.methods.uncertain.cell_faults import braces, cells, no_long_values, refuse_outside, refuse_tuples
from sqlanon.methods.uncertain.columns import Column, Reading, Scale
from sqlanon.methods.uncertain.hierarchy import SHOWN, Hierarchy
from sqlanon.plans.plan import Guard, Repeat, Row, Step, relation_name
from sqlanon.plans.templates import Sql

SENSITIVE = "_sensitive"  # what tells the sensitive attribute's relations from the quasi-identifiers'


def opening(reading: Reading) -> tuple[Step | Repeat, ...]:
    """Return the steps that end in `population`: one row per person, uncertain cells as lists, checked."""
    internal = [column.internal for column in reading.columns]
    steps: list[Step | Repeat] = [_source(reading)]
    rows = "source"
    if reading.texts:
        names = {column.name: column.internal for column in reading.columns}
        texts = [names[name] for name in reading.texts]
        passed = [*(name for name in internal if name not in texts), *reading.singles, "row_number"]
        passed += ["tie"] if reading.tie is not None else []
        sql_types = [(names[name], Sql(f"{sql_type}[]")) for name, sql_type in reading.texts.items()]
        steps += [
            braces(reading, texts),
            Step("shared/listed", values={"passed_columns": passed, "text_columns": sql_types}),
        ]
        rows = "listed"
    if reading.tie is not None:
        steps += _folded(reading, rows)
        rows = "folded"
    return (*steps, *leave_out_nulls(reading.request, ("sensitive",), rows), cells(reading))


def _source(reading: Reading) -> Step:
    request = reading.request
    roles, source = request.roles, request.source
    columns = [(column.name, column.internal) for column in reading.columns]
    columns += zip(roles.identifier, identifier_names(request), strict=True)
    columns += [(name, ours) for name, ours in ((reading.label, "label"), (reading.tie, "tie")) if name is not None]
    selected = [(source.expression(name), ours) for name, ours in columns]
    selected.append((source.numbering or Sql("row_number() over ()"), "row_number"))
    return Step("shared/source", "view", values={"relation": source.relation, "selected": selected})


def _folded(reading: Reading, rows: str) -> list[Step]:
    listed = {*reading.texts, *reading.request.source.lists}
    scalars = [column.internal for column in reading.columns if column.name not in listed]
    lists = [(column.internal, Sql(column.type)) for column in reading.columns if column.name in listed]
    singles = {"single_columns": reading.singles}
    checked: dict[str, object] = {**singles, "max_alternatives": reading.most}
    columns: dict[str, object] = {**singles, "scalar_columns": scalars, "list_columns": lists}
    reads = {"source": rows}
    return [
        Step("methods/uncertain/deterministic/tuples", "query", "", refuse_tuples(reading), (), checked, reads=reads),
        Step("shared/folded", values=columns, reads=reads),
    ]


def determined(reading: Reading, prefix: str, rows: str) -> tuple[Step, ...]:
    """Return the steps from `drawn` to `determined` and `cell_count`, with the hierarchies and the sensitive sets.

    rows: the relation of the rows whose cells are looked at before.
    """
    steps: list[Step] = []
    for column in reading.quasi:
        if column.hierarchy is not None:
            steps += _generalized(column, column.hierarchy, rows)
    steps += [
        _cell("sensitive", SENSITIVE, rows),
        _unfolded(reading.sensitive, SENSITIVE, reading.in_order),
        no_long_values(reading.sensitive),
        Step("methods/uncertain/deterministic/sensitive_set"),
        Step("methods/uncertain/deterministic/set_values", values={"places": reading.places}),
    ]

    def numbers(*scales: Scale, uncertain: bool | None = None) -> list[int]:
        return [
            column.number
            for column in reading.quasi
            if column.scale in scales and uncertain in (None, column.uncertain)
        ]

    values = {
        "row_columns": reading.row_columns,
        "plain": numbers("number", "moment", "category", uncertain=False),
        "nodes": [(number, relation_name(prefix, f"ancestor_{number}")) for number in numbers("hierarchy")],
        "largest": numbers("number", "moment", uncertain=True),
        "first": numbers("category", uncertain=True),
    }
    held = Sql("min(sensitive_count)" if reading.sensitive.uncertain else "1")
    return (
        *steps,
        Step("methods/uncertain/deterministic/determined", values=values),
        Step("methods/uncertain/deterministic/cell_count", values={"sensitive_count": held}),
    )


def _cell(column: str, suffix: str, rows: str) -> Step:
    """Return the step of the different cells of an attribute."""
    return Step(
        "methods/uncertain/deterministic/cell", suffix=suffix, values={"cell_column": column}, reads={"drawn": rows}
    )


def _generalized(column: Column, hierarchy: Hierarchy, rows: str) -> list[Step]:
    """Return the steps that find the common ancestor of every different cell of one attribute."""
    suffix, levels = f"_{column.number}", hierarchy.level_names
    common: dict[str, object] = {"level_columns": levels, "deepest_first": levels[::-1], "root": hierarchy.root}
    refuse_values = refuse_outside(column)

    def refuse(row: Row) -> None:
        refuse_values({**row, **{name: json.loads(row[name] or "[]") for name in ("outside", "inner_nodes")}})

    outside = Guard(
        "outside_count > 0 or inner_count > 0", f"{column.name!r} has values that are not leaves of its hierarchy"
    )
    return [
        hierarchy.step(suffix),
        _cell(column.internal, suffix, rows),
        _unfolded(column, suffix),
        Step(
            "methods/uncertain/deterministic/outside",
            "query",
            refuse=refuse,
            guards=(outside,),
            values={"shown_values": SHOWN},
            suffix=suffix,
        ),
        Step("methods/uncertain/deterministic/ancestor", suffix=suffix, values=common),
    ]


def _unfolded(column: Column, suffix: str, in_order: bool = False) -> Step:
    if not column.uncertain:
        return Step("methods/uncertain/deterministic/single", yields="alternative", suffix=suffix)
    if in_order:
        return Step("methods/uncertain/deterministic/sorted_alternative", yields="alternative", suffix=suffix)
    return Step("methods/uncertain/deterministic/alternative", suffix=suffix)
