"""Mondrian (LeFevre, DeWitt and Ramakrishnan, ICDE 2006): multidimensional generalization.

All rows are one box of the space of quasi-identifiers. Boxes are cut by their widest attribute, near the median, as
long as both parts keep k rows and l different sensitive values; what is published of a row is its box, with its exact
sensitive value. One set of statements cuts all boxes of a level. Each of several sensitive columns has l values in a
box and a table by itself: which of their values are one person's is published nowhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from sqlanon.methods import grouping
from sqlanon.methods.base import Design, Method, Reports, Steps, Strength
from sqlanon.methods.mondrian.attributes import (
    RECORDED,
    Attribute,
    described_attributes,
    name_columns,
    read_attributes,
)
from sqlanon.methods.packing import quasi_names, sensitive_names, tie_names
from sqlanon.methods.uniqueness import check_sensitive
from sqlanon.models.fields import Option
from sqlanon.models.publication import Hierarchies, Publication
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.engines import ENGINE, NEVER, Mark
from sqlanon.plans.plan import Beside, Request

NAME = "mondrian"
UNKNOWN_CODE = 2**31 - 1  # of NULL among numbers
# log2(N / k) turns of cuts and a few of attempts; what is still open after these is as private, and coarser
MOST_TURNS = 40
Diversity = Literal["frequent", "distinct"]
Partitioning = Literal["strict", "relaxed"]


class MondrianOptions(Publication):
    """What `mondrian` takes."""

    k: Annotated[
        int, Option(flag="-k", words="{option} {value} hides nobody among others; k is a whole number of at least 2")
    ] = Field(description="Least rows of a box.", ge=2)
    l: Annotated[
        int, Option(flag="-l", words="{option} {value} is no number of values; l is a whole number of at least 1")
    ] = Field(1, description="No value of a sensitive column in more than 1/l of a box, or see diversity.", ge=1)
    diversity: Diversity = Field(
        "frequent",
        description="What l is: frequent, each value in at most 1/l of a box; distinct, l different values at least.",
    )
    partition: Partitioning = Field(
        "strict",
        description="strict: rows with equal values stay in one box. relaxed: rows at a cut may go either way.",
    )
    hierarchy: Hierarchies


@dataclass(frozen=True, kw_only=True)
class Mondrian(Design):
    """The design of a release of boxes.

    attributes: the quasi columns as they are published. k: least rows of a box; l:
    least different values of each sensitive column there, diversity: and none of them in more than 1/l of the rows
    (frequent). partition: whether equal values stay together (strict). tables: the hierarchies.
    """

    attributes: tuple[Attribute, ...]
    k: int
    l: int
    diversity: Diversity
    partition: Partitioning
    tables: tuple[Beside, ...]

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the columns by their roles, as a recipient's queries name them."""
        roles = self.request.roles
        return {"quasi": list(roles.quasi), "sensitive": list(roles.sensitive)}

    @property
    def sensitive(self) -> list[dict[str, str]]:
        """Return what sensitive columns are called; each has a table of its own: no row shows two values together."""
        suffixes = [name.removeprefix("sensitive") for name in sensitive_names(self.request)]
        return [
            {
                "name": name,
                "internal": f"sensitive{suffix}",
                "suffix": suffix,
                "numbered": f"sensitive_value{suffix}",
                "code": f"sensitive_code{suffix}" if suffix else "code",
            }
            for name, suffix in zip(self.request.roles.sensitive, suffixes, strict=True)
        ]

    @property
    def guarantee(self) -> Mapping[str, object]:
        """Return k and l."""
        return {"k": self.k, "l": self.l, "diversity": self.diversity}

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return what the manifest says of the published columns and of the hierarchies."""
        trees = {
            attribute.name: attribute.hierarchy.pairs
            for attribute in self.attributes
            if attribute.hierarchy is not None
        }
        return {"hierarchy": {"published": described_attributes(self.attributes), "hierarchies": trees}}

    @property
    def tables_read(self) -> tuple[Beside, ...]:
        """Return the hierarchies."""
        return self.tables

    def fitted(self, reports: Reports) -> Self:
        """Return the design with a column for unknown values only where there are some."""
        counts = reports["facts"]
        unknown = frozenset(attribute.name for attribute in self.attributes if counts[f"unknown_{attribute.number}"])
        return replace(self, attributes=name_columns(self.request, self.attributes, unknown))


def design(
    request: Request,
    k: int,
    l: int,
    diversity: Diversity,
    partition: Partitioning,
    hierarchy: Mapping[str, Beside],
) -> Mondrian:
    """Decide how each quasi column is published.

    Raises UsageError where a hierarchy cannot be right on any data.
    """
    return Mondrian(
        request=request,
        attributes=read_attributes(request, hierarchy),
        k=k,
        l=l,
        diversity=diversity,
        partition=partition,
        tables=tuple(hierarchy.values()),
    )


def split_rows(design: Mondrian) -> Steps:
    """Return the chapters that end in `splitting` and `box`: every row's partition, and what is published of it."""
    request, relaxed, frequent = design.request, design.partition == "relaxed", design.diversity == "frequent"
    codes = [f"code_{attribute.number}" for attribute in design.attributes]
    sensitive = [str(column["code"]) for column in design.sensitive]
    draws = ("draw", *tie_names(request)) if relaxed else ()
    values = {
        **{name: getattr(design, name) for name in ("attributes", "sensitive", "k", "l")},
        "frequent": frequent,
        "unknown_code": UNKNOWN_CODE,
    }
    drawn = grouping.draw(
        request, (*quasi_names(request), *sensitive_names(request)), f"{NAME}/{request.roles.sensitive[0]}"
    )
    cut = {
        "draws": draws,
        "kept": (*codes, *sensitive, *draws),
        "ties": ("place", *codes, *draws) if relaxed else (),
        # one value every box has: no values are counted
        "judged": [(code,) for code in sensitive] if design.l > 1 else [()],
        "gathered": "max" if frequent else "sum",
        "turns": MOST_TURNS,
    }
    return (
        grouping.population(request),
        *check_sensitive(design),
        Chapter("mondrian/values", values | {"refuse_nulls": request.nulls == "refuse"}),
        *((*grouping.bind(design), *grouping.tell_apart(design), drawn) if relaxed else ()),
        Chapter("mondrian/split", values | cut),
    )


def publish(design: Mondrian) -> Steps:
    """Return the chapter of the published tables: boxes and exact values, a table for each sensitive column."""
    shown = [pair for attribute in design.attributes for pair in attribute.shown]
    return (Chapter("mondrian/published", {"sensitive": design.sensitive, "shown": shown}),)


def link(design: Mondrian) -> Steps:
    """Return the chapter of what the run knows of its rows to the end, and of the boxes made once more."""
    values = {"attributes": design.attributes, "sensitive": design.sensitive, "unknown_code": UNKNOWN_CODE}
    return (Chapter("mondrian/linked", values),)


MONDRIAN: Method[Mondrian] = Method(
    name=NAME,
    paper="LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006",
    form="generalized",
    options=MondrianOptions,
    design=design,
    steps=(split_rows,),
    outputs=(publish,),
    linked=link,
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
        "pseudonyms": Mark(NEVER, "a box of pseudonyms holds rows that are alike in nothing"),
        "macros": Mark(ENGINE, "a macro is one SELECT, which cannot cut in turns"),
        "ledger": Mark(NEVER, "boxes are cut anew through everybody who is there, and old and new boxes intersect"),
    },
)
