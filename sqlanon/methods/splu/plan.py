"""SPLU-Gen (Fu, Wang, Wong, Wang and Jiang, 2014): small sums private, large sums useful.

Rows form decoy groups of gamma rows with gamma different sensitive values; every row publishes a value drawn
uniformly from its group's, its own included. The partition is not published. A value's published count is an
unbiased estimate of its count, far off for small counts, near for large ones. Every sensitive attribute is
randomized on its own.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Required

from sqlanon.methods import macro_steps, republication
from sqlanon.methods.base import Method
from sqlanon.methods.grouping import BLOCK, Blocks, check_persons, identify_rows, pack_rows, select_rows
from sqlanon.methods.kinds import Choice, Number, Whole
from sqlanon.methods.named_kinds import WholePerColumn
from sqlanon.methods.parameters import MOST, Parameter, Range
from sqlanon.methods.request_options import SEVERAL_SENSITIVE, Names, RequestOptions
from sqlanon.methods.splu.binomial import ALPHA, EPSILON, MOST_SMALL, TARGET_ERROR
from sqlanon.methods.splu.followed import design, publish_settled, randomize_arrivals, settle_rows
from sqlanon.methods.splu.large_counts import LEAST_EPSILON, LEAST_TARGET_ERROR
from sqlanon.methods.splu.randomization import (
    TOO_SMALL,
    Randomization,
    check_all_values,
    link_rows,
    publish_data,
    randomize,
)
from sqlanon.methods.uniqueness import check_quasi
from sqlanon.plans import json_schema
from sqlanon.plans.plan import Step
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.wording import option

NAME = "splu"
_THRESHOLDS = (
    f"{option('epsilon')} lies from {LEAST_EPSILON:g} to below 1, {option('target_error')} from {LEAST_TARGET_ERROR:g}"
    f" to below 1, and {option('alpha')} is a whole number from 1 to {MOST_SMALL}"
)


class SpluOptions(RequestOptions, total=False):
    """What `splu` takes."""

    sensitive: Required[Annotated[Names, SEVERAL_SENSITIVE]]
    gamma: Required[
        Annotated[
            int | Mapping[str, int],
            Parameter(
                WholePerColumn(),
                "Rows of a decoy group: one number for all, or COLUMN=NUMBER; commas, repeatable.",
            ),
        ]
    ]
    residue: Annotated[
        Literal["drop", "keep"] | None,
        Parameter(
            Choice(("drop", "keep"), optional=True),
            "Rows beyond a multiple of gamma: drop them (one gamma's default) or keep them.",
            None,
        ),
    ]
    epsilon: Annotated[
        float,
        Parameter(
            Number(),
            "Relative error that the printed guarantee is about.",
            EPSILON,
            within=Range(_THRESHOLDS, least=LEAST_EPSILON, below=1),
            compiled=False,
        ),
    ]
    alpha: Annotated[
        int,
        Parameter(
            Whole(),
            "Largest count that the guarantee calls small.",
            ALPHA,
            within=Range(_THRESHOLDS, least=1, most=MOST_SMALL),
            compiled=False,
        ),
    ]
    target_error: Annotated[
        float,
        Parameter(
            Number(),
            "Probability that defines the least useful count.",
            TARGET_ERROR,
            within=Range(_THRESHOLDS, least=LEAST_TARGET_ERROR, below=1),
            compiled=False,
        ),
    ]
    block: Annotated[Blocks, BLOCK]


_SMALL = (
    Sql("coalesce(gamma < 2 or gamma <> floor(gamma), true)"),
    write_message(
        TOO_SMALL,
        {"gamma": "coalesce(cast(gamma as varchar), 'NULL')", "column": macro_steps.column_fields()["column"]},
    ),
)

MACROS = (
    Macro(
        "splu_release",
        (
            macro_steps.TABLE,
            macro_steps.SENSITIVE,
            "gamma",
            macro_steps.IDENTIFIER,
            macro_steps.NULLS,
            macro_steps.BLOCK,
            macro_steps.DRAWS,
        ),
        "every row, the columns in id left out, the sensitive value drawn from its decoy group",
        "select age, sex, disease from splu_release('patients', 'disease', 5, id := ['ssn'])",
        (*macro_steps.GROUPING[:-1], Step("methods/splu/decoy_group"), Step("methods/macro_steps/randomized")),
        macro_steps.grouping_values(NAME, "gamma", True, [_SMALL])
        | {
            "draws": ["draw", "slot_draw", "tie"],
            "carried": ["quasi_1", "slot_draw"],
            "identifier_names": Sql("cast(id as varchar[])"),
        },
    ),
)

SPLU: Method[Randomization] = Method(
    name=NAME,
    paper="Fu, Wang, Wong, Wang and Jiang, SPLU-Gen: small sum privacy and large sum utility, 2014",
    form="randomized",
    options=SpluOptions,
    design=design,
    steps=(select_rows, check_all_values, check_persons, check_quasi, identify_rows, pack_rows, randomize),
    outputs=(publish_data,),
    linked=link_rows,
    sentence="Publish rows whose sensitive values are drawn from decoy groups (SPLU-Gen).",
    example="patients.parquet --quasi age --sensitive disease --gamma 10 --out release",
    compile_sentence="Print a script that publishes randomized rows on another engine (no database is needed).",
    compile_example="patients --quasi age --sensitive disease --id ssn --gamma 5 --dialect spark",
    macros=MACROS,
    plans_promises="gamma",
    followed=(
        *republication.BEGINNING,
        republication.match_persons,
        randomize_arrivals,
        settle_rows,
    ),
    followed_outputs=(publish_settled,),
    recorded={
        "gamma": json_schema.by_column("sensitive", json_schema.whole(2, MOST)),
        "residue": json_schema.word("drop", "keep"),
        "departed": json_schema.whole(),
    },
)
