"""A sixth method for the tests: Anatomy whose group numbers begin elsewhere. All of it is here and in one template."""

from dataclasses import dataclass
from typing import Annotated, Required

from sqlanon.methods import qit_st
from sqlanon.methods.base import Method, Steps
from sqlanon.methods.grouping import (
    check_persons,
    check_values,
    draw,
    form_groups,
    identify_rows,
    order_values,
    seat_rows,
    select_rows,
)
from sqlanon.methods.parameter_types import Whole
from sqlanon.methods.parameters import Parameter, Range
from sqlanon.methods.qit_st import Grouped, publish_qit, publish_st
from sqlanon.methods.request_options import SENSITIVE, RequestOptions
from sqlanon.plans.plan import Request, Step


class ToyOptions(RequestOptions, total=False):
    """What `toy` takes."""

    sensitive: Required[Annotated[str, SENSITIVE]]
    l: Required[Annotated[int, Parameter(Whole(), "Different values in a group.", flag="-l")]]
    first_group: Annotated[
        int, Parameter(Whole(), "Number of the first group.", 100, within=Range("{option} is {value}, not 0", least=1))
    ]


@dataclass(frozen=True, kw_only=True)
class Toy(Grouped):
    """Groups whose numbers begin at `first`."""

    first: int


def design(request: Request, l: int, first_group: int) -> Toy:
    """Decide on groups as Anatomy does."""
    attribute = qit_st.attribute("toy", request, "l", l, None)
    return Toy(request=request, attribute=attribute, promise={"l": l, "confidence": 1 / l}, first=first_group)


def move_groups(design: Toy) -> Steps:
    """Return the step that renumbers the groups."""
    values = {"payload": design.attribute.payload, "distance": design.first}
    return (Step("methods/toy/moved", yields="grouped", suffix="_moved", values=values),)


TOY = Method(
    name="toy",
    paper="Nobody, A Method for Tests, never",
    form="qit_st",
    options=ToyOptions,
    design=design,
    steps=(
        *(select_rows, check_values, check_persons, identify_rows, draw, order_values, seat_rows, form_groups),
        move_groups,
    ),
    outputs=(publish_qit, publish_st),
    sentence="Publish groups under other numbers.",
    example="patients.parquet --quasi age --sensitive disease -l 4 --out release",
    compile_sentence="Print a script of the same.",
    compile_example="patients --quasi age --sensitive disease -l 4",
)
