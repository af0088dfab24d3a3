"""Repair of a class-first grouping: rows that are left over join groups of other classes, a turn for each class asked.

A row of class d joins n rows of class c only where no posterior rises above 1/r (or where the paper's condition
holds), in every background by itself, and where the group lacks its value. One row a group. The templates are
`sql_templates/robust/`.
"""

from collections.abc import Sequence

from sqlanon import background, grouping
from sqlanon.background import Background
from sqlanon.plan import Repeat, Request, Step

STEPS = ("waiting", "kept_tally", "class_value", "class_prior", "neighbour", "host", "repair", "repaired")
TURN = ("offered", "merged", "accepted_exact", "accepted_delta", "placed")


def steps(
    request: Request,
    signature: Sequence[str],
    backgrounds: Sequence[Background],
    r: float,
    guarantee: str,
    turns: int,
) -> tuple[Step | Repeat, ...]:
    """Return the steps from `grouped` to a `grouped` that holds more rows, after at most `turns` turns."""
    carried = {"carried": grouping.quasi_names(request)}
    priors, made = _priors(signature, backgrounds)
    asked: dict[str, object] = {"priors": priors}
    return (
        Step("robust/waiting", values={**carried, "ties": grouping.ties(request)}),
        *made,
        Step("robust/neighbour", values=asked),
        Step("robust/host"),
        Repeat(
            "repair",
            "waiting",
            (
                Step("robust/offered"),
                Step("robust/merged", values=asked),
                Step(f"robust/accepted_{guarantee}", yields="accepted", values={**asked, "r": r}),
                Step("robust/placed", values=carried),
            ),
            Step("robust/left_over", "query"),
            turns,
        ),
        Step("robust/repaired", yields="grouped", suffix="_repaired", values=carried),
    )


def _priors(signature: Sequence[str], backgrounds: Sequence[Background]) -> tuple[list[str], list[Step]]:
    """Return names of priors, and the steps that put them beside every class and value: a column for each.

    A table may leave values out, which share the rest by their counts: by the data's, as the publisher counts, and by
    the release's, as a recipient does. An offer is good under both.
    """
    tables = any(one.relation is not None for one in backgrounds)
    steps = [] if tables else [Step("grouping/tally", values={"sensitive_column": "sensitive"})]
    steps += [Step("robust/kept_tally")] if tables else []
    steps += [Step("robust/class_value", values={"signature": signature})]
    names: list[str] = []
    for number, one in enumerate(backgrounds, start=1):
        suffix = f"_{number}"
        steps += background.steps(one, suffix) if one.relation is None else []  # tables were read to be checked
        steps.append(background.prior(one, suffix))
        steps.append(_beside(signature, one, suffix, names))
        if one.relation is not None:
            kept = f"{suffix}_kept"
            reads = {"background": f"background{suffix}", "signature": f"signature{suffix}", "tally": "kept_tally"}
            asked = {"attributes": one.columns}
            steps.append(Step("background/remainder", suffix=kept, values=asked, reads=reads))
            reads |= {"remainder": f"remainder{kept}"}
            steps.append(Step("background/prior", suffix=kept, values=asked, reads=reads))
            steps.append(_beside(signature, one, kept, names))
    return names, steps


def _beside(signature: Sequence[str], one: Background, suffix: str, names: list[str]) -> Step:
    """Return the step that adds one prior to those of `names`, and its name to them."""
    values = {
        "signature": signature,
        "earlier_priors": tuple(names),
        "attributes": one.columns,
        "prior_name": f"prior{suffix}",
    }
    before = {"class_value": f"class_prior{names[-1].removeprefix('prior')}"} if names else {}
    names.append(f"prior{suffix}")
    return Step("robust/class_prior", suffix=suffix, values=values, reads={"prior": f"prior{suffix}", **before})
