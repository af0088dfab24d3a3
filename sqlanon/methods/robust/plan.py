"""r-robust publishing (Wong et al., 2010): safe against an adversary who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

from collections.abc import Callable

from sqlanon.errors import DataError
from sqlanon.methods import republication
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.grouping import bind_draws, check_persons, identify_rows, select_rows
from sqlanon.methods.qit_st import publish_qit
from sqlanon.methods.robust import several_columns
from sqlanon.methods.robust.class_grouping import (
    ClassGrouping,
    check_backgrounds,
    check_suppressed,
    check_surplus,
    code_rows,
    count_classes,
    draw_coded,
    form_class_groups,
    look_ahead,
    number_classes,
    order_class_values,
    pack_rows,
    seat_coded,
)
from sqlanon.methods.robust.class_merging import code_merged_rows, count_merged_classes, merge_classes, repair_groups
from sqlanon.methods.robust.design import (
    CLASSES,
    NAME,
    Robustness,
    SeveralRobustness,
    design,
)
from sqlanon.methods.robust.macros import MACROS
from sqlanon.methods.robust.options import RobustOptions
from sqlanon.methods.several_columns.steps import link_rows, publish_st
from sqlanon.methods.uniqueness import check_quasi
from sqlanon.plans import json_schema
from sqlanon.plans.plan import Row, Step
from sqlanon.wording import option

# r-robust releases that follow each other: arrivals are grouped class by class, and who changes class leaves.
# A group of one signature has posterior 1/n for its members whatever the distributions are (Wong et al.
# 2010), and keeps it while its lines in ST stay. Whose signature changed cannot stay: the group would mix
# classes.
WAITING_CLASSES = (
    "{waiting:,} of {rows:,} rows ({share:.1%}) would wait for the next release, more than "
    + option("max_suppressed")
    + " {most:.1%}: under a ledger people alike wait together where not all of them find a group; allow more, choose a"
    " smaller r, or say " + option("waiting", "alone") + ", which lets fewer wait, and tells of these"
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
    if release.waiting == "alone":
        return ()
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


ONE_COLUMN: tuple[Callable[[Robustness], Steps], ...] = (
    select_rows,
    check_backgrounds,
    bind_draws,
    number_classes,
    merge_classes,
    count_classes,
    count_merged_classes,
    look_ahead,
    check_surplus,
    check_persons,
    check_quasi,
    identify_rows,
    pack_rows,
    order_class_values,
    code_rows,
    code_merged_rows,
    draw_coded,
    seat_coded,
    form_class_groups,
    repair_groups,
    check_suppressed,
)
# rows of one signature alone: no class is merged, and no row joins another
SEVERAL_COLUMNS: tuple[Callable[[SeveralRobustness], Steps], ...] = (
    select_rows,
    several_columns.check_missing,
    check_backgrounds,
    bind_draws,
    several_columns.number_classes,
    several_columns.count_classes,
    look_ahead,
    several_columns.check_surplus,
    check_persons,
    check_quasi,
    identify_rows,
    pack_rows,
    several_columns.order_class_values,
    several_columns.code_rows,
    several_columns.draw_coded,
    seat_coded,
    several_columns.form_class_groups,
    several_columns.check_suppressed,
)


def group_classes(design: Robustness) -> Steps:
    """Return the steps that end in `grouped`, for the columns that the design has."""
    if isinstance(design, SeveralRobustness):
        return tuple(step for part in SEVERAL_COLUMNS for step in part(design))
    return tuple(step for part in ONE_COLUMN for step in part(design))


ROBUST: Method[Robustness] = Method(
    name=NAME,
    paper="Wong, Fu, Wang, Xu, Pei and Yu, Probabilistic Inference Protection on Anonymized Data, ICDM 2010",
    form="class_qit_st",
    options=RobustOptions,
    design=design,
    steps=(group_classes,),
    outputs=(publish_qit, publish_st),
    linked=link_rows,
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
