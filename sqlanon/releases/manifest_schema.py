"""What a manifest may say: a JSON schema for each method, against which manifests are written and read.

A release carries what its tables show and no more: every value of its manifest has a type and a range, no member is
free, and texts are names of published columns or match a pattern. Its parameters' schemas are those that its method
declares; what it counts, promises and found is declared here, by its form.
"""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.methods import METHODS
from sqlanon.plans.json_schema import (
    DRAFT,
    Path,
    Schema,
    by_column,
    either,
    faults,
    number,
    record,
    several,
    text,
    unknown_members,
    whole,
    word,
)
from sqlanon.plans.manifest import FORMAT, Manifest

_NUMBERED = r"\d{1,9}(\.\d{1,9}){0,3}((a|b|rc|\.?dev|\.post|-preview|-amzn-)\d{0,12}|-SNAPSHOT){0,2}"
_SHARE = number(0, 1)
_NAME = {"type": "string"}  # of a column: tables are compared with it
_COMPARED = either(record({"added_rows": word(0), "missing_rows": whole()}), word("holds", "not run"))
_BALANCES = {"quasi_rows": _COMPARED, "sensitive_counts": _COMPARED}
# what only a publisher could find, by comparing with the source
OF_THE_SOURCE = (*_BALANCES, "quasi_values", "retention", "published_counts")
_SORTED = {"row_order": word("sorted")}


def _counts(*names: str) -> dict[str, Any]:
    """Return the schema of an object of counts."""
    return record({}, {name: whole() for name in names})


_SIZES = {"smallest_group": whole(), "largest_group": whole()}
_GROUPS = {
    **_SORTED,
    **_SIZES,
    **_BALANCES,
    "sizes": _counts("unequal_groups", "wrong_counts"),
    "diversity": whole(),
    "confidence": _SHARE,
    "reconstruction_error": number(),
    "reconstruction_error_bound": number(),
    "reconstruction_error_ratio": either(number(), word(None)),
    "departed": whole(),
}
_PROVED_OTHERWISE = text(r"\d{1,18} groups mix signatures: verify with --background")
_RANDOMIZED = dict.fromkeys(
    ("row_order", "gamma", "quasi_rows", "retention", "published_counts"), word("holds", "not run")
)
_UNCERTAIN = {
    **_SORTED,
    **_SIZES,
    **_BALANCES,
    "one_value": _counts("groups_of_one_value", "rows_known_for_certain"),
    "cluster_size": _counts("smallest_group", "largest_group", "unequal_groups", "wrong_counts"),
    "weights": _counts("unsafe_groups", "half_suppressed_groups", "unweighted_values", "faulty_lines", "equal_lines"),
    "alternatives": _counts("wrong_marks", "became_uncertain", "became_certain"),
    "generalized": _counts("generalized_groups", "generalized_rows", "uneven_groups"),
    "domains": _counts("outside_hierarchy", "unreadable"),
    **{name: whole() for name in ("suppressed_groups", "suppressed_rows", "uncertain_rows", "uncertain_sensitive")},
    "least_weights": either(whole(), word(None)),
    "largest_confidence": _SHARE,
}
_BOXES = {
    **_SORTED,
    "k": whole(),
    "l": whole(),
    "boxes": _counts("wrong_bounds", "wrong_nodes", "wrong_sets"),
    "same_boxes": _counts("unequal_boxes"),
    "sensitive_counts": _COMPARED,
    "quasi_values": word("holds", "not run"),
    "largest_class": whole(),
    "largest_confidence": _SHARE,
}
_SPLU_PROMISE = record(
    {
        "gamma": whole(2),
        "retention": _SHARE,
        "epsilon": _SHARE,
        "small_sums": record({"alpha": whole(1), "off_at_least": _SHARE}),
        "large_sums": record({"target_error": _SHARE, "count": whole(), "possible": {"type": "boolean"}}),
        "counts": several(record({"count": whole(1), "off": _SHARE, "paper_bound": number()})),
        "paper_bound": record({"holds": word(False), "note": {"type": "string"}}),
    }
)
_ROLES = {"quasi": several(_NAME, 1), "sensitive": several(_NAME, 1)}
_GROUP_ROLES = {**_ROLES, "group": _NAME, "count": _NAME}
_UNCERTAIN_ROLES = {**_GROUP_ROLES, "qiid": _NAME, "alternatives": _NAME, "values": several(_NAME, 1)}

# by form: the roles of columns, what is promised, what was found
_FORMS: dict[str, tuple[Schema, Schema, Mapping[str, Schema]]] = {
    "qit_st": (record(_GROUP_ROLES), record({"l": whole(2), "confidence": _SHARE}), _GROUPS),
    "class_qit_st": (
        record(_GROUP_ROLES),
        either(record({"r": number(1), "posterior": _SHARE}), record({"r": number(1), "condition": word("delta")})),
        {**_GROUPS, "classes": either(_SHARE, _PROVED_OTHERWISE), "signatures": whole()},
    ),
    "randomized": (record(_ROLES), by_column("sensitive", _SPLU_PROMISE), _RANDOMIZED),
    "uncertain": (
        record(_UNCERTAIN_ROLES, {"label": _NAME}),
        record({"k": whole(2), "l": whole(2), "threshold": _SHARE}),
        _UNCERTAIN,
    ),
    "generalized": (record(_ROLES), record({"k": whole(2), "l": whole(1)}), _BOXES),
}
_SHA256 = text("[0-9a-f]{64}")
_FILES = {
    "type": "object",
    "propertyNames": {"type": "string", "maxLength": 200},  # what lies there is compared with it
    "additionalProperties": record({}, {"rows": whole(), "bytes": whole(), "sha256": _SHA256}),
}


def manifest_schema(method: str) -> dict[str, Any]:
    """Return the JSON schema of the manifests of a method's releases; `columnOf` names a role of its columns."""
    columns, promise, figures = _FORMS[METHODS[method].form]
    return {
        "$schema": DRAFT,
        "title": f"release.json of {method}, format {FORMAT}",
        **record(
            {
                "format": word(FORMAT),
                "method": word(method),
                "parameters": METHODS[method].parameters_schema,
                "columns": columns,
                "rows": whole(),
                "groups": either(whole(), word(None)),
                "dropped_rows": whole(),
                "guarantee": promise,
                "verified": record({}, figures),
                "files": _FILES,
                "engine": text(rf"(duckdb|spark|postgres) {_NUMBERED}|by hand"),
                "sqlanon": text(rf"{_NUMBERED}|none"),
                "created": text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00"),
            }
        ),
    }


def release_schema() -> dict[str, Any]:
    """Return the JSON schema of every manifest: that of one of the methods."""
    schemas = [manifest_schema(method) for method in METHODS]
    choices = [{name: part for name, part in schema.items() if name != "$schema"} for schema in schemas]
    return {"$schema": DRAFT, "title": f"release.json, format {FORMAT}", **either(*choices)}


def unknown_keys(manifest: Manifest) -> list[Path]:
    """Return the paths of what a manifest says and no release of its method does: a later version's, or a stranger's.

    Whoever asks is told of them and answered without; verification certifies none.
    """
    return [*unknown_members(manifest_schema(manifest["method"]), manifest)]


def manifest_faults(manifest: Manifest) -> Iterator[Path]:
    """Yield the path of each value in a manifest that is not what a release of its method says there."""
    columns = manifest["columns"]
    yield from faults(manifest_schema(manifest["method"]), manifest, {role: columns[role] for role in _ROLES})
    if not _is_time(manifest.get("created")):
        yield ("created",)


def parameter_faults(manifest: Manifest) -> Iterator[Path]:
    """Yield the same of what its method was given, which decides how its tables are read; unknown keys are none."""
    columns = {role: manifest["columns"][role] for role in _ROLES}
    schema, parameters = METHODS[manifest["method"]].parameters_schema, manifest["parameters"]
    unknown = {*unknown_members(schema, parameters, ("parameters",))}
    yield from (path for path in faults(schema, parameters, columns, ("parameters",)) if path not in unknown)


def _is_time(value: object) -> bool:
    try:
        datetime.datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return True
