"""r-robust publishing (Wong et al., 2010): safe against an adversary who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

from collections.abc import Callable

from sqlanon.errors import DataError
from sqlanon.methods import grouping, qit_st, republication
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.qit_st import publish_qit
from sqlanon.methods.robust import background, several_columns
from sqlanon.methods.robust.class_grouping import (
    ClassGrouping,
    check_surplus,
    code_rows,
    count_classes,
    draw_coded,
    form_class_groups,
    look_ahead,
    number_classes,
    order_class_values,
    seat_coded,
)
from sqlanon.methods.robust.design import (
    CLASSES,
    NAME,
    Robustness,
    SeveralRobustness,
    design,
)
from sqlanon.methods.robust.macros import MACROS
from sqlanon.methods.robust.options import RobustOptions
from sqlanon.methods.robust.suppression import MILLION
from sqlanon.methods.several_columns.coding import link_rows, publish_st
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans import json_schema
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Repeat, Row, Step
from sqlanon.wording import option

# r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.
# A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al.
# 2010), and keeps it while its lines in ST stay. Whose signature changed cannot stay: the group would mix
# classes.
WAITING_CLASSES = (
    "{waiting:,} of {rows:,} rows ({share:.1%}) would wait for the next release, more than "
    + option("max_suppressed")
    + " {most:.1%}: under a ledger people alike wait together where not all of them find a group; allow more, or choose"
    " a smaller r"
)


def match_class_members(design: ClassGrouping) -> Steps:
    """Return the steps that match persons, and let the steps of classes read those who come new."""
    return (
        *republication.match_members(design, design.signature),
        *(
            Step("methods/grouping/everyone", "view", yields=name, suffix="_arrived", reads={"source": "arrived"})
            for name in ("population", "identified")
        ),
    )


def gather_classes(design: ClassGrouping) -> Steps:
    """Return the steps that let those of a class who come new find groups all together, or wait together."""
    release = republication.following(design)
    values = {"class_names": design.signature}
    gated = Step("methods/republication/capacity", yields="capacity", suffix="_of_wave", values=values)
    refuse = _refuse_waiting(design) if release.is_first else None
    return (*republication.gather(design, design.signature, refuse), gated)


def _refuse_waiting(design: ClassGrouping) -> Callable[[Row], None]:
    """Return what raises DataError where a first release lets more rows wait than it may leave over."""

    def refuse(row: Row) -> None:
        waiting, rows = row["waiting_rows"], row["gathered_rows"]
        if waiting > design.most_suppressed * rows:
            raise DataError(
                WAITING_CLASSES.format(waiting=waiting, rows=rows, share=waiting / rows, most=design.most_suppressed),
                about=["max_suppressed"],
            )

    return refuse


def check_first_surplus(design: ClassGrouping) -> Steps:
    """Return the steps that refuse a first release that leaves too many rows over; later ones let rows wait."""
    release = republication.following(design)
    if not release.is_first:
        return ()
    return (*look_ahead(design), *check_surplus(design))


MOST_CUTS = 20  # levels of the tree of classes; classes whose leaf still differs then are parts by themselves


def group_by_class(design: ClassGrouping) -> Steps:
    """Return the chapters that end in `grouped`: classes, their groups, and who is left over."""
    request, signature, size = design.request, design.signature, design.attribute.size
    purpose, knowledge = design.attribute.purpose, list(enumerate(design.backgrounds, start=1))
    backgrounds: list[dict[str, object]] = [
        {"number": number, "columns": known.columns, "names": background.names_of(known), "relation": known.relation}
        for number, known in knowledge
    ]
    tables = [known for known in backgrounds if known["relation"] is not None]
    chapters: list[Step | Repeat | Chapter] = [grouping.population(request)]
    if tables or design.turns:
        chapters.append(grouping.tally())
        chapters += (background.chapter(known, number, request.show_values) for number, known in knowledge)
    signed = {"signature": signature, "size": size}
    chapters += [
        *grouping.bind(design),
        grouping.tally(signature),
        grouping.refuse_missing(design),
        Chapter("robust/classes", {**signed, "purpose": purpose, "spelled": None}),
    ]
    if tables:
        taught = {column for _, known in knowledge if known.relation is None for column in known.columns}
        values = {
            **signed,
            "tables": tables,
            "apart": tuple(name for name in signature if name in taught),
            "guarantee": design.promised,
            "r": design.r,
            "nulls_are_values": request.nulls == "value",
            "divisors": tuple(2**level for level in range(MOST_CUTS + 1)),
            # a repair takes classes of equal rows alone
            "joins": not design.turns,
        }
        chapters.append(Chapter("robust/merging", values))
    several = any(known.relation is None and len(known.columns) > 1 for _, known in knowledge)
    limits: dict[str, object] = {
        "r": f"{design.r:g}",
        "size": size,
        "shown_column": repr(design.attribute.column),
        "most": f"{100 * design.most_suppressed:.4g}",
        # whole millionths, so that every engine compares the same integers
        "most_millionths": round(design.most_suppressed * MILLION),
        "merges": bool(tables),
        "taught": several,
        "early": design.early,
    }
    chapters += [grouping.count_values(design, signature), Chapter("robust/surplus", limits | {"signature": signature})]
    steps: Steps = (
        *chapters,
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.identify(design, signature),
        grouping.shuffle(design, signature),
        grouping.group(design, signature),
    )
    if design.turns:
        priors = [
            {**known, "name": f"prior_{known['number']}{kept}"}
            for known in backgrounds
            for kept in (("", "_kept") if known["relation"] is not None else ("",))
        ]
        values = {
            "backgrounds": backgrounds,
            "priors": priors,
            "signature": signature,
            "payload": design.attribute.payload,
            "guarantee": design.promised,
            "r": design.r,
            "turns": design.turns,
        }
        steps += (Chapter("robust/repair", values),)
    return (*steps, Chapter("robust/suppressed", limits))


def group_several(design: SeveralRobustness) -> Steps:
    """Return the steps that end in `grouped`, class by class: no class is merged, and no row joins another."""
    return (
        grouping.population(design.request),
        *several_columns.check_missing(design),
        *grouping.bind(design),
        *several_columns.number_classes(design),
        *several_columns.count_classes(design),
        *look_ahead(design),
        *several_columns.check_surplus(design),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.identify(design, design.signature),
        *several_columns.group_classes(design),
        *several_columns.check_suppressed(design),
    )


def group_classes(design: Robustness) -> Steps:
    """Return the steps that end in `grouped`, for the columns that the design has."""
    if isinstance(design, SeveralRobustness):
        return group_several(design)
    return group_by_class(design)


def publish(design: Robustness) -> Steps:
    """Return the published tables."""
    if isinstance(design, SeveralRobustness):
        return (*publish_qit(design), *publish_st(design))
    return qit_st.publish(design)


def link(design: Robustness) -> Steps:
    """Return the rows that the run knows to the end."""
    return link_rows(design) if isinstance(design, SeveralRobustness) else qit_st.link(design)


ROBUST: Method[Robustness] = Method(
    name=NAME,
    paper="Wong, Fu, Wang, Xu, Pei and Yu, Probabilistic Inference Protection on Anonymized Data, ICDM 2010",
    form="class_qit_st",
    options=RobustOptions,
    design=design,
    steps=(group_classes,),
    outputs=(publish,),
    linked=link,
    sentence="Publish QIT and ST against an adversary who knows how the sensitive values are distributed"
    " (r-robustness).",
    example="patients.parquet --quasi age,sex --sensitive disease -r 3 --background-from sex --out release",
    compile_sentence="Print a script that publishes QIT and ST on another engine; groups depend on the backgrounds'"
    " columns alone.",
    compile_example="patients --quasi age,sex --sensitive disease --id ssn -r 3 --background-from sex --dialect spark",
    saved="save_background",
    macros=MACROS,
    strength=Strength(parameter="r", promise="posterior at most 1/{value}, knowing {background}", rank=3, knows=True),
    followed=(
        *republication.BEGINNING,
        match_class_members,
        number_classes,
        count_classes,
        check_first_surplus,
        gather_classes,
        order_class_values,
        code_rows,
        draw_coded,
        seat_coded,
        form_class_groups,
        republication.show_persons,
    ),
    followed_outputs=(republication.publish_qit, republication.publish_st),
    followed_linked=republication.link_rows,
    lasting=("l", "r", "guarantee", "backgrounds"),
    recorded={
        "l": json_schema.whole(2),
        "backgrounds": json_schema.several(json_schema.several(json_schema.column("quasi"), 1), 1),
        "classes": json_schema.word(*CLASSES),
    },
)
