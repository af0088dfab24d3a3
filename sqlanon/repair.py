"""Repair of a class-first grouping: rows that are left over join groups of other classes, a turn for each class asked.

A row of class d joins n rows of class c only where no posterior rises above 1/r (or where the paper's condition
holds), in every background by itself, and where the group lacks its value. One row a group. The templates are
`sql_templates/robust/`.
"""

from collections.abc import Sequence

from sqlanon import background, grouping
from sqlanon.background import Background
from sqlanon.plan import Repeat, Request, Step

STEPS = ("waiting", "class_value", "class_prior", "neighbour", "host", "repair", "repaired")
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
    priors = [f"prior_{number}" for number, _ in enumerate(backgrounds, start=1)]
    asked: dict[str, object] = {"priors": priors}
    return (
        Step("robust/waiting", values={**carried, "ties": grouping.ties(request)}),
        *_priors(request, signature, backgrounds, priors),
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


def _priors(
    request: Request, signature: Sequence[str], backgrounds: Sequence[Background], priors: Sequence[str]
) -> tuple[Step, ...]:
    """Return the steps that put what each background says beside every class and value: a column for each."""
    made = [
        *(() if _tallied(backgrounds) else (Step("grouping/tally", values={"sensitive_column": "sensitive"}),)),
        Step("robust/class_value", values={"signature": signature}),
    ]
    for number, one in enumerate(backgrounds, start=1):
        suffix = f"_{number}"
        if one.relation is None:  # tables were read when they were checked
            made += background.steps(one, suffix)
        values = {
            "signature": signature,
            "earlier_priors": priors[: number - 1],
            "attributes": one.columns,
            "prior_name": priors[number - 1],
        }
        before = {} if number == 1 else {"class_value": f"class_prior_{number - 1}"}
        made += [
            background.prior(one, suffix),
            Step("robust/class_prior", suffix=suffix, values=values, reads={"prior": f"prior{suffix}", **before}),
        ]
    return tuple(made)


def _tallied(backgrounds: Sequence[Background]) -> bool:
    return any(one.relation is not None for one in backgrounds)
