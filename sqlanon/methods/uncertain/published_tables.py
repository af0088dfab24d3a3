"""How uncertain rows are shown: the names of what is published, and the chapters from clusters to QIT and ST."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.methods.uncertain.clustering import Undiverse
from sqlanon.methods.uncertain.columns import Column, Reading
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.roles import free_name


def manifest_columns(reading: Reading, width: int) -> dict[str, Any]:
    """Return the published columns as a manifest says them, no two alike; width: how many of sensitive alternatives.

    One column keeps the sensitive column's name; several are numbered, as the paper's `disease1`, `disease2`.
    """
    sensitive, label = reading.sensitive.name, [] if reading.label is None else [reading.label]
    used_names = [*reading.request.roles.quasi, sensitive, *label]

    def free(name: str) -> str:
        used_names.append(free_name(name, used_names))
        return used_names[-1]

    values = [sensitive] if width == 1 else [free(f"{sensitive}{number}") for number in range(1, width + 1)]
    return {
        **({"label": label[0]} if label else {}),
        "quasi": list(reading.request.roles.quasi),
        "sensitive": [sensitive],
        "qiid": free("qiid"),
        "alternatives": free("alternatives"),
        "group": free("group_id"),
        "values": values,
        "count": free("count"),
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


def publish(reading: Reading, columns: Mapping[str, Any], undiverse: Undiverse) -> Chapter:
    """Return the chapter of the published tables; columns: as the manifest says them."""
    values = {
        "labels": [reading.label] if reading.label is not None else [],
        "quasi": reading.request.roles.quasi,
        "counts": [f"alternatives_{column.number}" for column in _counted(reading, undiverse)],
        "values": columns["values"],
        **{f"{role}_column": columns[role] for role in ("qiid", "alternatives", "group", "count")},
    }
    return Chapter("uncertain/publish", values)
