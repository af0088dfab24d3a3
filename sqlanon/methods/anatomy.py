"""Anatomy (Xiao and Tao, VLDB 2006): publish QIT and ST from an l-diverse partition of the rows.

QIT holds every row's exact quasi-identifier values and its group; ST holds each group's sensitive values
with their counts. No value fills more than 1/l of a group, so that from QIT and ST alone nobody infers a
person's value with confidence above 1/l.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from sqlanon.methods import grouping, macro_steps, packing, qit_st, republication, several
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.grouping import LEFT_OUT, Blocks, KnownSize
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.several import MOST_SUPPRESSED, SeveralColumns
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.models import shapes
from sqlanon.models.fields import Option
from sqlanon.models.publication import Publication
from sqlanon.models.values import SHARE
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message

NAME = "anatomy"
TOO_SMALL = "l = {value} protects nobody; l is a whole number of at least 2"


class AnatomyOptions(Publication):
    """What `anatomy` takes."""

    l: Annotated[int, Option(flag="-l", words=TOO_SMALL)] = Field(
        description="At least l different sensitive values in every group.", ge=2
    )
    max_suppressed: Annotated[float, SHARE, Option(words=LEFT_OUT)] = Field(
        MOST_SUPPRESSED,
        description="Share of the rows that may be left out, e.g. 0.01 or 1%, so that several values of a person (of"
        " several sensitive columns, or rows) differ in every group; one value leaves none out.",
        ge=0,
        lt=1,
    )
    known_size: KnownSize
    block: Blocks


@dataclass(frozen=True, kw_only=True)
class OneColumn(Grouped):
    """A design whose groups are diverse in one column: they leave no row out."""

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return nothing for the share of rows that might be left out."""
        return {"max_suppressed": {}, "known_size": {}}


def design(request: Request, l: int, max_suppressed: float, known_size: bool, block: int | None) -> Grouped:
    """Decide on groups of at least l rows with l different values, in every sensitive column."""
    if len(request.roles.sensitive) > 1 or request.sets:
        return several.design(request, NAME, l, block, max_suppressed, known_size)
    layout = packing.layout_of(request)
    attribute = qit_st.attribute(NAME, request, "l", l, block, layout)
    if request.following is not None:
        attribute = republication.add_ledger_columns(attribute, request.following)
    return OneColumn(request=request, attribute=attribute, promise={"l": l, "confidence": 1 / l}, layout=layout)


def group_rows(design: Grouped) -> Steps:
    """Return the chapters that end in `grouped`, for one sensitive column or several."""
    if isinstance(design, SeveralColumns):
        return several.group_rows(design)
    return (
        grouping.population(design.request),
        grouping.tally(),
        grouping.refuse_missing(design),
        grouping.refuse_frequent(design),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design),
        grouping.count_values(design),
        *grouping.identify(design),
        grouping.shuffle(design),
        grouping.group(design),
    )


_SMALL = (
    Sql("coalesce(l < 2 or l <> floor(l), true)"),
    write_message(TOO_SMALL, {"value": "coalesce(cast(l as varchar), 'NULL')"}),
)

MACROS = (
    Macro(
        "anatomy_groups",
        (macro_steps.TABLE, macro_steps.SENSITIVE, "l", *macro_steps.OPTIONS, macro_steps.DRAWS),
        "every row with its group_id: microdata to take quasi columns from, not a release",
        "from anatomy_groups('patients', 'disease', 4)",
        (
            *macro_steps.groups(NAME, "l", [_SMALL], draws=True),
            Chapter("macros/groups", {"purpose": f"{NAME}/order/"}),
        ),
    ),
    Macro(
        "anatomy_qit",
        (macro_steps.TABLE, macro_steps.QUASI, macro_steps.SENSITIVE, "l", *macro_steps.OPTIONS),
        "the quasi columns and group_id; under one key it belongs to anatomy_st",
        "from anatomy_qit('patients', ['age', 'sex'], 'disease', 4)",
        (
            *macro_steps.groups(NAME, "l", [*macro_steps.column_refusals(macro_steps.QUASI, "--quasi"), _SMALL]),
            macro_steps.PUBLISHED_QIT,
        ),
    ),
    Macro(
        "anatomy_st",
        (macro_steps.TABLE, macro_steps.SENSITIVE, "l", *macro_steps.OPTIONS),
        "group_id, the sensitive column and its count; under one key it belongs to anatomy_qit",
        "from anatomy_st('patients', 'disease', 4)",
        (
            *macro_steps.groups(NAME, "l", [_SMALL]),
            macro_steps.PUBLISHED_ST,
        ),
    ),
)

ANATOMY = Method(
    name=NAME,
    paper="Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation, VLDB 2006",
    form="qit_st",
    options=AnatomyOptions,
    design=design,
    steps=(group_rows,),
    outputs=(qit_st.publish,),
    linked=qit_st.link,
    followed=(
        republication.match_persons,
        republication.group_arrivals,
        republication.show_persons,
    ),
    followed_outputs=(qit_st.publish,),
    followed_linked=republication.link_rows,
    lasting=("l",),
    takes_sets=True,
    sentence="Publish QIT and ST of an l-diverse partition (Anatomy).",
    example="patients.parquet --quasi age,sex --sensitive disease -l 4 --out release",
    compile_sentence="Print a script that publishes QIT and ST on another engine (no database is needed).",
    compile_example="patients --quasi age --sensitive disease --id ssn -l 4 --dialect spark",
    macros=MACROS,
    strength=Strength(parameter="l", promise="confidence at most 1/{value}", rank=2, chance=True),
    recorded={"reserve": shapes.whole()},  # of ledgers of 0.2.0 under which persons moved
)
