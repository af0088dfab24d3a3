"""What a method would promise with several parameters: the source is counted, and nothing is drawn or published."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.key import Key
from sqlanon.methods.feasibility import refuse_missing
from sqlanon.methods.splu.outlook import promises
from sqlanon.plans.plan import Plan, Report
from sqlanon.publishing.plan_text import PREFIX, plan_text
from sqlanon.publishing.release_request import ReleaseRequest, prepare

if TYPE_CHECKING:
    import pandas as pd

SMALLEST = 2


def plan_promises(
    asked: ReleaseRequest, engine: Engine, gamma: Any, epsilon: float, alpha: int, target_error: float, **_: Any
) -> "pd.DataFrame":
    """Return a line for each sensitive column and γ: what `promises` says. gamma: one to show as well, or none.

    Raises UsageError for wrong columns, DataError where rows have no value, or there are none.
    """
    import pandas as pd

    # only counts are read off this plan: its own gamma decides nothing
    plan, _against = prepare(asked, engine, fresh_prefix(), gamma=SMALLEST)
    with engine.snapshot(), run_plan(_counting(plan), engine, Key.fresh()) as reports:
        rows = [row for name, row in reports.items() if name.startswith("feasibility")]
    lines = []
    for column, row in zip(plan.publication.columns["sensitive"], rows, strict=True):
        refuse_missing(row, column, asked.nulls == "refuse")
        extra_gamma = gamma.get(column) if isinstance(gamma, dict) else gamma
        lines += promises(column, row["row_count"], row["largest_count"], extra_gamma, epsilon, alpha, target_error)
    return pd.DataFrame(lines)


def plan_statements(asked: ReleaseRequest, engine: Engine) -> str:
    """Return the statements that `plan_promises` would run, in order."""
    return plan_text(_counting(prepare(asked, engine, PREFIX, gamma=SMALLEST)[0]), engine) + "\n"


def _counting(plan: Plan) -> Plan:
    """Return the plan's steps up to its last count of values, none of which refuses."""
    counts = [number for number, step in enumerate(plan.steps) if _counts_values(step)]
    steps = plan.steps[: counts[-1] + 1]
    return replace(plan, steps=tuple(Report(step.statement) if isinstance(step, Report) else step for step in steps))


def _counts_values(step: Any) -> bool:
    return isinstance(step, Report) and step.statement.template == "shared/feasibility"
