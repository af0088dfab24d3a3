"""What may not differ from release to release under one ledger, and how a difference is told."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.ledgers.contents import FORMAT, Contents
from sqlanon.plans.following import RESERVE
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Publication
from sqlanon.wording import option

CHECK = "ledger/check/"
FIXED = ("l", "r", "gamma", "guarantee", "backgrounds")  # parameters that decide what is promised
WORDS = {
    "method": "method",
    "sensitive": "sensitive column",
    "sensitive_type": "type of the sensitive column",
    "identifier": option("id"),
    "identifier_types": f"type of {option('id')}",
}


def check_value(key: Key) -> str:
    """Return what tells a ledger's key from others: a hash of it, from which it cannot be found."""
    return hashlib.sha256(f"{key.text}{CHECK}".encode()).hexdigest()


def describe(
    method: str, publication: Publication, identifier: Sequence[str], types: Mapping[str, str], key: Key
) -> dict[str, Any]:
    """Return what a ledger's releases have in common, and the quasi columns. types: those of the source's columns."""
    columns = publication.columns
    (sensitive,) = columns["sensitive"]
    return {
        "format": FORMAT,
        "method": method,
        "check": check_value(key),
        "sensitive": sensitive,
        "sensitive_type": types[sensitive],
        "identifier": list(identifier),
        "identifier_types": [types[name] for name in identifier],
        "parameters": {name: publication.parameters[name] for name in FIXED if name in publication.parameters},
        "quasi": list(columns["quasi"]),
        "ever_quasi": list(columns["quasi"]),
    }


def refuse_other_key(named: str, before: Contents, key: Key) -> None:
    """Raise UsageError for a key that is not the ledger's."""
    if before.description.get("check") != check_value(key):
        raise UsageError(
            f"{named!r} was made with another key: under this one it knows nobody. Publish with the ledger's own key"
        )


def refuse_moves(named: str, before: Contents, changed: str) -> None:
    """Raise UsageError for moves under a ledger whose groups hold no more values than are promised."""
    if changed == "move" and not before.description["reserve"]:
        raise UsageError(
            f"groups of {named!r} hold as many values as are promised, and {option('changed', 'move')} needs"
            f" {RESERVE} more: that somebody moved tells that the old and the new group differ in this person's value."
            f" A ledger keeps them from its first release on if that says {option('changed', 'move')}; say"
            f" {option('changed', 'leave')} or {option('changed', 'keep')} here",
            about=["changed"],
        )


def refuse_other_request(named: str, before: Contents, now: Mapping[str, Any]) -> None:
    """Raise UsageError where the request differs from the ledger in what has to stay."""
    known = before.description
    pairs = [(words, known.get(name), now[name]) for name, words in WORDS.items()]
    parameters = dict.fromkeys((*known.get("parameters", {}), *now["parameters"]))
    pairs += [(name, known["parameters"].get(name), now["parameters"].get(name)) for name in parameters]
    for words, was, found in pairs:
        if was != found:
            raise UsageError(
                f"the releases of {named!r} have the {words} {_shown(was)}, this request {_shown(found)}: groups"
                " that were published stay as they are. Ask as before, or begin another ledger, whose releases"
                " intersect with those of this one"
            )


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def refuse_new_quasi(before: Contents, now: Mapping[str, Any], allowed: bool) -> list[str]:
    """Return the quasi columns that no release had before; raise UsageError for them unless they are allowed."""
    known = {name.lower() for name in before.description["ever_quasi"]}
    new = [name for name in now["quasi"] if name.lower() not in known]
    if new and not allowed:
        raise UsageError(
            f"no release of this ledger had the quasi column{'s' if len(new) > 1 else ''} {', '.join(map(repr, new))}:"
            " it tells more of the persons whom earlier releases show; leave it out, or say"
            f" {option('new_quasi', True)}",
            about=new,
        )
    return new


def fingerprint(manifest: Manifest) -> str:
    """Return what tells a release from all others of its ledger, whether it was copied or not."""
    told = [manifest["parameters"].get("release"), *(manifest.get(name) for name in ("created", "rows", "groups"))]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def refuse_fork(named: str, before: Contents | None, standing: str, manifest: Manifest | None, asked: bool) -> None:
    """Raise UsageError where a release tells that the ledger is not the one that it was published under.

    standing, manifest: a release that is to be replaced, or that `since` names (asked: then it has to be the last one).
    """
    number = None if manifest is None else manifest["parameters"].get("release")
    if manifest is None or number is None:
        if asked:
            raise UsageError(f"{standing!r} is no release under a ledger")
        return
    last = 0 if before is None else before.last["number"]
    told = f"{standing!r} is release {number} of a ledger"
    if number > last:
        raise UsageError(
            f"{told}, and {named!r} knows {last}: it is an outdated copy, or another ledger. Publishing from it"
            " would group people anew who are published already; publish from the ledger that was written with the last"
            " release"
        )
    known = {one["number"]: one["fingerprint"] for one in before.releases} if before is not None else {}
    if known.get(number) != fingerprint(manifest):
        raise UsageError(f"{told}, and not of {named!r}, whose release {number} is another one")
    if asked and number != last:
        raise UsageError(f"{told}, and the last one of {named!r} is {last}")
