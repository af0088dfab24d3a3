"""A breach analysis for clients without Python: a script for an engine's own shell, and macros of DuckDB.

A script holds the chapters of the verb, but for what the verb does in Python: of more than two views it has bounds
alone. Macros take a view of ids and one of properties.
"""

from sqlanon.breaches import chapters
from sqlanon.breaches.analysis import BreachQuestion, connect_question
from sqlanon.breaches.chapters import Model
from sqlanon.breaches.connectivity import Graph, Part
from sqlanon.errors import TemplateError, UsageError, raised_as
from sqlanon.methods import macro_steps
from sqlanon.methods.macro_steps import Refusal
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source, Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_statements
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.sql.view_definitions import Secret, name_columns
from sqlanon.wording import option

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
    _, graph = connect_question(question, name_columns((*question.views, question.secret)))
    if question.model == "restricted" and not graph.has_closed_form:
        raise UsageError(
            "the model restricted has no bounds, and its worlds are counted in Python: say"
            f" {option('model', 'unrestricted')} for a script, or run sqlanon breach"
        )
    head = [
        f"sqlanon breach for {dialect}: model = {question.model}",
        PAPER,
        'It makes "sqlanon_breach", a row for each association. It names ids and properties: keep it secret.',
        _EXACT if graph.has_closed_form else _BOUNDED,
        _SILENT,
    ]
    written = [chapters.base(graph, source)]
    if graph.has_closed_form:
        written += chapters.closed_form(graph, question.model)
    else:
        written += [chapters.associations(graph), *chapters.join_views(graph), chapters.bounds(graph, counted=False)]
    with raised_as(UsageError, f"no script for {dialect}", TemplateError):
        return write_statements(
            [step for step in build(written, PREFIX, {}, dialect) if isinstance(step, Statement)], head, dialect
        )


PARAMETERS = (macro_steps.TABLE, "id_name", "join_names", "property_name")
TWICE = "id_name, join_names and property_name name a column twice; each names others"
SENTENCE = (
    "every id with its property: m, n, cover, probability, error_bound, note, where one view shows id_name and"
    " join_names, another join_names and property_name"
)
_IDENTITY, _JOINED, _HELD = "identity", "chosen_text", "sensitive"
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


def _refusals() -> list[Refusal]:
    """Refuse columns that the table does not have, and one that is named twice: known only when the macro runs."""
    names = "list_concat([id_name, property_name], cast(join_names as varchar[]))"
    lowered = f"list_transform({names}, lambda name: lower(name))"
    twice = Sql(f"len(list_distinct({lowered})) < len({lowered})")
    return [macro_steps.no_column(names), (twice, write_message(TWICE, {}))]


def _make_macro(name: str, model: Model, addition: str) -> Macro:
    _, identifier, joining, property_ = PARAMETERS
    parts = (
        macro_steps.table(joining, sensitive=property_, nulls="'value'", identity=identifier),
        Chapter("macros/asked", {"refusals": _refusals()}),
        chapters.base(_GRAPH, Source(Sql(f'"{PREFIX}named"'))),
        *chapters.closed_form(_GRAPH, model),
    )
    example = f"from {name}('patients', 'ssn', ['age', 'zipcode'], 'disease')"
    return Macro(name, PARAMETERS, f"{SENTENCE}{addition}", example, parts)


MACROS = (
    _make_macro("breach_unrestricted", "unrestricted", ""),
    _make_macro("breach_restricted", "restricted", "; an id is known to have one property"),
)
