"""A breach analysis as a script for an engine's own shell: what SQL can do of it, and in its head what it does not."""

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.breaches.analysis import BreachQuestion, check_question, connect_question
from sqlanon.breaches.chains.chain_bounds import lay_out_bounded_answer, lay_out_bounds, lay_out_tuples
from sqlanon.breaches.shape_chances import lay_out_chances
from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import (
    lay_out_answer,
    lay_out_associations,
    lay_out_base,
    lay_out_covers,
    lay_out_nodes,
    lay_out_numbers,
    lay_out_rows,
)
from sqlanon.errors import TemplateError, UsageError
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.sql.shell_script import write_statements
from sqlanon.sql.view_definitions import name_columns
from sqlanon.wording import option

PREFIX = "sqlanon_"
PAPER = "Wang and Lakshmanan, Probabilistic privacy analysis of published views, WPES 2006"
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
            f"in the model restricted, views with several nodes for an id or a property are weighed in Python: say"
            f" {option('model', 'unrestricted')} for a script, or run sqlanon breach"
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
