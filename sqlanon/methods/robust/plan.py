"""r-robust publishing (Wong et al., 2010): safe against an adversary who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

import os
from collections.abc import Sequence
from typing import Annotated, Literal, Required

from sqlanon.methods import republication
from sqlanon.methods.base import Method
from sqlanon.methods.grouping import BLOCK, Blocks, check_persons, identify_rows, select_rows
from sqlanon.methods.kinds import Choice, Number, Share, Whole
from sqlanon.methods.named_kinds import ColumnSets, Files, Tables
from sqlanon.methods.parameters import Parameter, Range
from sqlanon.methods.qit_st import publish_qit
from sqlanon.methods.request_options import SEVERAL_SENSITIVE, Names, RequestOptions
from sqlanon.methods.robust.class_grouping import check_backgrounds, look_ahead, seat_coded
from sqlanon.methods.robust.class_merging import code_merged_rows, count_merged_classes, merge_classes
from sqlanon.methods.robust.design import GUARANTEES, MOST_SUPPRESSED, MOST_TURNS, NAME, Robustness, design
from sqlanon.methods.robust.followed import check_first_surplus, make_room, match_class_members
from sqlanon.methods.robust.macros import MACROS
from sqlanon.methods.robust.repair import repair_groups
from sqlanon.methods.robust.several_columns import (
    check_missing,
    check_suppressed,
    check_surplus,
    code_rows,
    count_classes,
    draw_coded,
    form_class_groups,
    number_classes,
    order_class_values,
)
from sqlanon.methods.several_columns import publish_st
from sqlanon.methods.uniqueness import check_quasi

LARGEST_R = 2**31


class RobustOptions(RequestOptions, total=False):
    """What `robust` takes."""

    sensitive: Required[Annotated[Names, SEVERAL_SENSITIVE]]
    r: Required[
        Annotated[
            float,
            Parameter(
                Number(),
                "No posterior above 1/r, for an adversary who knows the backgrounds; r > 1.",
                flag="-r",
                within=Range(
                    "r = {value:g} protects nobody: a posterior of at most 1/r is none; r is a number above 1",
                    above=1,
                    below=LARGEST_R,
                    beyond="r = {value:g} is more than any table has rows",
                ),
            ),
        ]
    ]
    background: Annotated[
        object | Sequence[object],
        Parameter(
            Tables(),
            "What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
            " repeatable.",
            (),
        ),
    ]
    background_from: Annotated[
        Names | Sequence[Names],
        Parameter(ColumnSets(), "Quasi columns whose distribution is learned from the data; repeatable.", ()),
    ]
    save_background: Annotated[
        str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        Parameter(
            Files(),
            "File (.parquet, .csv) for a learned distribution, one each; it tells of small groups: keep it secret.",
            (),
            compiled=False,
            job=False,
        ),
    ]
    guarantee: Annotated[
        Literal["exact", "delta"],
        Parameter(
            Choice(GUARANTEES),
            "exact: posteriors. delta: the paper's condition, which does not prove them.",
            "exact",
            compiled=False,
        ),
    ]
    max_suppressed: Annotated[
        float,
        Parameter(
            Share(),
            "Share of the rows that may be left out, e.g. 0.01 or 1%.",
            MOST_SUPPRESSED,
            within=Range(
                "{option} {value:g} is no share of the rows; give a number from 0 to below 1", least=0, below=1
            ),
        ),
    ]
    repair: Annotated[
        int,
        Parameter(
            Whole(),
            "Other classes that each row left over may ask for a group (turns). Such rows carry frequent values"
            " of their class, and their groups show them.",
            0,
            within=Range(
                f"{{option}} {{value}} is no number of turns; give a whole number from 0 to {MOST_TURNS}",
                least=0,
                most=MOST_TURNS,
            ),
            compiled=False,
        ),
    ]
    block: Annotated[Blocks, BLOCK]


ROBUST: Method[Robustness] = Method(
    name=NAME,
    paper="Wong, Fu, Wang, Xu, Pei and Yu, Anonymization against Background Knowledge of Distributions, 2010",
    form="class_qit_st",
    options=RobustOptions,
    design=design,
    steps=(
        select_rows,
        check_missing,
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
        order_class_values,
        code_rows,
        code_merged_rows,
        draw_coded,
        seat_coded,
        form_class_groups,
        repair_groups,
        check_suppressed,
    ),
    outputs=(publish_qit, publish_st),
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
        order_class_values,
        code_rows,
        draw_coded,
        seat_coded,
        form_class_groups,
        republication.settle_rows,
    ),
    followed_outputs=(republication.publish_qit, republication.publish_st),
)
