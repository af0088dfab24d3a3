"""What a manifest may say: a JSON schema for each method, against which manifests are written and read.

A manifest must not carry more than its tables show: every value has a type and a range, no key is free, and texts are
names of published columns or match a pattern. The schemas of its parameters come from its method, those of what it
counts, promises and verifies from its form.
"""

import datetime
from collections.abc import Iterator
from typing import Any

from sqlanon.forms import form_of_method
from sqlanon.forms.schema_parts import ROLES
from sqlanon.methods import METHODS
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.json_schema import (
    DRAFT,
    Path,
    either,
    faults,
    record,
    text,
    whole,
    word,
)
from sqlanon.plans.manifest import FORMAT, Manifest

_NUMBERED = r"\d{1,9}(\.\d{1,9}){0,3}((a|b|rc|\.?dev|\.post|-preview|-amzn-)\d{0,12}|-SNAPSHOT){0,2}"
_SHA256 = text("[0-9a-f]{64}")
_FILES = {
    "type": "object",
    "propertyNames": {"type": "string", "maxLength": 200},  # what lies there is compared with it
    "additionalProperties": record({}, {"rows": whole(), "bytes": whole(), "sha256": _SHA256}),
}


def manifest_schema(method: str) -> dict[str, Any]:
    """Return the JSON schema of the manifests of a method's releases; `columnOf` names a role of its columns."""
    form = form_of_method(method)
    return {
        "$schema": DRAFT,
        "title": f"release.json of {method}, format {FORMAT}",
        **record(
            {
                "format": word(*range(1, FORMAT + 1)),
                "method": word(method),
                "parameters": METHODS[method].parameters_schema,
                "columns": form.columns,
                "rows": whole(),
                "groups": either(whole(), word(None)),
                "dropped_rows": whole(),
                "guarantee": form.promise,
                "verified": record({}, form.figures),
                "files": _FILES,
                "engine": text(rf"({'|'.join(ENGINES)}) {_NUMBERED}|by hand"),
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


def manifest_faults(manifest: Manifest) -> Iterator[Path]:
    """Yield the path of each value in a manifest that is not what a release of its method says there."""
    columns = manifest["columns"]
    yield from faults(manifest_schema(manifest["method"]), manifest, {role: columns[role] for role in ROLES})
    try:
        datetime.datetime.fromisoformat(str(manifest.get("created")))
    except ValueError:
        yield ("created",)
