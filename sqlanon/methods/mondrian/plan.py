"""Mondrian (LeFevre, DeWitt and Ramakrishnan, ICDE 2006): multidimensional generalization.

All rows are one box of the space of quasi-identifiers. Boxes are cut by their widest attribute, near the median, as
long as both parts keep k rows and l different sensitive values; what is published of a row is its box, with its exact
sensitive value. One set of statements cuts all boxes of a level. Each of several sensitive columns has l values in a
box and a table by itself: which of their values are one person's is published nowhere.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Required

from sqlanon.methods import grouping
from sqlanon.methods.base import Method, Steps
from sqlanon.methods.grouping import check_persons, select_rows
from sqlanon.methods.kinds import Choice, Whole
from sqlanon.methods.mondrian import attributes, boxes, splitting
from sqlanon.methods.mondrian.design import NAME, Mondrian, check_size, design
from sqlanon.methods.mondrian.read_manifest import RECORDED
from sqlanon.methods.mondrian.splitting import Asked
from sqlanon.methods.parameters import Parameter, Range
from sqlanon.methods.request_options import HIERARCHIES, SEVERAL_SENSITIVE, Names, RequestOptions


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
            "Least different sensitive values of a box, in every sensitive column.",
            1,
            flag="-l",
            within=Range("{option} {value} is no number of values; l is a whole number of at least 1", least=1),
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
    """Return the step that gives rows their identity text, where draws need one: strict boxes draw nothing."""
    return grouping.identify_rows(design) if design.partition == "relaxed" else ()


def draw(design: Mondrian) -> Steps:
    """Return the step that draws for every row, where rows with equal values may go either way at a cut."""
    return grouping.draw(design) if design.partition == "relaxed" else ()


def number_values(design: Mondrian) -> Steps:
    """Return the steps that number the values of every attribute in its order."""
    return attributes.numbered(design.attributes)


def code_rows(design: Mondrian) -> Steps:
    """Return the steps that put codes in the place of values: one partition of all rows."""
    columns = design.attributes, design.sensitive
    return attributes.coded(design.request, *columns, design.prefix, design.rows, design.carried)


def split_partitions(design: Mondrian) -> Steps:
    """Return the loop that cuts partitions as long as the parts are large and diverse enough."""
    terms = Asked(design.attributes, design.sensitive, design.prefix, design.k, design.l, design.carried)
    return (splitting.split(terms), *(splitting.halve(terms) if design.partition == "relaxed" else ()))


def make_boxes(design: Mondrian) -> Steps:
    """Return the steps that end in `box`: what is published of each partition."""
    return boxes.made(design.attributes, design.prefix, design.partitioned)


def publish_data(design: Mondrian) -> Steps:
    """Return the steps of the published tables: boxes and exact values, a table for each sensitive column."""
    return boxes.published(design.attributes, design.sensitive, design.partitioned)


def link_rows(design: Mondrian) -> Steps:
    """Return the views of what the run knows of its rows to the end."""
    return boxes.linked(design.attributes, design.sensitive, design.prefix, design.partitioned)


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
    reads_source=True,
    recorded=RECORDED,
    no_ledger="boxes are cut anew through everybody who is there, and old and new boxes intersect",
)
