"""How uncertain rows are shown: the names of what is published, and the steps from clusters to QIT and ST."""

from dataclasses import dataclass
from typing import Any

from sqlanon.methods.internal_names import quasi_names
from sqlanon.methods.uncertain.columns import Reading
from sqlanon.methods.uncertain.diversity import Undiverse
from sqlanon.plans.plan import Step
from sqlanon.plans.roles import free_name


@dataclass(frozen=True)
class Names:
    """The names of the published columns beside the quasi-identifiers."""

    label: str | None
    values: tuple[str, ...]
    qiid: str
    alternatives: str
    group: str
    count: str


def published_names(reading: Reading, width: int) -> Names:
    """Return names that no two columns share; `width`: how many columns of sensitive alternatives.

    One column keeps the sensitive column's name; several are numbered, as the paper's `disease1`, `disease2`.
    """
    sensitive = reading.sensitive.name
    taken = [*reading.request.roles.quasi, sensitive, *([reading.label] if reading.label is not None else [])]
    values = [sensitive] if width == 1 else []
    for number in range(1, width + 1 if width > 1 else 1):
        values.append(free_name(f"{sensitive}{number}", [*taken, *values]))
    taken += values
    added: list[str] = []
    for wanted in ("qiid", "alternatives", "group_id", "count"):
        added.append(free_name(wanted, [*taken, *added]))
    return Names(reading.label, tuple(values), *added)


def manifest_columns(reading: Reading, names: Names) -> dict[str, Any]:
    """Return the columns as a manifest says them."""
    return {
        **({"label": names.label} if names.label is not None else {}),
        "quasi": list(reading.request.roles.quasi),
        "sensitive": [reading.sensitive.name],
        "qiid": names.qiid,
        "alternatives": names.alternatives,
        "group": names.group,
        "values": list(names.values),
        "count": names.count,
    }


def shown(reading: Reading, undiverse: Undiverse) -> list[Step]:
    """Return the steps that put rows and clusters together, suppress, and number the groups."""
    quasi = quasi_names(reading.request)
    counts = [f"alternatives_{column.number}" for column in reading.counted]
    fields = [(f"alternatives_{c.number}", str(c.number + 1), c.name) for c in reading.counted]
    label = ["label"] if reading.label is not None else []
    passed = [*reading.row_columns, "set_code", "cell_code"]
    starred = {"passed_columns": passed, "quasi_columns": quasi, "count_columns": counts}
    return [
        Step("methods/uncertain/published_tables/starred", yields="shown", values=starred)
        if undiverse == "suppress"
        else Step("methods/uncertain/published_tables/kept", yields="shown"),
        Step("methods/uncertain/published_tables/pattern", values={"counted_columns": fields}),
        Step(
            "methods/uncertain/published_tables/numbered",
            values={"label": label, "quasi_columns": quasi, "count_columns": counts},
        ),
    ]


def outputs(reading: Reading, names: Names) -> tuple[Step, ...]:
    """Return the published tables."""
    qit = {
        "labels": [names.label] if names.label is not None else [],
        "quasi": reading.request.roles.quasi,
        "count_columns": [f"alternatives_{column.number}" for column in reading.counted],
        "qiid_column": names.qiid,
        "alternatives_column": names.alternatives,
        "group_column": names.group,
    }
    st = {"value_columns": names.values, "group_column": names.group, "count_column": names.count}
    return (
        Step("methods/uncertain/published_tables/qit", values=qit),
        Step("methods/uncertain/published_tables/st", values=st),
    )
