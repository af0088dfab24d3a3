"""A sixth method for the tests: Anatomy whose group numbers begin elsewhere. All of it is here and in one template."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from sqlanon.methods import grouping, qit_st
from sqlanon.methods.base import Method, Steps
from sqlanon.methods.qit_st import Grouped
from sqlanon.models.fields import Option
from sqlanon.models.publication import Publication
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request


class ToyOptions(Publication):
    """What `toy` takes."""

    l: Annotated[int, Option(flag="-l")] = Field(description="Different values in a group.")
    first_group: Annotated[int, Option(words="{option} is {value}, not 0")] = Field(
        100, description="Number of the first group.", ge=1
    )


@dataclass(frozen=True, kw_only=True)
class Toy(Grouped):
    """Groups whose numbers begin at `first`."""

    first: int


def design(request: Request, l: int, first_group: int) -> Toy:
    """Decide on groups as Anatomy does."""
    attribute = qit_st.attribute("toy", request, "l", l, None)
    return Toy(request=request, attribute=attribute, promise={"l": l, "confidence": 1 / l}, first=first_group)


def group_rows(design: Toy) -> Steps:
    """Return the chapters that end in `grouped`."""
    return (
        grouping.population(design.request),
        grouping.tally(),
        grouping.refuse_missing(design),
        grouping.refuse_frequent(design),
        grouping.count_values(design),
        *grouping.identify(design),
        grouping.shuffle(design),
        grouping.group(design),
    )


def move_groups(design: Toy) -> Steps:
    """Return the step that renumbers the groups."""
    values = {"payload": design.attribute.payload, "distance": design.first}
    return (Chapter("methods/toy/moved", values),)


TOY = Method(
    name="toy",
    paper="Nobody, A Method for Tests, never",
    form="qit_st",
    options=ToyOptions,
    design=design,
    steps=(group_rows, move_groups),
    outputs=(qit_st.publish,),
    sentence="Publish groups under other numbers.",
    example="patients.parquet --quasi age --sensitive disease -l 4 --out release",
    compile_sentence="Print a script of the same.",
    compile_example="patients --quasi age --sensitive disease -l 4",
)
