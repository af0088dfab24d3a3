"""A check as a script for an engine's own shell: each measure, with the class in which it is worst."""

from collections.abc import Sequence

from sqlanon.errors import TemplateError, UsageError
from sqlanon.plans.build import build
from sqlanon.plans.plan import Source, Step, relation_name, statements_of
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.risks.assessment import USUAL_K
from sqlanon.risks.question import CheckQuestion
from sqlanon.risks.relations import ALL, COUNTED, internal_names
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
VALUES = {
    "l": "distinct_values",
    "entropy_l": "exp(entropy)",
    "alpha": "largest_share",
    "t": "distance",
    "beta": "likeness",
    "delta": "disclosure",
}


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
    try:
        return write_statements(_lay_out(resolved_question, source), head, dialect)
    except TemplateError as error:
        raise UsageError(f"no script for {dialect}: {error}") from None


def _lay_out(question: CheckQuestion, source: Source) -> list[Statement]:
    """Return the statements in order; the last makes the table of measures."""
    names = internal_names(question)
    values = [names[name] for name in question.sensitive]
    selected = [(source.expression(name), ours) for name, ours in names.items()]
    microdata = Step(
        "shared/source", "view", yields="microdata", values={"relation": source.relation, "selected": selected}
    )
    quasi = {"quasi": [names[name] for name in question.quasi]}
    classes = (
        [
            *(Step("risks/class_value", suffix=f"_{value}", values={**quasi, "value": value}) for value in values),
            Step("risks/class", values={**quasi, "row_count": COUNTED}, reads={"people": f"class_value_{values[0]}"}),
        ]
        if values
        else [Step("risks/class", values={**quasi, "row_count": ALL}, reads={"people": "microdata"})]
    )
    figures = [(name, relation_name(PREFIX, f"diversity_figures_{names[name]}")) for name in question.sensitive]
    answer = {
        "size_measures": [(name, Sql(text)) for name, text in SIZES.items()],
        "value_measures": [(name, Sql(text)) for name, text in VALUES.items()],
        "sensitive_figures": figures,
    }
    steps = (
        microdata,
        *classes,
        Step("risks/class_figures", values={"k": USUAL_K}),
        *(step for value in values for step in _measure(value, quasi)),
        Step("risks/script/measures", yields="check", values=answer),
    )
    return [statement for step in build(steps, {}, PREFIX, {}) for statement in statements_of(step)]


def _measure(value: str, quasi: dict[str, list[str]]) -> Sequence[Step]:
    """Return the steps that measure the values of one sensitive column."""
    suffix = f"_{value}"
    values = {"class_value": f"class_value{suffix}"}
    return (
        Step("risks/value_share", suffix=suffix, reads=values),
        Step("risks/class_share", suffix=suffix, reads=values, values=quasi),
        Step("risks/class_distance", suffix=suffix),
        Step("risks/diversity_figures", suffix=suffix),
    )
