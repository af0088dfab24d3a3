"""A breach analysis for clients without Python: a script for an engine's own shell, and macros of DuckDB.

The head of a script names the parts of the analysis that SQL does not do. Macros take a view of ids and one of
properties; their statements are those of the verb, and the shares of worlds, which the verb computes in
`world_counts.py`, are computed in SQL.

For components of parts with m_1 <= … <= m_K nodes, of which a_i match, the share of worlds without an association is
Bonferroni's series over the uncovered nodes of all parts but the largest. Its terms fall so fast that those which are
left out are smaller than any rounding error.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.breaches.analysis import BreachQuestion, check_question, connect_question
from sqlanon.breaches.chains.chain_bounds import lay_out_bounded_answer, lay_out_bounds, lay_out_tuples
from sqlanon.breaches.connectivity import Graph, Part
from sqlanon.breaches.packed_covers import lay_out_packed_covers
from sqlanon.breaches.statement_layout import Model, StatementLayout
from sqlanon.breaches.statements import (
    lay_out_answer,
    lay_out_associations,
    lay_out_base,
    lay_out_covers,
    lay_out_nodes,
    lay_out_numbers,
    lay_out_rows,
    list_shapes,
)
from sqlanon.breaches.world_counts import CERTAIN_EDGES, EPSILON
from sqlanon.errors import TemplateError, UsageError
from sqlanon.methods import macro_steps
from sqlanon.plans.build import build
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import NO_COLUMN
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_statements
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.sql.view_definitions import Secret, name_columns
from sqlanon.wording import option

LEVELS = 24
LEVELS_OF_MANY = 12  # with three parts and more, whose terms are many: they fall as 2^-r² at least
ROUNDING = 8 * EPSILON  # of an exponential whose exponent is a sum of logarithms, for each unit of the exponent


def lay_out_chances(layout: StatementLayout) -> None:
    """Write `chance` over the shapes that stand."""
    numbers = layout.numbers
    free = {name: values for name, values in list_shapes(layout).items() if name in ("shape", "simple_shape")}
    shapes = [Sql(layout.add("breaches/shape", yields=name, **values).relation) for name, values in free.items()]
    if len(numbers) == 1:
        layout.add("breaches/script/certain", yields="chance")
        return
    layout.add(
        "breaches/script/different",
        yields="different",
        shapes=shapes,
        parts=numbers,
        certain_tuples=CERTAIN_EDGES,
    )
    _lay_out_removals(layout)
    ranks = {"small": numbers[:-1], "largest": numbers[-1]}
    layout.add("breaches/script/ways", yields="ways", small=ranks["small"])
    levels = LEVELS if len(numbers) == 2 else LEVELS_OF_MANY
    for template in ("breaches/script/covered", "breaches/script/without"):
        layout.add(template, "", levels=levels, epsilon=ROUNDING, **ranks)
    least = 2.0**-CERTAIN_EDGES
    layout.add("breaches/script/chance", yields="chance", parts=numbers, least=least, epsilon=ROUNDING, **ranks)


def _lay_out_removals(layout: StatementLayout) -> None:
    step = constant_table("removal", {"removed": ("bigint", range(LEVELS + 1))}, {})
    (statement,) = build((step,), {}, layout.prefix, {})
    assert isinstance(statement, Statement)
    layout.relations["removal"] = Sql(statement.relation)
    layout.statements.append(statement)


PREFIX = "sqlanon_"
PAPER = "Wang and Lakshmanan, Probabilistic Privacy Analysis of Published Views, WPES 2006"
_BOUNDED = (
    "It counts no worlds: each probability is the middle of certified bounds, error_bound half of their distance,"
    " where sqlanon breach counts the worlds of few rows one by one."
)
_EXACT = "Its probabilities are those of sqlanon breach, and error_bound holds every rounding."
_SILENT = "It does not look for duplicate rows of a view, nor for ids with several properties, of which breach tells."


def compile_analysis(question: BreachQuestion, source: Source, dialect: str) -> str:
    """Return the script that makes the table of associations, over columns taken as the definitions name them.

    source: the base, as the other engine reads it. Raises UsageError for what SQL alone cannot answer, QueryError for a
    definition.
    """
    check_question(question)
    _, graph = connect_question(question, name_columns((*question.views, question.secret)))
    layout = StatementLayout(graph, source, PREFIX, question.model)
    (_lay_out_bounded if graph.chained else _lay_out_counted)(layout)
    head = [
        f"sqlanon breach for {dialect}: model = {question.model}",
        PAPER,
        'It makes "sqlanon_breach", a row for each association. It names ids and properties: keep it secret.',
        _BOUNDED if graph.chained else _EXACT,
        _SILENT,
    ]
    try:
        return write_statements(_end_in_table(layout.statements), head, dialect)
    except TemplateError as error:
        raise UsageError(f"no script for {dialect}: {error}") from None


def _lay_out_counted(layout: StatementLayout) -> None:
    if layout.is_weighted:
        raise UsageError(
            "in the model restricted, views that show more than id, property and what joins them are weighed in Python:"
            f" say {option('model', 'unrestricted')} for a script, leave these columns out, or run sqlanon breach"
        )
    lay_out_rows(layout)
    lay_out_nodes(layout)
    lay_out_associations(layout)
    lay_out_covers(layout)
    lay_out_chances(layout)
    lay_out_answer(layout)


def _lay_out_bounded(layout: StatementLayout) -> None:
    if layout.is_restricted:
        raise UsageError(
            "the model restricted has no bounds, and its worlds are counted in Python: say"
            f" {option('model', 'unrestricted')} for a script, or run sqlanon breach"
        )
    lay_out_base(layout)
    lay_out_numbers(layout)
    lay_out_bounds(layout, lay_out_tuples(layout))
    lay_out_bounded_answer(layout)


def _end_in_table(statements: Sequence[Statement]) -> list[Statement]:
    return [*statements[:-1], replace(statements[-1], kind="table")]


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
        "breaches/script/named", yields="named", table=table, identifier=identifier, joining=joining, held=property_
    )
    layout.add("breaches/script/figures", yields="figures")
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
