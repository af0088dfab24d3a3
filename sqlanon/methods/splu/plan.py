"""SPLU-Gen (Fu, Wang, Wong, Wang and Jiang, 2014): small sums private, large sums useful.

Rows form decoy groups of gamma rows with gamma different sensitive values; every row publishes a value drawn
uniformly from its group's, its own included. The partition is not published. A value's published count is an
unbiased estimate of its count, far off for small counts, near for large ones. Every sensitive attribute is
randomized on its own.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, macro_steps, republication
from sqlanon.methods.base import Method, Steps, Strength
from sqlanon.methods.grouping import Blocks
from sqlanon.methods.splu import randomization
from sqlanon.methods.splu.binomial import ALPHA, EPSILON, LEAST_EPSILON, LEAST_TARGET_ERROR, MOST_SMALL, TARGET_ERROR
from sqlanon.methods.splu.randomization import (
    TOO_SMALL,
    Randomization,
    link_rows,
    publish_data,
    randomize,
)
from sqlanon.models import shapes
from sqlanon.models.fields import MOST, Option
from sqlanon.models.publication import Publication
from sqlanon.models.values import SHARE, WHOLE_PER_COLUMN
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request, Row
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message
from sqlanon.wording import option

# SPLU-Gen releases that follow each other: the value that a person publishes stays as long as the true value
# does. All releases together show of a person one draw from one decoy group, made when the person entered:
# more releases tell no more of it than one. Those who come new draw decoys among themselves, in groups of
# gamma rows; who finds no group waits: N mod gamma rows, drawn evenly. Where a value is more frequent than
# there are groups, everybody waits, or as many of it enter as there are groups (`waiting`). Nobody's value is
# inferred with confidence above 1/gamma. Given who is in which group and which values the group has, each row
# publishes any of these with the same probability, whoever has which of them; and of all who could have
# brought a group's values, each assignment is as likely, since rows of one value are dealt evenly. So what is
# published, who stays and who leaves (as long as values do not decide it) leave all gamma! assignments of a
# group as likely as before.
MUCH_DRIFT = 0.1  # of the values of those who come new
RESIDUE = "{count} rows beyond a multiple of gamma, drawn evenly, wait for others to draw decoys among"
WAITING = "{count} rows wait for others to draw decoys among, and try again next time"


def design(request: Request, **given: Any) -> Randomization:
    """Decide on the decoy groups; under a ledger, on those of the persons who come new."""
    answer, release = randomization.design(request, **given), request.following
    if release is None:
        return answer
    if len(request.roles.sensitive) > 1:
        raise UsageError(f"a ledger is for one sensitive column, and {option('sensitive')} names several; name one")
    if answer.lists:
        raise UsageError(
            f"under a ledger no values are listed: one that a later list lacks would be the value of somebody who left;"
            f" leave {option('values', 'list')} away"
        )
    if not answer.drops:
        raise UsageError(
            f"under a ledger rows beyond a multiple of gamma wait for the next release: leave"
            f" {option('residue', 'keep')} away"
        )
    attribute = republication.add_ledger_columns(answer.attribute, release)
    if not release.is_first:  # by which rows of later releases wait
        attribute = replace(attribute, draws=(*attribute.draws, "wait_draw"))
    return replace(answer, attribute=attribute, attributes=(attribute,))


def randomize_arrivals(design: Randomization) -> Steps:
    """Return the chapters that end in `grouped`, decoy groups of those who come new."""
    release, attribute = republication.following(design), design.attribute
    if release.is_first:
        # a first release finds a decoy group for everybody but the residue, or says what would
        fitted: Steps = (*randomization.check_values(design), grouping.shuffle(design))
    else:
        fitted = (
            *republication.call_arrivals(design),
            grouping.tally(),
            grouping.count_values(design),
            grouping.shuffle(design),
            Chapter("splu/fitted", notes={"drift": _describe_drift}),
        )
    return (
        *fitted,
        Chapter("splu/residue", {"size": attribute.size, "drops": False}),
        grouping.tally(),
        grouping.count_values(design),
        grouping.group(design, slots=True),
    )


def _describe_drift(row: Row) -> str:
    """Say that those who come new have other values: recipients take all entries for one."""
    rows, distance = int(row["arrived_rows"]), float(row["distance"])
    # what as many people drawn from those of before would differ by on average is at most half of this
    if not rows or distance < MUCH_DRIFT + math.sqrt(row["value_count"] / rows):
        return ""
    return (
        f"those who come new have other values than those of before ({distance:.0%} of theirs would have to be others):"
        " what is asked of people by when they came is answered far off, and its intervals do not hold"
    )


def show_persons(design: Randomization) -> Steps:
    """Return the chapter that ends in `shown_person`, who is shown with which value, and the new ledger."""
    is_first = republication.following(design).is_first
    return republication.show_persons(design, RESIDUE if is_first else WAITING, randomized=True)


NAME = "splu"
_THRESHOLDS = (
    f"{option('epsilon')} lies from {LEAST_EPSILON:g} to below 1, {option('target_error')} from {LEAST_TARGET_ERROR:g}"
    f" to below 1, and {option('alpha')} is a whole number from 1 to {MOST_SMALL}"
)


class SpluOptions(Publication):
    """What `splu` takes."""

    gamma: Annotated[int | Mapping[str, int], WHOLE_PER_COLUMN] = Field(
        description="Rows of a decoy group: one number for all, or COLUMN=NUMBER; commas, repeatable."
    )
    residue: Literal["drop", "keep"] | None = Field(
        None, description="Rows beyond a multiple of gamma: drop them (one gamma's default) or keep them."
    )
    epsilon: Annotated[float, SHARE, Option(words=_THRESHOLDS, compiled=False)] = Field(
        EPSILON, description="Relative error that the printed guarantee is about.", ge=LEAST_EPSILON, lt=1
    )
    alpha: Annotated[int, Option(words=_THRESHOLDS, compiled=False)] = Field(
        ALPHA, description="Largest count that the guarantee calls small.", ge=1, le=MOST_SMALL
    )
    target_error: Annotated[float, SHARE, Option(words=_THRESHOLDS, compiled=False)] = Field(
        TARGET_ERROR, description="Probability that defines the least useful count.", ge=LEAST_TARGET_ERROR, lt=1
    )
    values: Literal["hide", "list"] = Field(
        "hide", description="Values that by chance nobody publishes: hide them, or list all values beside the rows."
    )
    block: Blocks


_SMALL = (
    Sql("coalesce(gamma < 2 or gamma <> floor(gamma), true)"),
    write_message(
        TOO_SMALL,
        {"gamma": "coalesce(cast(gamma as varchar), 'NULL')", "column": macro_steps.column()},
    ),
)

MACROS = (
    Macro(
        "splu_release",
        (macro_steps.TABLE, macro_steps.SENSITIVE, "gamma", *macro_steps.OPTIONS, macro_steps.DRAWS),
        "every row, the columns in id left out, the sensitive value drawn from its decoy group",
        "select age, sex, disease from splu_release('patients', 'disease', 5, id := ['ssn'])",
        (
            *macro_steps.groups(NAME, "gamma", [_SMALL], draws=True, slots=True),
            Chapter(
                "macros/randomized",
                {macro_steps.SENSITIVE: Sql(macro_steps.SENSITIVE), "identifier_names": Sql("cast(id as varchar[])")},
            ),
        ),
    ),
)

SPLU: Method[Randomization] = Method(
    name=NAME,
    paper=(
        "Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing,"
        " J. Biomedical Informatics 2014"
    ),
    form="randomized",
    options=SpluOptions,
    design=design,
    steps=(randomize,),
    outputs=(publish_data,),
    linked=link_rows,
    sentence="Publish rows whose sensitive values are drawn from decoy groups (SPLU-Gen).",
    example="patients.parquet --quasi age --sensitive disease --gamma 10 --out release",
    compile_sentence="Print a script that publishes randomized rows on another engine (no database is needed).",
    compile_example="patients --quasi age --sensitive disease --id ssn --gamma 5 --dialect spark",
    macros=MACROS,
    strength=Strength(
        parameter="gamma", takes="gamma", promise="1/{value} of rows keep their value", rank=1, chance=True
    ),
    followed=(
        republication.match_persons,
        randomize_arrivals,
        show_persons,
    ),
    followed_outputs=(publish_data,),
    lasting=("gamma",),
    recorded={
        "gamma": shapes.by_column("sensitive", shapes.whole(2, MOST)),
        "residue": shapes.word("drop", "keep"),
        "departed": shapes.whole(),
        "values": shapes.word("list"),
    },
)
