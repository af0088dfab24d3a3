"""Uncertain cells: read attribute-ors and tuple-ors, and make the deterministic table (the paper's step 1).

A cell holds several alternatives as a list, or as text in braces; a row may be given as several alternative rows.
Everything after these steps is over single values.
"""

from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import leave_out_nulls
from sqlanon.methods.internal_names import identifier_names
from sqlanon.methods.uncertain.cell_faults import braces, cells, refuse_tuples
from sqlanon.methods.uncertain.columns import Reading
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.json_schema import LONGEST_TEXT
from sqlanon.plans.plan import Repeat, Step
from sqlanon.plans.templates import Sql, ident


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


def determined(reading: Reading, suppresses: bool) -> Steps:
    """Return the hierarchies and the chapter from `drawn` to `determined` and `cell_count`, with the sensitive sets.

    suppresses: whether a star is to stand for what is suppressed; else it is a value like any other.
    """
    trees = [column for column in reading.quasi if column.hierarchy is not None]
    texts = [column for column in reading.quasi if column.type == "VARCHAR" or column.hierarchy is not None]
    sensitive = reading.sensitive
    named = ident(sensitive.name)
    shortened = f"read the source through a view with left({named}, {LONGEST_TEXT}) as {named}"
    values = {
        "quasi": reading.quasi,
        "trees": trees,
        "sensitive": sensitive,
        "in_order": reading.in_order,
        "places": reading.places,
        "kept": reading.row_columns,
        "longest": LONGEST_TEXT,
        "shown_column": repr(sensitive.name),
        "advice": "write shorter alternatives into the source" if sensitive.uncertain else str(shortened),
        "starred": texts if suppresses else (),
    }
    hierarchies = [column.hierarchy.step(f"_{column.number}") for column in trees if column.hierarchy is not None]
    return (*hierarchies, Chapter("uncertain/determined", values))
