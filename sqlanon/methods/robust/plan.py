"""r-robust publishing (Wong et al., 2010): safe against an adversary who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

from collections.abc import Callable

from sqlanon.methods import republication
from sqlanon.methods.base import Method, Steps
from sqlanon.methods.grouping import check_persons, identify_rows, select_rows
from sqlanon.methods.qit_st import publish_qit
from sqlanon.methods.robust import several_columns
from sqlanon.methods.robust.class_grouping import (
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
from sqlanon.methods.robust.class_merging import code_merged_rows, count_merged_classes, merge_classes
from sqlanon.methods.robust.design import (
    CLASSES,
    NAME,
    Robustness,
    SeveralRobustness,
    design,
)
from sqlanon.methods.robust.followed import check_first_surplus, gather_classes, make_room, match_class_members
from sqlanon.methods.robust.macros import MACROS
from sqlanon.methods.robust.options import RobustOptions
from sqlanon.methods.robust.repair import repair_groups
from sqlanon.methods.several_columns.steps import link_rows, publish_st
from sqlanon.methods.uniqueness import check_quasi
from sqlanon.plans import json_schema

ONE_COLUMN: tuple[Callable[[Robustness], Steps], ...] = (
    select_rows,
    check_backgrounds,
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
    several_columns.number_classes,
    several_columns.count_classes,
    look_ahead,
    several_columns.check_surplus,
    check_persons,
    check_quasi,
    identify_rows,
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
    paper="Wong, Fu, Wang, Xu, Pei and Yu, Anonymization against Background Knowledge of Distributions, 2010",
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
    followed=(
        *republication.BEGINNING,
        match_class_members,
        number_classes,
        count_classes,
        make_room,
        check_first_surplus,
        gather_classes,
        order_class_values,
        code_rows,
        draw_coded,
        seat_coded,
        form_class_groups,
        republication.settle_rows,
    ),
    followed_outputs=(republication.publish_qit, republication.publish_st),
    recorded={
        "l": json_schema.whole(2),
        "backgrounds": json_schema.several(json_schema.several(json_schema.column("quasi"), 1), 1),
        "classes": json_schema.word(*CLASSES),
    },
)
