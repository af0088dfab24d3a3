"""Classes of several signatures, whose distributions are equal or so similar that their groups stay below 1/r.

A table of the adversary's knowledge may say the same of many signatures: these share their groups, and every posterior
is 1/n. The other signatures are split by a binary tree, each time by the value in which their distributions differ
most. Then, from the leaves upwards, a node becomes one class if its groups keep more rows than those of its parts. Its
groups are as large as the sound swap bound requires (or the paper's condition, with `guarantee` delta). All rows of a
class are treated alike: nobody stands out as the row that found no other group.

Classes whose distributions were learned from the data itself are not merged: small classes have equal distributions
only by chance, and the recipient would lose the proof that groups have one signature.

The templates are `sql_templates/methods/robust/class_merging/`.
"""

from collections.abc import Sequence

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import quasi_names
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.methods.robust.class_grouping import ClassGrouping, coding
from sqlanon.plans.plan import Repeat, Step, count_left_over

# Repair of a class-first grouping: rows that are left over join groups of other classes, a turn for each
# class asked. A row of class d joins n rows of class c only where no posterior rises above 1/r (or where the
# paper's condition holds), in every background by itself, and where the group lacks its value. One row a
# group. The templates are `sql_templates/methods/robust/class_merging/`.
# by what is promised: each posterior as it is, or the paper's condition
ACCEPTED = {
    "exact": "methods/robust/class_merging/accepted_exact",
    "delta": "methods/robust/class_merging/accepted_delta",
}
NEEDED = {"exact": "methods/robust/class_merging/needed_exact", "delta": "methods/robust/class_merging/needed_delta"}


def repair_groups(design: ClassGrouping) -> Steps:
    """Return the steps from `grouped` to a `grouped` that holds more rows, after at most `turns` turns."""
    if not design.turns:
        return ()
    request, r, guarantee, turns = design.request, design.r, design.promised, design.turns
    payload = {"payload": quasi_names(request)}
    # each background counts by itself: an offer has to be good under every one
    priors, prior_steps = _priors(design)
    values: dict[str, object] = {"priors": priors}
    return (
        Step("methods/robust/class_merging/waiting", values=payload),
        *prior_steps,
        Step("methods/robust/class_merging/neighbour", values=values),
        Step("methods/robust/class_merging/host"),
        Repeat(
            "repair",
            "waiting",
            (
                Step("methods/robust/class_merging/offered"),
                Step("methods/robust/class_merging/merged", values=values),
                Step(ACCEPTED[guarantee], yields="accepted", values={**values, "r": r}),
                Step("methods/robust/class_merging/placed", values=payload),
            ),
            Step("methods/robust/class_merging/left_over", "query"),
            turns,
        ),
        Step("methods/robust/class_merging/repaired", yields="grouped", suffix="_repaired", values=payload),
    )


def _priors(design: ClassGrouping) -> tuple[list[str], list[Step]]:
    """Return names of priors, and the steps that put them beside every class and value: a column for each.

    A table may leave values out, which share the rest by their counts: by the data's, as the publisher counts, and by
    the release's, as a recipient does. An offer is good under both.
    """
    signature, backgrounds, tables = design.signature, design.backgrounds, design.merges
    steps = [] if tables else [Step("methods/grouping/tally", values={"sensitive_column": "sensitive"})]
    steps += [Step("methods/robust/class_merging/kept_tally")] if tables else []
    # the signatures of a class are alike: any of them says what the class is known to have
    one_each = {"class": "merged_sample"} if tables else {}
    steps += [Step("methods/robust/class_merging/class_value", values={"signature": signature}, reads=one_each)]
    names: list[str] = []
    for number, knowledge in enumerate(backgrounds, start=1):
        suffix = f"_{number}"
        if knowledge.relation is None:  # tables were read before, to compare the classes
            steps += (*background.steps(knowledge, suffix), background.prior(knowledge, suffix))
        steps.append(_beside(signature, knowledge, suffix, names))
        if knowledge.relation is not None:
            kept_suffix = f"{suffix}_kept"
            reads = {"background": f"background{suffix}", "signature": f"signature{suffix}", "tally": "kept_tally"}
            values = {"attributes": knowledge.columns}
            steps.append(Step("methods/robust/background/remainder", suffix=kept_suffix, values=values, reads=reads))
            reads |= {"remainder": f"remainder{kept_suffix}"}
            steps.append(Step("methods/robust/background/prior", suffix=kept_suffix, values=values, reads=reads))
            steps.append(_beside(signature, knowledge, kept_suffix, names))
    return names, steps


def _beside(signature: Sequence[str], knowledge: Background, suffix: str, names: list[str]) -> Step:
    """Return the step that adds one prior to those of `names`, and its name to them."""
    values = {
        "signature": signature,
        "earlier_priors": tuple(names),
        "attributes": knowledge.columns,
        "prior_name": f"prior{suffix}",
    }
    before = {"class_value": f"class_prior{names[-1].removeprefix('prior')}"} if names else {}
    names.append(f"prior{suffix}")
    return Step(
        "methods/robust/class_merging/class_prior",
        suffix=suffix,
        values=values,
        reads={"prior": f"prior{suffix}", **before},
    )


MOST_CUTS = 20  # levels of the tree; classes whose leaf still differs then are parts by themselves


def merge_classes(design: ClassGrouping) -> Steps:
    """Return the steps from `class`, a class for each signature, to a `class` of signatures that share groups."""
    if not design.merges:
        return ()
    signed, size = design.signed, design.size
    nulls = {"nulls_are_values": design.request.nulls == "value"}
    taught = {column for knowledge in design.backgrounds if knowledge.relation is None for column in knowledge.columns}
    return (
        *_compare_classes(design),
        Step(
            "methods/robust/class_merging/separable_class",
            values={"apart": tuple(name for name in design.signature if name in taught)},
        ),
        Step("methods/robust/class_merging/alike"),
        Step("methods/robust/class_merging/class_tally", values={**signed, **nulls}),
        *_cut(),
        *_judge(design),
        *_join(design),
        Step("methods/robust/class_merging/merged_class", yields="class", suffix="_merged", values={**signed, **size}),
        Step("methods/robust/class_merging/merged_sample", values=signed),
    )


def count_merged_classes(design: ClassGrouping) -> Steps:
    """Return the steps that count the values of classes of several signatures, and how many groups each class gives."""
    if not design.merges:
        return ()
    nulls = {"nulls_are_values": design.request.nulls == "value"}
    valued = {**design.signed, **nulls, "value_purpose": f"{design.attribute.purpose}/value/"}
    return (
        Step("methods/robust/class_merging/merged_ranked", yields="ranked", values=valued),
        Step("methods/robust/class_merging/merged_capacity", yields="capacity", values=design.size),
        Step("methods/robust/class_merging/merged_kept", yields="kept", values=design.size),
    )


def code_merged_rows(design: ClassGrouping) -> Steps:
    """Return the step that gives rows the code of their class and value, where a class has several signatures."""
    if not design.merges:
        return ()
    values, reads = coding(design)
    return (Step("methods/robust/class_merging/class_codes", "view", yields="coded", values=values, reads=reads),)


def _compare_classes(design: ClassGrouping) -> list[Step]:
    """Return the steps that end in `dimension`: what every table says of every class."""
    steps: list[Step] = []
    tables = [
        (number, knowledge)
        for number, knowledge in enumerate(design.backgrounds, start=1)
        if knowledge.relation is not None
    ]
    for number, knowledge in tables:
        steps += _compare_by(knowledge, number, design.promised)
    earlier = f"dimension_{tables[0][0]}"
    for number, _ in tables[1:]:
        reads = {"earlier": earlier, "dimension": f"dimension_{number}"}
        earlier = f"dimension_to_{number}"
        steps.append(
            Step("methods/robust/class_merging/dimensions", yields="dimension", suffix=f"_to_{number}", reads=reads)
        )
    return steps


def _compare_by(knowledge: Background, number: int, promised: str) -> list[Step]:
    suffix, values = f"_{number}", {"attributes": knowledge.columns}
    steps = [background.prior(knowledge, suffix)]
    prior = f"prior{suffix}"
    # the paper's condition is about the priors themselves; posteriors depend on no factor of a row's priors
    if promised == "exact":
        steps.append(
            Step("methods/robust/class_merging/normal_prior", suffix=suffix, values=values, reads={"prior": prior})
        )
        prior = f"normal_prior{suffix}"
    reads = {"prior": prior, "background": f"background{suffix}"}
    return [
        *steps,
        Step("methods/robust/class_merging/dimension", suffix=suffix, values={**values, "number": number}, reads=reads),
    ]


def _cut() -> Sequence[Step | Repeat]:
    """Return the steps that cut the tree of classes, until the distributions of each node are equal."""
    cut = (Step("methods/robust/class_merging/widest"), Step("methods/robust/class_merging/branched"))
    rest = count_left_over("branch", "is_final = 0")
    return Step("methods/robust/class_merging/branch"), Repeat("cutting", "branch", cut, rest, MOST_CUTS)


def _judge(design: ClassGrouping) -> Sequence[Step]:
    """Return the steps that count, for every node and every r, the rows that groups of the size it needs keep."""
    return (
        Step(
            "methods/robust/class_merging/halving",
            values={"divisors": tuple(2**level for level in range(MOST_CUTS + 1))},
        ),
        Step("methods/robust/class_merging/ancestor"),
        Step("methods/robust/class_merging/reach"),
        Step("methods/robust/class_merging/looked_at", values={**design.size, "r": design.r}),
        Step(NEEDED[design.promised], yields="needed"),
        Step("methods/robust/class_merging/falling"),
        Step("methods/robust/class_merging/judged"),
    )


def _join(design: ClassGrouping) -> Sequence[Step | Repeat]:
    """Return the steps that join parts, a level of the tree each turn; repair takes classes of equal rows alone."""
    parts = Step("methods/robust/class_merging/parted")
    if design.turns:
        return (parts,)
    rest = count_left_over("parted", "level >= 0", "unclimbed")
    return parts, Repeat("joining", "parted", (Step("methods/robust/class_merging/climbed"),), rest, MOST_CUTS + 1)
