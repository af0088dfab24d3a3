"""What a manifest may say: a shape for each method, against which manifests are written and read.

A manifest must not carry more than its tables show: every value has a type and a range, and texts match a pattern or
are compared with the tables, their files, or what the parameters promise. The shapes of its parameters come from its
method, those of its columns and of what it counts, promises and verifies from its form.
"""

import datetime
import functools
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from sqlanon.forms import form_of_method
from sqlanon.forms.form import ROLES
from sqlanon.methods import METHODS
from sqlanon.models.shapes import (
    Path,
    Shape,
    described,
    either,
    faults,
    record,
    text,
    whole,
    word,
)
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.manifest import FORMAT, Manifest

_NUMBERED = r"\d{1,9}(\.\d{1,9}){0,3}((a|b|rc|\.?dev|\.post|-preview|-amzn-)\d{0,12}|-SNAPSHOT){0,2}"
# what lies there is compared with the names
_FILES: Shape = dict[  # type: ignore[misc]
    Annotated[str, Field(max_length=200)],
    record({}, {"rows": whole(), "bytes": whole(), "sha256": text("[0-9a-f]{64}")}),
]


@functools.cache
def _shape(method: str) -> Shape:
    """Return the shape of the manifests of a method's releases."""
    form = form_of_method(method)
    return record(
        {
            "format": word(*range(1, FORMAT + 1)),
            "method": word(method),
            "parameters": METHODS[method].parameters_shape,
            "columns": form.columns,
            "rows": whole(),
            "groups": whole() | None,
            "dropped_rows": whole(),
            "guarantee": form.promise,
            "verified": record({}, form.figures),
            "files": _FILES,
            "engine": text(rf"({'|'.join(ENGINES)}) {_NUMBERED}|by hand"),
            "sqlanon": text(rf"{_NUMBERED}|none"),
            "created": text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00"),
        }
    )


def manifest_schema(method: str) -> dict[str, Any]:
    """Return the JSON schema of the manifests of a method's releases; `columnOf` names a role of its columns."""
    return described(f"release.json of {method}, format {FORMAT}", _shape(method))


def release_schema() -> dict[str, Any]:
    """Return the JSON schema of every manifest: that of one of the methods."""
    return described(f"release.json, format {FORMAT}", either(*map(_shape, METHODS)))


def manifest_faults(manifest: Manifest) -> Iterator[Path]:
    """Yield the path of each value in a manifest that is not what a release of its method says there."""
    columns = manifest["columns"]
    yield from faults(_shape(manifest["method"]), manifest, {role: columns[role] for role in ROLES})
    try:
        datetime.datetime.fromisoformat(str(manifest.get("created")))
    except ValueError:
        yield ("created",)
