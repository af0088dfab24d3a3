"""Forged manifests: every value and every structure of a sound one changed into what a stranger may hide there.

What is put in is free text, microdata, numbers that no table has, or bytes that readers of JSON pass over. A number is
changed only to one beyond its range: another in its place may be as true, where the tables do not show it.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

from sqlanon.plans.manifest import manifest_text

SECRET = "ssn 123-45-6789 has HIV"
Path = tuple[str | int, ...]
ROWS = [{"ssn": "123-45-6789", "disease": "HIV"}]
# what stands in the place of a value, and what is added to an object or a list
IN_PLACE = (SECRET, {SECRET: 1}, {"note": SECRET}, ROWS, [SECRET], 10**30, -(10**30), 1e300, -7, "1 " + SECRET)
# a release says less of itself where an earlier version wrote it, and what it says of a hierarchy is its publisher's
_NOT_PROVED = ("hierarchies", "alternative_of")


def _values(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if path and path[-1] in _NOT_PROVED:
        return
    yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from _values(member, (*path, name))


def _with(manifest: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(manifest)
    place: Any = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


def _additions(path: Path, value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for added in (SECRET, ROWS, 1):
            yield {**value, "note": added}
            yield {SECRET: added, **value}
    elif isinstance(value, list):
        yield from ([*value, added] for added in (SECRET, ROWS, {"value": SECRET, "weight": 0.123456789}))
    elif isinstance(value, str) and value:
        yield from (value + SECRET, f"{value}\n", f"{value} ({SECRET})")
    elif type(value) is int:
        yield from (value + 0.123456789, str(value))


def forged_values(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what was changed, and the text of the manifest with it."""
    for path, value in _values(manifest):
        words = " ".join(map(str, path))
        changes = [*(IN_PLACE if path else ()), *_additions(path, value)]
        for number, changed in enumerate(changes):
            forged = _with(manifest, path, changed) if path else changed
            yield f"{words} [{number}]", manifest_text(forged)


def forged_writings(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts that say a thing twice, or are no JSON."""
    manifest = json.loads(text)
    first = next(iter(manifest))
    yield "a key twice", text.replace("{", f'{{\n  "{first}": "{SECRET}",', 1)
    yield "the last key twice", f'{text.rstrip().removesuffix("}")}, "created": "{manifest["created"]}"}}\n'
    yield "a number's exponent", text.replace('"format": 2', '"format": 2e0', 1)
    yield "a mark before", "\ufeff" + text
    yield "a comment", text.replace("{", f"{{ // {SECRET}\n", 1)
    yield "a second text", text + json.dumps(ROWS)
    yield "a NUL behind", text + "\0" + SECRET
    yield "NaN", text.replace('"dropped_rows": 0', '"dropped_rows": NaN', 1)
    yield "brackets", "[" * 5000
    yield "digits", text.replace('"dropped_rows": 0', '"dropped_rows": ' + "9" * 100_000, 1)


def forgeries(text: str) -> Iterator[tuple[str, str]]:
    """Yield every forgery of a manifest's text that differs from it."""
    every = [*forged_writings(text), *forged_values(json.loads(text))]
    yield from ((what, forged) for what, forged in every if forged != text)
