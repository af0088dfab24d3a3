"""What must stay the same from release to release under one ledger, and how a difference is reported."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.ledgers.contents import FORMAT, Contents
from sqlanon.ledgers.seal import check_value
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Publication
from sqlanon.wording import option

WORDS = {
    "method": "method",
    "sensitive": "sensitive column",
    "sensitive_type": "type of the sensitive column",
    "identifier": option("id"),
    "identifier_types": f"type of {option('id')}",
}


def describe(
    method: str, publication: Publication, identifier: Sequence[str], types: Mapping[str, str], key: Key
) -> dict[str, Any]:
    """Return what a ledger's releases have in common, and the quasi columns. types: those of the source's columns."""
    columns, lasting = publication.columns, (*METHODS[method].lasting, "coarsen")
    (sensitive,) = columns["sensitive"]
    return {
        "format": FORMAT,
        "method": method,
        "check": check_value(key),
        "sensitive": sensitive,
        "sensitive_type": types[sensitive],
        "identifier": list(identifier),
        "identifier_types": [types[name] for name in identifier],
        "parameters": {name: publication.parameters[name] for name in lasting if name in publication.parameters},
        "quasi": list(columns["quasi"]),
        "ever_quasi": list(columns["quasi"]),
    }


def refuse_other_key(named: str, before: Contents, key: Key) -> None:
    """Raise UsageError for a key that is not the ledger's."""
    if before.description["check"] != check_value(key):
        raise UsageError(
            f"{named!r} was made with another key: under this one it knows nobody. Publish with the ledger's own key"
        )


def refuse_moves(named: str, before: Contents) -> None:
    """Raise UsageError for a ledger of 0.2.0 under which persons whose value changed may have moved."""
    if before.description.get("reserve"):
        raise UsageError(
            f"{named!r} was begun with {option('changed', 'move')}, which was removed in 0.3.0: publish from it with"
            " sqlanon 0.2.0, or begin another ledger, whose releases intersect with those of this one"
        )


def refuse_other_request(named: str, before: Contents, now: Mapping[str, Any]) -> None:
    """Raise UsageError where the request differs from the ledger in what has to stay."""
    description = before.description
    pairs = [(words, description.get(name), now[name]) for name, words in WORDS.items()]
    # `guarantee` of 0.2.0 was exact under every ledger, as it always is now
    parameters = {*description.get("parameters", {}), *now["parameters"]} - {"guarantee"}
    pairs += [(name, description["parameters"].get(name), now["parameters"].get(name)) for name in sorted(parameters)]
    for words, was, value in pairs:
        if was != value:
            raise UsageError(
                f"the releases of {named!r} have the {words} {_shown(was)}, this request {_shown(value)}: groups"
                " that were published stay as they are. Ask as before, or begin another ledger, whose releases"
                " intersect with those of this one"
            )


def refuse_other_labels(before: Contents, now: Mapping[str, Any], allowed: bool) -> list[str]:
    """Return the columns whose table of labels is another one than before; raise UsageError unless they are allowed.

    Of releases before labels were sealed nothing is known.
    """
    earlier = before.description.get("labels", {})
    other = [name for name, seal in now.get("labels", {}).items() if earlier.get(name, seal) != seal]
    if other and not allowed:
        raise UsageError(
            f"the table of labels of {', '.join(map(repr, other))} is another one than that of the releases before:"
            " whoever keeps both learns more of a value that has two labels. Take the same table, or say"
            f" {option('new_quasi', True)} (where values were added, and none has another label, nobody learns more)",
            about=["coarsen"],
        )
    return other


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def refuse_new_quasi(before: Contents, now: Mapping[str, Any], allowed: bool) -> list[str]:
    """Return the quasi columns that no release had before; raise UsageError for them unless they are allowed."""
    ever_quasi = {name.lower() for name in before.description["ever_quasi"]}
    new = [name for name in now["quasi"] if name.lower() not in ever_quasi]
    if new and not allowed:
        raise UsageError(
            f"no release of this ledger had the quasi column{'s' if len(new) > 1 else ''} {', '.join(map(repr, new))}:"
            " it tells more of the persons whom earlier releases show; leave it out, or say"
            f" {option('new_quasi', True)}",
            about=new,
        )
    return new
