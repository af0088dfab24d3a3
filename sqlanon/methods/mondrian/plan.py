"""Mondrian (LeFevre, DeWitt and Ramakrishnan, ICDE 2006): multidimensional generalization.

All rows are one box of the space of quasi-identifiers. Boxes are cut by their widest attribute, near the median, as
long as both parts keep k rows and l different sensitive values; what is published of a row is its box, with its exact
sensitive value. One set of statements cuts all boxes of a level. Each of several sensitive columns has l values in a
box and a table by itself: which of their values are one person's is published nowhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Required

from sqlanon.methods import grouping
from sqlanon.methods.base import REMADE, Method, Steps, Strength
from sqlanon.methods.grouping import check_persons, select_rows
from sqlanon.methods.mondrian import attributes
from sqlanon.methods.mondrian.attributes import UNKNOWN_CODE, Attribute
from sqlanon.methods.mondrian.design import NAME, Mondrian, check_size, design
from sqlanon.methods.mondrian.read_manifest import RECORDED
from sqlanon.methods.mondrian.sensitive_columns import SensitiveColumn
from sqlanon.methods.parameter_types import Choice, Whole
from sqlanon.methods.parameters import Parameter, Range
from sqlanon.methods.request_options import HIERARCHIES, SEVERAL_SENSITIVE, Names, RequestOptions
from sqlanon.methods.uniqueness import check_sensitive
from sqlanon.plans.marks import ENGINE, NEVER, Mark
from sqlanon.plans.plan import Repeat, Step, count_left_over, relation_name
from sqlanon.plans.templates import Sql

# Partitions split level by level: one turn cuts all open partitions at once, each by one attribute. The
# templates are `sql_templates/methods/mondrian/plan/`. They begin and end with `splitting`: partition,
# attempts (attributes that gave no cut), open, code_1 …, sensitive_code …
# log2(N / k) turns of cuts and a few of attempts; what is still open after these is as private, and coarser
MOST_TURNS = 40


@dataclass(frozen=True)
class Asked:
    """What boxes are asked for.

    k: least rows. l: least different values, of each sensitive column; frequent: none in more than 1/l of
    the rows. payload: the columns that say in which order
    rows with equal values go.
    """

    attributes: Sequence[Attribute]
    sensitive: Sequence[SensitiveColumn]
    prefix: str
    k: int
    l: int
    frequent: bool
    payload: Sequence[str]

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
        "frequent": asked.frequent,
        "diverse_places": [
            relation_name(asked.prefix, f"diverse_place{sensitive_column.suffix}") for sensitive_column in further
        ],
    }
    placed = {**least, "attribute_codes": asked.codes, "passed": [*asked.payload, *asked.sensitive_codes]}
    body = (
        Step("methods/mondrian/plan/choice", values=asked.choice),
        *(step for sensitive_column in further for step in _diverse_place(asked, sensitive_column)),
        _count_values(asked, asked.sensitive[0]),
        Step("methods/mondrian/plan/cut", values=cut),
        Step("methods/mondrian/plan/placed", values=placed),
    )
    rest = count_left_over("splitting", "open = 1")
    return Repeat("splitting", "splitting", body, rest, MOST_TURNS)


def _count_values(terms: Asked, sensitive_column: SensitiveColumn) -> Step:
    """Return the step that counts rows by the value of the attribute of the cut, and the values of one column."""
    values: dict[str, object] = {"attribute_codes": terms.codes}
    if not terms.diversity:
        return Step("methods/mondrian/plan/frequency_set", values=values)
    values |= {"sensitive_code": sensitive_column.code, "frequent": terms.frequent}
    return Step(
        "methods/mondrian/plan/frequency_set_diverse",
        yields="frequency_set",
        suffix=sensitive_column.suffix,
        values=values,
    )


def _diverse_place(terms: Asked, sensitive_column: SensitiveColumn) -> Sequence[Step]:
    """Return the steps that tell where a further column does not stand in the way of a cut."""
    place = Step(
        "methods/mondrian/plan/diverse_place",
        suffix=sensitive_column.suffix,
        values={"l": terms.l, "frequent": terms.frequent},
    )
    return _count_values(terms, sensitive_column), replace(
        place, reads={"frequency_set": f"frequency_set{sensitive_column.suffix}"}
    )


def halve(asked: Asked) -> tuple[Step, Repeat]:
    """Return the loop that cuts what `split` left into halves: rows with the value at a cut may go either way.

    A half without l values of each sensitive column is no cut.
    """
    least = {"least_rows": asked.k}
    rows = {"attribute_codes": asked.codes, "passed": [*asked.payload, *asked.sensitive_codes]}
    placed = {**least, **rows}
    diverse = {"diversity": asked.diversity, "frequent": asked.frequent}
    judged = {**least, **diverse, "sensitive_codes": asked.sensitive_codes}
    body = (
        Step("methods/mondrian/plan/choice", values=asked.choice),
        Step("methods/mondrian/plan/half", values={**rows, "ties": list(asked.payload)}),
        Step("methods/mondrian/plan/judged_half", values=judged),
        Step("methods/mondrian/plan/placed_half", yields="placed", values=placed),
    )
    reopened = Step("methods/mondrian/plan/reopened", values=rows)
    rest = count_left_over("reopened", "open = 1", suffix="_halves")
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


# What is published of partitions: bounds, nodes and sets of values, and every row's exact sensitive values.
def made(attributes: Sequence[Attribute], prefix: str, rows: str) -> Steps:
    """Return the steps that end in `box`: what is published of each partition; rows: the relation of the rows."""
    reads = {"splitting": rows}
    sets = [attribute for attribute in attributes if attribute.shape == "set"]
    values = {
        "numbers": [
            (attribute.number, attribute.dictionary(prefix)) for attribute in attributes if attribute.shape == "bounds"
        ],
        "nodes": [
            (attribute.number, attribute.dictionary(prefix), attribute.levels[::-1], attribute.hierarchy.root)
            for attribute in attributes
            if attribute.hierarchy is not None
        ],
        "sets": [(attribute.number, relation_name(prefix, f"value_set{attribute.suffix}")) for attribute in sets],
        "unknown_code": UNKNOWN_CODE,
    }
    listed = (
        Step(
            "methods/mondrian/plan/value_set",
            suffix=attribute.suffix,
            values={"column": attribute.code, "dictionary": attribute.dictionary(prefix)},
            reads=reads,
        )
        for attribute in sets
    )
    return (*listed, Step("methods/mondrian/plan/box", values=values, reads=reads))


def published(attributes: Sequence[Attribute], sensitive: Sequence[SensitiveColumn], rows: str) -> Steps:
    """Return the steps of the published tables: the boxes with each sensitive column by itself."""
    shown_columns = [pair for attribute in attributes for pair in attribute.shown]
    return tuple(
        Step(
            "methods/mondrian/plan/data",
            suffix=sensitive_column.suffix,
            values={
                "shown": shown_columns,
                "sensitive": sensitive_column.name,
                "sensitive_code": sensitive_column.code,
            },
            reads={"splitting": rows, "sensitive_value": f"sensitive_value{sensitive_column.suffix}"},
        )
        for sensitive_column in sensitive
    )


def linked(attributes: Sequence[Attribute], sensitive: Sequence[SensitiveColumn], prefix: str, rows: str) -> Steps:
    """Return the views of the rows as the run knows them to the end, and of the boxes made once more."""
    dictionaries = [(attribute.number, attribute.dictionary(prefix)) for attribute in attributes]
    views = tuple(
        Step(
            "methods/mondrian/plan/linked",
            "view",
            suffix=sensitive_column.suffix,
            values={"dictionaries": dictionaries, "sensitive_code": sensitive_column.code},
            reads={"splitting": rows, "sensitive_value": f"sensitive_value{sensitive_column.suffix}"},
        )
        for sensitive_column in sensitive
    )
    *_, box = made(attributes, prefix, rows)
    assert isinstance(box, Step)
    return (*views, replace(box, kind="view", yields=f"box{REMADE}"))


class MondrianOptions(RequestOptions, total=False):
    """What `mondrian` takes."""

    sensitive: Required[Annotated[Names, SEVERAL_SENSITIVE]]
    k: Required[
        Annotated[
            int,
            Parameter(
                Whole(),
                "Least rows of a box.",
                flag="-k",
                within=Range("{option} {value} hides nobody among others; k is a whole number of at least 2", least=2),
            ),
        ]
    ]
    l: Annotated[
        int,
        Parameter(
            Whole(),
            "No value of a sensitive column in more than 1/l of a box, or see diversity.",
            1,
            flag="-l",
            within=Range("{option} {value} is no number of values; l is a whole number of at least 1", least=1),
        ),
    ]
    diversity: Annotated[
        Literal["frequent", "distinct"],
        Parameter(
            Choice(("frequent", "distinct")),
            "What l is: frequent, each value in at most 1/l of a box; distinct, l different values at least.",
            "frequent",
        ),
    ]
    partition: Annotated[
        Literal["strict", "relaxed"],
        Parameter(
            Choice(("strict", "relaxed")),
            "strict: rows with equal values stay in one box. relaxed: rows at a cut may go either way.",
            "strict",
        ),
    ]
    hierarchy: Annotated[Mapping[str, object], HIERARCHIES]


def identify_rows(design: Mondrian) -> Steps:
    """Return the steps of what rows are drawn by, where draws need it: strict boxes draw nothing."""
    return (*grouping.bind_draws(design), *grouping.identify_rows(design)) if design.partition == "relaxed" else ()


def draw(design: Mondrian) -> Steps:
    """Return the step that draws for every row, where rows with equal values may go either way at a cut."""
    return grouping.draw(design) if design.partition == "relaxed" else ()


def number_values(design: Mondrian) -> Steps:
    """Return the steps that number the values of every attribute in its order."""
    return attributes.number_values(design.attributes)


def code_rows(design: Mondrian) -> Steps:
    """Return the steps that put codes in the place of values: one partition of all rows."""
    columns = design.attributes, design.sensitive
    return attributes.start_partition(design.request, *columns, design.prefix, design.rows, design.payload)


def split_partitions(design: Mondrian) -> Steps:
    """Return the loop that cuts partitions as long as the parts are large and diverse enough."""
    terms = Asked(
        design.attributes, design.sensitive, design.prefix, design.k, design.l, design.frequent, design.payload
    )
    return (split(terms), *(halve(terms) if design.partition == "relaxed" else ()))


def make_boxes(design: Mondrian) -> Steps:
    """Return the steps that end in `box`: what is published of each partition."""
    return made(design.attributes, design.prefix, design.partitioned)


def publish_data(design: Mondrian) -> Steps:
    """Return the steps of the published tables: boxes and exact values, a table for each sensitive column."""
    return published(design.attributes, design.sensitive, design.partitioned)


def link_rows(design: Mondrian) -> Steps:
    """Return the views of what the run knows of its rows to the end."""
    return linked(design.attributes, design.sensitive, design.prefix, design.partitioned)


MONDRIAN: Method[Mondrian] = Method(
    name=NAME,
    paper="LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006",
    form="generalized",
    options=MondrianOptions,
    design=design,
    steps=(
        select_rows,
        check_size,
        check_persons,
        check_sensitive,
        identify_rows,
        draw,
        number_values,
        code_rows,
        split_partitions,
        make_boxes,
    ),
    outputs=(publish_data,),
    linked=link_rows,
    sentence="Publish generalized rows: boxes of at least k rows (Mondrian).",
    example="patients.parquet --quasi age,sex --sensitive disease -k 10 -l 4 --out release",
    compile_sentence="Print a script that publishes generalized rows (the source's columns are read).",
    compile_example="patients --database hospital.duckdb --quasi age,sex --sensitive disease --id ssn -k 10",
    most_columns=100,
    strength=Strength(
        parameter="l",
        promise="boxes of {rows} rows, each value in 1/{value}",
        rank=0,
        boxed=True,
        verified_figure="largest_confidence",
    ),
    reads_source=True,
    recorded=RECORDED,
    lacks={
        "macros": Mark(ENGINE, "a macro is one SELECT, which cannot cut in turns"),
        "ledger": Mark(NEVER, "boxes are cut anew through everybody who is there, and old and new boxes intersect"),
    },
)
