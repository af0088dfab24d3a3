"""Classes of several signatures: those whose distributions are equal, or so near that groups of both stay below 1/r.

Where a table says what the adversary knows, it may say the same of many signatures: these share their groups, whose
posteriors are 1/n. A binary tree parts the others by the value in which their distributions differ most. Then, from the
leaves upwards, a node is one class where its groups keep more rows than those of its parts do. Its groups are as large
as the sound swap bound asks (or the paper's condition, with `guarantee` delta). All rows of a class are treated alike:
nobody stands out as the row that found no other group.

What the data itself teaches is not merged: distributions of small classes are equal by chance only, and the recipient
would lose the proof that groups of one signature are.

The templates are `sql_templates/methods/robust/class_merging/`.
"""

from collections.abc import Sequence

from sqlanon.methods.base import Steps
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.methods.robust.class_grouping import ClassGrouping, coding
from sqlanon.plans.plan import Repeat, Step

FOLDER = "methods/robust/class_merging"
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
        Step(f"{FOLDER}/kind", values={"apart": tuple(name for name in design.signature if name in taught)}),
        Step(f"{FOLDER}/alike"),
        Step(f"{FOLDER}/class_tally", values={**signed, **nulls}),
        *_cut(),
        *_judge(design),
        *_join(design),
        Step(f"{FOLDER}/merged_class", yields="class", suffix="_merged", values={**signed, **size}),
        Step(f"{FOLDER}/merged_sample", values=signed),
    )


def count_merged_classes(design: ClassGrouping) -> Steps:
    """Return the steps that count the values of classes of several signatures, and how many groups each class gives."""
    if not design.merges:
        return ()
    nulls = {"nulls_are_values": design.request.nulls == "value"}
    valued = {**design.signed, **nulls, "value_purpose": f"{design.attribute.purpose}/value/"}
    return (
        Step(f"{FOLDER}/merged_ranked", yields="ranked", values=valued),
        Step(f"{FOLDER}/merged_capacity", yields="capacity", values=design.size),
        Step(f"{FOLDER}/merged_kept", yields="kept", values=design.size),
    )


def code_merged_rows(design: ClassGrouping) -> Steps:
    """Return the step that gives rows the code of their class and value, where a class has several signatures."""
    if not design.merges:
        return ()
    values, reads = coding(design)
    return (Step(f"{FOLDER}/merged_coded", "view", yields="coded", values=values, reads=reads),)


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
        steps.append(Step(f"{FOLDER}/dimensions", yields="dimension", suffix=f"_to_{number}", reads=reads))
    return steps


def _compare_by(knowledge: Background, number: int, promised: str) -> list[Step]:
    suffix, values = f"_{number}", {"attributes": knowledge.columns}
    steps = [background.prior(knowledge, suffix)]
    prior = f"prior{suffix}"
    # the paper's condition is about the priors themselves; posteriors depend on no factor of a row's priors
    if promised == "exact":
        steps.append(Step(f"{FOLDER}/normal_prior", suffix=suffix, values=values, reads={"prior": prior}))
        prior = f"normal_prior{suffix}"
    reads = {"prior": prior, "background": f"background{suffix}"}
    return [*steps, Step(f"{FOLDER}/dimension", suffix=suffix, values={**values, "number": number}, reads=reads)]


def _cut() -> Sequence[Step | Repeat]:
    """Return the steps that cut the tree of classes, until the distributions of each node are equal."""
    cut = (Step(f"{FOLDER}/widest"), Step(f"{FOLDER}/branched"))
    rest = Step(f"{FOLDER}/unsettled", "query")
    return Step(f"{FOLDER}/branch"), Repeat("cutting", "branch", cut, rest, MOST_CUTS)


def _judge(design: ClassGrouping) -> Sequence[Step]:
    """Return the steps that count, for every node and every r, the rows that groups of the size it needs keep."""
    return (
        Step(f"{FOLDER}/halving", values={"divisors": tuple(2**level for level in range(MOST_CUTS + 1))}),
        Step(f"{FOLDER}/ancestor"),
        Step(f"{FOLDER}/reach"),
        Step(f"{FOLDER}/looked_at", values={**design.size, "r": design.r}),
        Step(f"{FOLDER}/needed_{design.promised}", yields="needed"),
        Step(f"{FOLDER}/falling"),
        Step(f"{FOLDER}/judged"),
    )


def _join(design: ClassGrouping) -> Sequence[Step | Repeat]:
    """Return the steps that join parts, a level of the tree each turn; repair takes classes of equal rows alone."""
    parts = Step(f"{FOLDER}/parted")
    if design.turns:
        return (parts,)
    rest = Step(f"{FOLDER}/unclimbed", "query")
    return parts, Repeat("joining", "parted", (Step(f"{FOLDER}/climbed"),), rest, MOST_CUTS + 1)
