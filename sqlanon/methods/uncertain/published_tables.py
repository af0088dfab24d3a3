"""How uncertain rows are shown: the names of what is published, and the steps from clusters to QIT and ST."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.methods.internal_names import quasi_names
from sqlanon.methods.uncertain.columns import Column, Reading
from sqlanon.methods.uncertain.diversity import Undiverse
from sqlanon.plans.plan import Step, relation_name
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql


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
    used_names = [*reading.request.roles.quasi, sensitive, *([reading.label] if reading.label is not None else [])]
    values = [sensitive] if width == 1 else []
    for number in range(1, width + 1 if width > 1 else 1):
        values.append(free_name(f"{sensitive}{number}", [*used_names, *values]))
    used_names += values
    added: list[str] = []
    for name in ("qiid", "alternatives", "group_id", "count"):
        added.append(free_name(name, [*used_names, *added]))
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


def shown(reading: Reading, undiverse: Undiverse, prefix: str) -> list[Step]:
    """Return the steps that put rows and clusters together, suppress, and number the groups."""
    quasi = quasi_names(reading.request)
    columns = _counted(reading, undiverse)
    counts = [f"alternatives_{column.number}" for column in columns]
    fields = [(f"alternatives_{c.number}", str(c.number + 1), c.name) for c in columns]
    label = ["label"] if reading.label is not None else []
    passed = [*reading.row_columns, "set_code", "cell_code"]
    starred = {"passed_columns": passed, "quasi_columns": quasi, "count_columns": counts}
    nodes = [(c.number, relation_name(prefix, f"hierarchy_{c.number}")) for c in reading.quasi]
    ways = {
        "suppress": Step("methods/uncertain/published_tables/starred", yields="shown", values=starred),
        "merge": Step("methods/uncertain/published_tables/kept", yields="shown"),
        "generalize": Step(
            "methods/uncertain/published_tables/generalized",
            yields="shown",
            values={"passed_columns": passed, "nodes": nodes},
        ),
    }
    return [
        ways[undiverse],
        Step("methods/uncertain/published_tables/pattern", values={"counted_columns": fields}),
        Step(
            "methods/uncertain/published_tables/group_number",
            values={"label": label, "quasi_columns": quasi, "count_columns": counts},
        ),
    ]


def _counted(reading: Reading, undiverse: Undiverse) -> Sequence[Column]:
    """Return the quasi-identifiers whose alternatives are told: all where a group may be generalized."""
    return reading.quasi if undiverse == "generalize" else reading.counted


def outputs(reading: Reading, names: Names, undiverse: Undiverse) -> tuple[Step, ...]:
    """Return the published tables."""
    qit = {
        "labels": [names.label] if names.label is not None else [],
        "quasi": reading.request.roles.quasi,
        "count_columns": [f"alternatives_{column.number}" for column in _counted(reading, undiverse)],
        "qiid_column": names.qiid,
        "alternatives_column": names.alternatives,
        "group_column": names.group,
    }
    st = {
        "value_columns": names.values,
        "group_column": names.group,
        "count_column": names.count,
        "order_columns": [Sql(f"set_values.value_{n}") for n in range(1, len(names.values) + 1)],
    }
    return (
        Step("methods/uncertain/published_tables/qit", values=qit),
        Step("methods/uncertain/published_tables/st", values=st),
    )
