"""Partitions split level by level: one turn cuts all open partitions at once, each by one attribute.

The templates are `sql_templates/methods/mondrian/splitting/`. They begin and end with `splitting`: partition, attempts
(attributes that gave no cut), open, code_1 …, sensitive_code …
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlanon.methods.mondrian.attributes import Attribute
from sqlanon.methods.mondrian.sensitive_columns import SensitiveColumn
from sqlanon.plans.plan import Repeat, Step, relation_name
from sqlanon.plans.templates import Sql

# log2(N / k) turns of cuts and a few of attempts; what is still open after these is as private, and coarser
MOST_TURNS = 40


@dataclass(frozen=True)
class Asked:
    """What boxes are asked for.

    k: least rows. l: least different values, of each sensitive column. carried: the columns that say in which order
    rows with equal values go.
    """

    attributes: Sequence[Attribute]
    sensitive: Sequence[SensitiveColumn]
    prefix: str
    k: int
    l: int
    carried: Sequence[str]

    @property
    def codes(self) -> list[tuple[int, str]]:
        """Return the columns of the attributes' codes, with their places."""
        return [(attribute.number, attribute.code) for attribute in self.attributes]

    @property
    def sensitive_codes(self) -> list[str]:
        """Return the columns of the sensitive values' codes."""
        return [sensitive_column.code for sensitive_column in self.sensitive]

    @property
    def diversity(self) -> list[int]:
        """Return l where different values are asked for, nothing where one is enough."""
        return [self.l] if self.l > 1 else []

    @property
    def choice(self) -> dict[str, object]:
        """Return the parameters by which the attribute of a cut is chosen."""
        attributes = [
            (attribute.number, attribute.dictionary(self.prefix), _shares(attribute)) for attribute in self.attributes
        ]
        return {"least_rows": self.k, "attributes": attributes}


def split(asked: Asked) -> Repeat:
    """Return the loop that cuts partitions while both parts have k rows and l values of each sensitive column."""
    least = {"least_rows": asked.k}
    further = asked.sensitive[1:] if asked.diversity else ()
    trees = [attribute for attribute in asked.attributes if attribute.levels]
    cut = {
        **least,
        "hierarchies": [(tree.number, tree.dictionary(asked.prefix), tree.levels) for tree in trees],
        "diversity": asked.diversity,
        "diverse_places": [
            relation_name(asked.prefix, f"diverse_place{sensitive_column.suffix}") for sensitive_column in further
        ],
    }
    placed = {**least, "attribute_codes": asked.codes, "passed": [*asked.carried, *asked.sensitive_codes]}
    body = (
        Step("methods/mondrian/splitting/choice", values=asked.choice),
        *(step for sensitive_column in further for step in _diverse_place(asked, sensitive_column)),
        _cell(asked, asked.sensitive[0]),
        Step("methods/mondrian/splitting/cut", values=cut),
        Step("methods/mondrian/splitting/placed", values=placed),
    )
    rest = Step("methods/mondrian/splitting/unsettled", "query")
    return Repeat("splitting", "splitting", body, rest, MOST_TURNS)


def _cell(terms: Asked, sensitive_column: SensitiveColumn) -> Step:
    """Return the step that counts rows by the value of the attribute of the cut, and the values of one column."""
    values: dict[str, object] = {"attribute_codes": terms.codes}
    if not terms.diversity:
        return Step("methods/mondrian/splitting/cell", values=values)
    values["sensitive_code"] = sensitive_column.code
    return Step("methods/mondrian/splitting/cell_diverse", yields="cell", suffix=sensitive_column.suffix, values=values)


def _diverse_place(terms: Asked, sensitive_column: SensitiveColumn) -> Sequence[Step]:
    """Return the steps that tell where a further column does not stand in the way of a cut."""
    place = Step("methods/mondrian/splitting/diverse_place", suffix=sensitive_column.suffix, values={"l": terms.l})
    return _cell(terms, sensitive_column), replace(place, reads={"cell": f"cell{sensitive_column.suffix}"})


def halve(asked: Asked) -> tuple[Step, Repeat]:
    """Return the loop that cuts what `split` left into halves: rows with the value at a cut may go either way.

    A half without l values of each sensitive column is no cut.
    """
    least = {"least_rows": asked.k}
    rows = {"attribute_codes": asked.codes, "passed": [*asked.carried, *asked.sensitive_codes]}
    placed = {**least, **rows}
    judged = {**least, "diversity": asked.diversity, "sensitive_codes": asked.sensitive_codes}
    body = (
        Step("methods/mondrian/splitting/choice", values=asked.choice),
        Step("methods/mondrian/splitting/half", values={**rows, "ties": list(asked.carried)}),
        Step("methods/mondrian/splitting/judged_half", values=judged),
        Step("methods/mondrian/splitting/placed_half", yields="placed", values=placed),
    )
    reopened = Step("methods/mondrian/splitting/reopened", values=rows)
    rest = Step("methods/mondrian/splitting/unsettled", "query", suffix="_halves", reads={"splitting": "reopened"})
    return reopened, Repeat("halving", "reopened", tuple(_reading_reopened(body)), rest, MOST_TURNS)


def _reading_reopened(body: Sequence[Step]) -> Iterator[Step]:
    """Let a turn read what was opened anew in the place of what was split."""
    for step in body:
        reads = {"splitting": "reopened"} if step.template.endswith(("/choice", "/half")) else {}
        yield replace(step, reads=reads)


def _shares(attribute: Attribute) -> list[tuple[str, Sql]]:
    """Return each level with the share of the leaves below the node above it: 1 of the root."""
    above = [Sql("1"), *(Sql(f"least.share_{depth}") for depth in range(1, len(attribute.levels)))]
    return list(zip(attribute.levels, above, strict=False))
