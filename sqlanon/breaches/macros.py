"""Macros of a breach analysis, for clients of DuckDB without Python: a view of ids and one of properties.

The statements are those of the verb, and shares of worlds are measured in SQL, as in scripts.
"""

from sqlanon.breaches.connectivity import Graph, Part
from sqlanon.breaches.packed_covers import lay_out_packed_covers
from sqlanon.breaches.shape_chances import lay_out_chances
from sqlanon.breaches.statement_layout import Model, StatementLayout
from sqlanon.breaches.statements import lay_out_answer, lay_out_associations, lay_out_nodes, lay_out_rows
from sqlanon.methods import macro_steps
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import NO_COLUMN
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.sql.view_definitions import Secret

PARAMETERS = (macro_steps.TABLE, "id_name", "join_names", "property_name")
TWICE = "id_name, join_names and property_name name a column twice; each names others"
SENTENCE = (
    "every id with its property: m, n, cover, probability, error_bound, note, where one view shows id_name and"
    " join_names, another join_names and property_name"
)
_IDENTITY, _JOINED, _HELD = "identity", "joined", "property"
_GRAPH = Graph(
    Secret(_IDENTITY, _HELD, ()),
    (
        Part(1, (_IDENTITY, _JOINED), has_identifier=True, has_property=False, attributes=(), conditions=()),
        Part(2, (_JOINED, _HELD), has_identifier=False, has_property=True, attributes=(), conditions=()),
    ),
    (_JOINED,),
    (),
    chained=False,
)


def _refusals() -> list[tuple[Sql, Sql]]:
    """Refuse columns that the table does not have, and one that is named twice: known only when the macro runs."""
    column_names = "list_concat([id_name, property_name], cast(join_names as varchar[]))"
    lowered = f"list_transform({column_names}, lambda name: lower(name))"
    missing = (
        f"list_filter({column_names}, lambda name: name is null or"
        " not list_contains(list_transform(names, lambda other: lower(other)), lower(name)))"
    )
    listed = {
        field: f"array_to_string(list_transform({texts}, lambda name: '''' || coalesce(name, 'NULL') || ''''), ', ')"
        for field, texts in (("missing", missing), ("columns", "names"))
    }
    return [
        (Sql(f"len({missing}) > 0"), write_message(NO_COLUMN, listed)),
        (Sql(f"len(list_distinct({lowered})) < len({lowered})"), write_message(TWICE, {})),
    ]


def _write_statements(model: Model) -> tuple[Statement, ...]:
    layout = StatementLayout(_GRAPH, Source(Sql('"sqlanon_named"')), "sqlanon_", model)
    table, identifier, joining, property_ = map(Sql, PARAMETERS)
    layout.add("methods/macro_steps/names", "names", table_name=table)
    layout.add(
        "breaches/macros/named", yields="named", table=table, identifier=identifier, joining=joining, held=property_
    )
    layout.add("breaches/macros/figures", yields="figures")
    layout.add("methods/macro_steps/refusal", "refusal", refusals=_refusals())
    lay_out_rows(layout)
    lay_out_nodes(layout)
    lay_out_associations(layout)
    lay_out_packed_covers(layout)
    lay_out_chances(layout)
    lay_out_answer(layout)
    layout.add("methods/macro_steps/answered", "answered", answer=layout.relations["breach"])
    return tuple(layout.statements)


def _make_macro(name: str, model: Model, addition: str) -> Macro:
    example = f"from {name}('patients', 'ssn', ['age', 'zipcode'], 'disease')"
    return Macro(name, PARAMETERS, f"{SENTENCE}{addition}", example, _write_statements(model), {})


MACROS = (
    _make_macro("breach_unrestricted", "unrestricted", ""),
    _make_macro("breach_restricted", "restricted", "; an id is known to have one property"),
)
