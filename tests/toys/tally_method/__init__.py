"""A sixth method for the tests, with a form of its own: crowds of people alike, and a tally of each.

A crowd is published where none of its sensitive values is held by more than 1/l of it; others are left out.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from sqlanon.methods import grouping, qit_st
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.grouping import Grouping
from sqlanon.methods.packing import quasi_names
from sqlanon.models.fields import Option
from sqlanon.models.publication import Publication
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.engines import NEVER, OURS, Mark
from sqlanon.plans.plan import Request, Row
from sqlanon.plans.roles import free_name


class TallyOptions(Publication):
    """What `tally` takes."""

    l: Annotated[int, Option(flag="-l", words="l is 2")] = Field(description="No value above 1/l of a crowd.", ge=2)


@dataclass(frozen=True, kw_only=True)
class Tally(Grouping):
    """Crowds in which no value is held by more than 1/l."""

    l: int

    @property
    def columns(self) -> dict[str, Any]:
        """Return the published columns."""
        roles = self.request.roles
        added = {"count": free_name("count", (*roles.quasi, *roles.sensitive))}
        return {"quasi": list(roles.quasi), "sensitive": list(roles.sensitive), **added}

    @property
    def guarantee(self) -> dict[str, object]:
        """Return the promise."""
        return {"l": self.l, "confidence": 1 / self.l}


def design(request: Request, l: int) -> Tally:
    """Decide on crowds of one sensitive column."""
    return Tally(request=request, attribute=qit_st.attribute("tally", request, "l", l, None), l=l)


def read_rows(design: Tally) -> Steps:
    """Return the chapters that end in `population`, and refuse a value that is too frequent."""
    checks = (grouping.refuse_missing(design), grouping.refuse_frequent(design))
    return (grouping.population(design.request), grouping.tally(), *checks)


def count_crowds(design: Tally) -> Steps:
    """Return the steps that count what each crowd holds, and how many rows lie in crowds that are left out."""
    values = {"quasi": quasi_names(design.request), "l": design.l}
    return (
        Chapter("tally_method/crowd", values),
        Chapter("tally_method/left_out", {}, {"left_out": _describe_left_out}),
    )


def _describe_left_out(row: Row) -> str:
    dropped = row["dropped_rows"]
    return f"dropped: {dropped:,} rows of crowds in which a value is too frequent" if dropped else ""


def publish_tally(design: Tally) -> Steps:
    """Return the step of the table."""
    columns = design.columns
    names = {"quasi": columns["quasi"], "sensitive": columns["sensitive"][0], "count_column": columns["count"]}
    return (Chapter("tally_method/tally", names),)


TALLY_METHOD = Method(
    name="tally_method",
    paper="Nobody, Another Method for Tests, never",
    form="tally_form",
    options=TallyOptions,
    design=design,
    steps=(read_rows, count_crowds),
    outputs=(publish_tally,),
    sentence="Publish how often each value occurs among people alike.",
    example="patients.parquet --quasi sex --sensitive disease -l 4 --out release",
    compile_sentence="Print a script of the same.",
    compile_example="patients --quasi sex --sensitive disease -l 4",
    lacks={
        "macros": Mark(OURS, "a toy"),
        "ledger": Mark(NEVER, "a crowd that grows by one tells what the new person has"),
    },
    strength=Strength(parameter="l", promise="no value above 1/{value} of people alike", rank=2, chance=True),
)
