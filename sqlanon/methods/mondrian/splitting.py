"""Partitions split level by level: one turn cuts all open partitions at once, each by one attribute.

The templates are `sql_templates/methods/mondrian/splitting/`. They begin and end with `splitting`: partition, attempts
(attributes that gave no cut), open, code_1 …, sensitive_code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.plans.plan import Repeat, Step
from sqlanon.plans.templates import Sql

# log2(N / k) turns of cuts and a few of attempts; what is still open after these is as private, and coarser
MOST_TURNS = 40


def split(attributes: Sequence[Attribute], prefix: str, k: int, l: int, carried: Sequence[str]) -> Repeat:
    """Return the loop that cuts partitions while both parts have k rows and l different sensitive values."""
    codes = [(one.number, one.code) for one in attributes]
    least, diverse = {"least_rows": k}, l > 1
    trees = [one for one in attributes if one.levels]
    choice = {
        **least,
        "attributes": [(one.number, one.dictionary(prefix), _shares(one)) for one in attributes],
    }
    cut = {
        **least,
        "hierarchies": [(one.number, one.dictionary(prefix), one.levels) for one in trees],
        "diversity": [l] if diverse else [],
    }
    placed = {**least, "attribute_codes": codes, "passed": [*carried, "sensitive_code"]}
    cell = "methods/mondrian/splitting/cell_diverse" if diverse else "methods/mondrian/splitting/cell"
    body = (
        Step("methods/mondrian/splitting/choice", values=choice),
        Step(cell, yields="cell", values={"attribute_codes": codes}),
        Step("methods/mondrian/splitting/cut", values=cut),
        Step("methods/mondrian/splitting/placed", values=placed),
    )
    left = Step("methods/mondrian/splitting/unsettled", "query")
    return Repeat("splitting", "splitting", body, left, MOST_TURNS)


def halve(attributes: Sequence[Attribute], prefix: str, k: int, l: int, carried: Sequence[str]) -> tuple[Step, Repeat]:
    """Return the loop that cuts what `split` left into halves: rows with the value at a cut may go either way.

    carried: the columns that say in which order such rows go. A half without l values is no cut.
    """
    codes = [(one.number, one.code) for one in attributes]
    least = {"least_rows": k}
    choice = {
        **least,
        "attributes": [(one.number, one.dictionary(prefix), _shares(one)) for one in attributes],
    }
    rows = {"attribute_codes": codes, "passed": [*carried, "sensitive_code"]}
    placed = {**least, **rows}
    body = (
        Step("methods/mondrian/splitting/choice", values=choice),
        Step("methods/mondrian/splitting/half", values={**rows, "ties": list(carried)}),
        Step("methods/mondrian/splitting/judged_half", values={**least, "diversity": [l] if l > 1 else []}),
        Step("methods/mondrian/splitting/placed_half", yields="placed", values=placed),
    )
    reopened = Step("methods/mondrian/splitting/reopened", values=rows)
    left = Step("methods/mondrian/splitting/unsettled", "query", suffix="_halves", reads={"splitting": "reopened"})
    return reopened, Repeat("halving", "reopened", tuple(_reading_reopened(body)), left, MOST_TURNS)


def _reading_reopened(body: Sequence[Step]) -> Iterator[Step]:
    """Let a turn read what was opened anew in the place of what was split."""
    for step in body:
        reads = {"splitting": "reopened"} if step.template.endswith(("/choice", "/half")) else {}
        yield replace(step, reads=reads)


def _shares(attribute: Attribute) -> list[tuple[str, Sql]]:
    """Return each level with the share of the leaves below the node above it: 1 of the root."""
    above = [Sql("1"), *(Sql(f"least.share_{depth}") for depth in range(1, len(attribute.levels)))]
    return list(zip(attribute.levels, above, strict=False))
