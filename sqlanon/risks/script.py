"""A check as a script for an engine's own shell: each measure, with the class in which it is worst."""

from dataclasses import replace

from sqlanon.errors import TemplateError, UsageError, raised_as
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.risks.assessment import USUAL_K
from sqlanon.risks.limits import AT_MOST
from sqlanon.risks.question import CheckQuestion, select_columns
from sqlanon.sql.shell_script import write_statements
from sqlanon.wording import option

PREFIX = "sqlanon_"
SIZES = {
    "k": "smallest_class",
    "classes": "class_count",
    "unique_rows": "unique_rows",
    "largest_class": "largest_class",
    "discernibility": "discernibility",
    "prosecutor_largest_risk": "1.0 / smallest_class",
    "prosecutor_average_risk": "1.0 * class_count / row_count",
    "rows": "row_count",
}
VALUES = {"l": "distinct_values", "entropy_l": "exp(entropy)", **AT_MOST}


def compile_check(question: CheckQuestion, source: Source, dialect: str) -> str:
    """Return the script that makes the table of measures; columns are taken as they are named.

    source: the table, as the other engine reads it. t is over values without an order. Raises UsageError for roles that
    cannot be, or where no quasi column is named.
    """
    resolved_question = question.resolved([*question.quasi, *question.sensitive])
    if not resolved_question.quasi:
        raise UsageError(f"classes are made by quasi columns; name them with {option('quasi')}")
    head = [
        f"sqlanon check for {dialect}",
        'It makes "sqlanon_check": a line for each measure, where it is worst of all classes of equal quasi values.',
        "Its figures are those of sqlanon check, which takes t of numbers and dates by their order: here all values are"
        " equally far apart.",
    ]
    with raised_as(UsageError, f"no script for {dialect}", TemplateError):
        return write_statements(_lay_out(resolved_question, source, dialect), head, dialect)


def _lay_out(question: CheckQuestion, source: Source, dialect: str) -> list[Statement]:
    """Return the statements in order; the last makes the table of measures."""
    given = {"microdata": select_columns(source, question.names)}
    question = replace(question, identifier=())  # persons are counted by the verb alone
    chapters = [*map(question.class_values, question.sensitive[:1]), question.classes(USUAL_K)]
    for number, column in enumerate(question.sensitive):
        # the values of the first were counted before the classes
        chapters += [*([question.class_values(column)] if number else []), question.measures(ordered=False)]
    built = build(chapters, PREFIX, given, dialect)
    figures = {
        name: [Sql(step.relation) for step in built if isinstance(step, Statement) and step.name == name]
        for name in ("class_figures", "diversity_figures")
    }
    answer = {
        "size_measures": [(name, Sql(text)) for name, text in SIZES.items()],
        "value_measures": [(name, Sql(text)) for name, text in VALUES.items()],
        "sensitive_figures": [*zip(question.sensitive, figures["diversity_figures"], strict=True)],
    }
    stands = {"class_figures": figures["class_figures"][0]}
    built += build([Chapter("check/columns/check", answer)], PREFIX, stands, dialect)
    return [step for step in built if isinstance(step, Statement)]
