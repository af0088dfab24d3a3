"""r-robust publishing (Wong et al., 2010): safe against an adversary who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sqlanon.methods import grouping, macro_steps, qit_st, republication, several
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.grouping import LEFT_OUT, Blocks, KnownSize
from sqlanon.methods.macro_steps import QUASI, SENSITIVE, TABLE, Refusal, column_refusals
from sqlanon.methods.robust import background
from sqlanon.methods.robust.design import (
    CLASSES,
    MOST_SUPPRESSED,
    NAME,
    Robustness,
    SeveralRobustness,
    design,
)
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.models import shapes
from sqlanon.models.fields import Option
from sqlanon.models.publication import BACKGROUND, NO_R, Publication
from sqlanon.models.values import COLUMN_SETS, FILES, SHARE, TABLES, FilePath, Names
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message

KNOWN, MOST = "background_names", "max_suppressed := 0.01"
SIGNATURE = ("known_fields",)
NO_BACKGROUND = "say what the adversary knows: background_names names at least one column"
NO_SHARE = "max_suppressed := {value} is no share of the rows; give a number from 0 to below 1"
# as the columns of a signature would be spelled one after the other
SPELLED = Sql(
    f"array_to_string(list_transform({SIGNATURE[0]}, lambda field:"
    " coalesce(cast(length(field) as varchar) || ':' || field, 'N')), '')"
)


def _refusals() -> list[Refusal]:
    size = {"value": "coalesce(cast(r as varchar), 'NULL')"}
    share = {"value": "coalesce(cast(max_suppressed as varchar), 'NULL')"}
    no_share = "coalesce(cast(max_suppressed as double) < 0 or cast(max_suppressed as double) >= 1, true)"
    return [
        *column_refusals("id", "--id"),
        (Sql(f"len(cast({KNOWN} as varchar[])) = 0"), write_message(NO_BACKGROUND, {})),
        *column_refusals(KNOWN, "--background-from"),
        (Sql("coalesce(r <= 1, true)"), write_message(NO_R, size)),
        (Sql(no_share), write_message(NO_SHARE, share)),
        macro_steps.no_block(),
    ]


def _groups(refusals: list[Refusal]) -> tuple[Chapter, ...]:
    """Return the chapters from a table to `grouped`, class by class; refusals: the macro's own, of columns."""
    size = Sql("cast(ceil(r) as bigint)")
    surplus = {
        "signature": SIGNATURE,
        "size": size,
        "codes": (),
        "parameter": "r",
        "asked": Sql("r"),
        "who": "rows",
        "alike": "one signature",
        "differ": Sql(f"'have different values of ' || {macro_steps.column()}"),
        "most": Sql("format('{:.4g}', 100.0 * cast(max_suppressed as double))"),
        "most_millionths": Sql("cast(round(1000000 * cast(max_suppressed as double)) as bigint)"),
        "taught": False,
        "final": False,
    }
    purpose = macro_steps.purpose_of(NAME)
    return (
        *macro_steps.source("id", [*refusals, *_refusals()], KNOWN),
        macro_steps.key(draws=False),
        macro_steps.bind(),
        grouping.tally(SIGNATURE),
        Chapter("robust/classes", {"signature": SIGNATURE, "purpose": purpose, "spelled": SPELLED}),
        macro_steps.count_values(NAME, "r", SIGNATURE),
        Chapter("surplus", surplus),
        *macro_steps.own_values(draws=False),
        *macro_steps.group(NAME, SIGNATURE),
    )


_OPTIONS = (*macro_steps.OPTIONS, MOST)
MACROS = (
    Macro(
        "robust_groups",
        (TABLE, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "every row with its group_id, in groups of one signature: microdata to take quasi columns from, not a release",
        "from robust_groups('patients', 'disease', ['sex'], 3)",
        (*_groups([]), Chapter("macros/groups", {"purpose": f"{NAME}/order/"})),
    ),
    Macro(
        "robust_qit",
        (TABLE, QUASI, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "the quasi columns and group_id; under one key it belongs to robust_st",
        "from robust_qit('patients', ['age', 'sex'], 'disease', ['sex'], 3)",
        (
            *_groups(column_refusals(QUASI, "--quasi")),
            macro_steps.PUBLISHED_QIT,
        ),
    ),
    Macro(
        "robust_st",
        (TABLE, SENSITIVE, KNOWN, "r", *_OPTIONS),
        "group_id, the sensitive column and its count; under one key it belongs to robust_qit",
        "from robust_st('patients', 'disease', ['sex'], 3)",
        (*_groups([]), macro_steps.PUBLISHED_ST),
    ),
)


class RobustOptions(Publication):
    """What `robust` takes."""

    r: Annotated[float, Option(flag="-r", words=NO_R)] = Field(
        description="No posterior above 1/r, for an adversary who knows the backgrounds; r > 1.", gt=1
    )
    background: Annotated[object | Sequence[object], TABLES] = Field((), description=BACKGROUND)
    background_from: Annotated[Names | Sequence[Names], COLUMN_SETS] = Field(
        (), description="Quasi columns whose distribution is learned from the data; repeatable."
    )
    save_background: Annotated[FilePath | Sequence[FilePath], FILES, Option(compiled=False, job=False)] = Field(
        (),
        description="File (.parquet, .csv) for a learned distribution, one each; it tells of small groups: keep it"
        " secret.",
    )
    max_suppressed: Annotated[float, SHARE, Option(words=LEFT_OUT)] = Field(
        MOST_SUPPRESSED, description="Share of the rows that may be left out, e.g. 0.01 or 1%.", ge=0, lt=1
    )
    known_size: KnownSize
    block: Blocks


# r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.
# A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al.
# 2010), and keeps it while its lines in ST stay. Whose signature changed cannot stay: the group would mix
# classes.


def _refuse_surplus(design: Robustness, final: bool) -> Chapter:
    """Return the chapter that refuses more rows left over than may be; final: they are those that are left out."""
    values = {
        "codes": (),
        "signature": design.signature,
        "size": design.attribute.size,
        "parameter": "r",
        "asked": f"{design.r:g}",
        "who": "rows",
        "alike": "one signature",
        "differ": f"have different values of {design.attribute.column!r}",
        **several.allow(design.most_suppressed),
        "taught": any(known.relation is None and len(known.columns) > 1 for known in design.backgrounds),
        "final": final,
    }
    return Chapter("surplus", values)


def group_arrivals(design: Robustness) -> Steps:
    """Return the chapters that end in `grouped` under a ledger: those who come new are grouped class by class."""
    signature, is_first = design.signature, republication.following(design).is_first
    return (
        *republication.match_persons(design, signature),
        grouping.tally(signature),
        grouping.classify(design, signature),
        grouping.count_values(design, signature),
        # a first release that leaves too many rows over is refused; later ones let rows wait
        *((_refuse_surplus(design, final=False),) if is_first else ()),
        *republication.call_arrivals(design, signature, design.most_suppressed),
        grouping.shuffle(design, signature),
        grouping.group(design, signature),
    )


def group_by_class(design: Robustness) -> Steps:
    """Return the chapters that end in `grouped`: classes, their groups, and who is left over."""
    request, signature = design.request, design.signature
    knowledge = list(enumerate(design.backgrounds, start=1))
    tables = [(number, known) for number, known in knowledge if known.relation is not None]
    chapters: list[Chapter] = [grouping.population(request)]
    if tables:
        chapters.append(grouping.tally())
        chapters += (background.read_table(known, number, request.show_values) for number, known in tables)
    chapters += [
        *grouping.bind(design),
        grouping.tally(signature),
        grouping.refuse_missing(design),
        grouping.classify(design, signature),
    ]
    if tables:
        taught = {column for _, known in knowledge if known.relation is None for column in known.columns}
        values = {
            "signature": signature,
            "tables": [
                {"number": number, "columns": known.columns, "names": background.names_of(known)}
                for number, known in tables
            ],
            "apart": tuple(name for name in signature if name in taught),
        }
        chapters.append(Chapter("robust/alike", values))
    return (
        *chapters,
        grouping.count_values(design, signature),
        _refuse_surplus(design, final=True),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.identify(design, signature),
        grouping.shuffle(design, signature),
        grouping.group(design, signature),
    )


def group_classes(design: Robustness) -> Steps:
    """Return the steps that end in `grouped`, for the columns that the design has."""
    if isinstance(design, SeveralRobustness):
        return several.group_classes(design, design.signature, "r", f"{design.r:g}")
    return group_by_class(design)


ROBUST: Method[Robustness] = Method(
    name=NAME,
    paper="Wong, Fu, Wang, Xu, Pei and Yu, Probabilistic Inference Protection on Anonymized Data, ICDM 2010",
    form="class_qit_st",
    options=RobustOptions,
    design=design,
    steps=(group_classes,),
    outputs=(qit_st.publish,),
    linked=qit_st.link,
    sentence="Publish QIT and ST against an adversary who knows how the sensitive values are distributed"
    " (r-robustness).",
    example="patients.parquet --quasi age,sex --sensitive disease -r 3 --background-from sex --out release",
    compile_sentence="Print a script that publishes QIT and ST on another engine; groups depend on the backgrounds'"
    " columns alone.",
    compile_example="patients --quasi age,sex --sensitive disease --id ssn -r 3 --background-from sex --dialect spark",
    saved="save_background",
    takes_sets=True,
    macros=MACROS,
    strength=Strength(parameter="r", promise="posterior at most 1/{value}, knowing {background}", rank=3, knows=True),
    followed=(group_arrivals, republication.show_persons),
    followed_outputs=(qit_st.publish,),
    followed_linked=republication.link_rows,
    lasting=("l", "r", "backgrounds"),
    recorded={
        "l": shapes.whole(2),
        "backgrounds": shapes.several(shapes.several(shapes.column("quasi"), 1), 1),
        "classes": shapes.word(*CLASSES),
        # of 0.2.0, whose rows could join groups of other classes, under the paper's condition, too
        "repair": shapes.whole(),
        "guarantee": shapes.word("exact", "delta"),
    },
)
