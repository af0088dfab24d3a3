"""How uncertain rows are shown: the names of what is published, and the chapters from clusters to QIT and ST."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.methods.uncertain.clustering import Undiverse
from sqlanon.methods.uncertain.columns import Column, Reading
from sqlanon.plans.chapters import Chapter
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


def group(reading: Reading, undiverse: Undiverse) -> Chapter:
    """Return the chapter that puts rows and clusters together, suppresses, and numbers the groups."""
    label = ["label"] if reading.label is not None else []
    fields = [(f"alternatives_{c.number}", str(c.number + 1), c.name) for c in _counted(reading, undiverse)]
    values = {
        "undiverse": undiverse,
        "numbers": [column.number for column in reading.quasi],
        "counted": fields,
        "counts": [column for column, _, _ in fields],
        "label": label,
        "passed": [*reading.row_columns, "set_code", "cell_code"],
    }
    return Chapter("uncertain/groups", values)


def _counted(reading: Reading, undiverse: Undiverse) -> Sequence[Column]:
    """Return the quasi-identifiers whose alternatives are told: all where a group may be generalized."""
    return reading.quasi if undiverse == "generalize" else reading.counted


def publish(reading: Reading, names: Names, undiverse: Undiverse) -> Chapter:
    """Return the chapter of the published tables."""
    values = {
        "labels": [names.label] if names.label is not None else [],
        "quasi": reading.request.roles.quasi,
        "counts": [f"alternatives_{column.number}" for column in _counted(reading, undiverse)],
        "qiid_column": names.qiid,
        "alternatives_column": names.alternatives,
        "group_column": names.group,
        "values": names.values,
        "count_column": names.count,
    }
    return Chapter("uncertain/publish", values)
