"""Repair of a class-first grouping: rows that are left over join groups of other classes, a turn for each class asked.

A row of class d joins n rows of class c only where no posterior rises above 1/r (or where the paper's condition
holds), in every background by itself, and where the group lacks its value. One row a group. The templates are
`sql_templates/methods/robust/repair/`.
"""

from collections.abc import Sequence

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import quasi_names, tie_names
from sqlanon.methods.robust import background
from sqlanon.methods.robust.background import Background
from sqlanon.methods.robust.class_grouping import ClassGrouping
from sqlanon.plans.plan import Repeat, Step


def repair_groups(design: ClassGrouping) -> Steps:
    """Return the steps from `grouped` to a `grouped` that holds more rows, after at most `turns` turns."""
    if not design.turns:
        return ()
    request, r, guarantee, turns = design.request, design.r, design.promised, design.turns
    carried = {"carried": quasi_names(request)}
    # each background counts by itself: an offer has to be good under every one
    priors, prior_steps = _priors(design)
    values: dict[str, object] = {"priors": priors}
    return (
        Step("methods/robust/repair/waiting", values={**carried, "ties": tie_names(request)}),
        *prior_steps,
        Step("methods/robust/repair/neighbour", values=values),
        Step("methods/robust/repair/host"),
        Repeat(
            "repair",
            "waiting",
            (
                Step("methods/robust/repair/offered"),
                Step("methods/robust/repair/merged", values=values),
                Step(f"methods/robust/repair/accepted_{guarantee}", yields="accepted", values={**values, "r": r}),
                Step("methods/robust/repair/placed", values=carried),
            ),
            Step("methods/robust/repair/left_over", "query"),
            turns,
        ),
        Step("methods/robust/repair/repaired", yields="grouped", suffix="_repaired", values=carried),
    )


def _priors(design: ClassGrouping) -> tuple[list[str], list[Step]]:
    """Return names of priors, and the steps that put them beside every class and value: a column for each.

    A table may leave values out, which share the rest by their counts: by the data's, as the publisher counts, and by
    the release's, as a recipient does. An offer is good under both.
    """
    signature, backgrounds, tables = design.signature, design.backgrounds, design.merges
    steps = [] if tables else [Step("methods/grouping/tally", values={"sensitive_column": "sensitive"})]
    steps += [Step("methods/robust/repair/kept_tally")] if tables else []
    # the signatures of a class are alike: any of them says what the class is known to have
    one_each = {"class": "merged_sample"} if tables else {}
    steps += [Step("methods/robust/repair/class_value", values={"signature": signature}, reads=one_each)]
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
        "methods/robust/repair/class_prior", suffix=suffix, values=values, reads={"prior": f"prior{suffix}", **before}
    )
