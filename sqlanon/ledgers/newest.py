"""Is a ledger the newest one? A note beside it and the releases at the target tell.

A seal proves that a ledger is as it was written, but an older copy fits its seal, too. So each run notes beside the
ledger which release was its last (FILE.last), and releases say which ledger they belong to (`chain`, a random name). A
ledger that lacks a release which the note or one of the releases knows is outdated. If all of them are set back
together, nobody notices.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import parse_json
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.ledgers.contents import Contents
from sqlanon.plans.manifest import Manifest
from sqlanon.read_places import MANIFEST
from sqlanon.releases.opening import Place, manifest_at
from sqlanon.wording import option

OUTDATED = (
    "it is an outdated copy, or another ledger. Publishing from it would group people anew who are published already;"
    " publish from the ledger that was written with the last release"
)
_SCHEMAS = (
    "select distinct table_schema from information_schema.tables where table_name = 'manifest'"
    " order by table_schema asc nulls last"
)


@dataclass(frozen=True)
class Evidence:
    """What tells, beside a ledger, which release was its last.

    note_name, note: the file that says it, and its text, None where it is not there. releases: those that lie where the
    ledger's releases go, by name.
    """

    note_name: str
    note: str | None
    releases: Mapping[str, Manifest]


def fingerprint(manifest: Manifest) -> str:
    """Return what tells a release from all others of its ledger, whether it was copied or not."""
    parts = [manifest["parameters"].get("release"), *(manifest.get(name) for name in ("created", "rows", "groups"))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def note_text(release: Mapping[str, Any]) -> str:
    """Return what is noted beside a ledger of its last release."""
    return json.dumps({"release": release["number"], "fingerprint": release["fingerprint"]}) + "\n"


def releases_within(folder: Path) -> dict[str, Manifest]:
    """Return the manifests of releases that lie in a folder, or of the release that it is, by their directories."""
    try:
        places = [folder, *(path for path in sorted(folder.iterdir()) if not path.name.startswith("."))]
    except OSError:  # without the right to look
        return {}
    # other users' folders may stand there as well
    places = [path for path in places if os.path.isfile(path / MANIFEST)]  # noqa: PTH113
    return _followers((str(path), manifest_at(Place(path))) for path in places)


def releases_in_schemas(engine: Engine) -> dict[str, Manifest]:
    """Return the manifests of releases in the schemas of the engine's database, by schema."""
    names = [str(row["table_schema"]) for row in engine.rows(_SCHEMAS)]
    return _followers((name, manifest_at(Place(schema=name), engine)) for name in names)


def _followers(pairs: Iterator[tuple[str, Manifest | None]]) -> dict[str, Manifest]:
    return {name: manifest for name, manifest in pairs if manifest is not None and _number(manifest)}


def _number(manifest: Manifest) -> int:
    number = manifest["parameters"].get("release", 0)
    return number if isinstance(number, int) else 0


def reasons_against(named: str, before: Contents | None, evidence: Evidence) -> Iterator[str]:
    """Say what tells that a ledger is not the newest one, or that nothing tells that it is."""
    if evidence.note is not None:
        number, noted = _read_note(evidence.note)
        label = f"{evidence.note_name!r} says that release {number} was the last one"
        if number < 1:
            yield (
                f"{evidence.note_name!r} does not say which release was the last one of {named!r}: put it back as a"
                f" run wrote it, or remove it and name the last release with {option('since', 'RELEASE')}"
            )
        elif before is None:
            yield (
                f"{evidence.note_name!r} says that release {number} was published under {named!r}, which is not there:"
                " put the ledger back. To begin another one, whose releases intersect with those of this one, choose"
                f" another name or remove {evidence.note_name!r}"
            )
        elif reason := _reason_of(named, before, label, number, noted):
            yield reason
    if before is None:
        return
    for name, manifest in evidence.releases.items():
        of_this = manifest["parameters"].get("chain") == before.description["chain"]
        if of_this and (reason := _against_release(named, before, name, manifest)):
            yield reason
    if evidence.note is None and before.last["fingerprint"] not in map(fingerprint, evidence.releases.values()):
        yield (
            f"{evidence.note_name!r}, which says what the last release of {named!r} was, is not there, so that an older"
            f" copy of the ledger would not be noticed: put it back, or name its last release"
            f" ({before.last['number']}) with {option('since', 'RELEASE')}"
        )


def refuse_outdated(named: str, before: Contents | None, evidence: Evidence) -> None:
    """Raise UsageError for a ledger that is not the newest one, or that nothing shows to be."""
    reason = next(reasons_against(named, before, evidence), None)
    if reason is not None:
        raise UsageError(reason)


def _read_note(text: str) -> tuple[int, dict[str, str]]:
    """Return the number that is noted, and what else is said of that release; 0 for a text that no run wrote."""
    try:
        note = parse_json(text)
        # 0.2.0 noted the release's seal
        return int(note["release"]), {name: str(note[name]) for name in ("fingerprint", "seal") if name in note}
    except (ValueError, TypeError, KeyError):
        return 0, {}


def _against_release(ledger_name: str, before: Contents | None, release_name: str, manifest: Manifest) -> str:
    """Say why a release tells that the ledger is not the newest that it was published under; '' where it does not."""
    number = _number(manifest)
    label = f"{release_name!r} is release {number} of a ledger"
    return _reason_of(ledger_name, before, label, number, {"fingerprint": fingerprint(manifest)})


def _reason_of(ledger_name: str, before: Contents | None, label: str, number: int, told: Mapping[str, str]) -> str:
    """Say why a release that is known by its number and what is told of it is none of a ledger's; '' where it is."""
    if before is None or number > before.last["number"]:
        return f"{label}, and {ledger_name!r} knows {before.last['number'] if before else 0}: {OUTDATED}"
    if not told or not told.items() <= before.releases[number - 1].items():
        return f"{label}, and not of {ledger_name!r}, whose release {number} is another one: {OUTDATED}"
    return ""


def refuse_fork(named: str, before: Contents | None, release_name: str, manifest: Manifest | None, asked: bool) -> None:
    """Raise UsageError where a release tells that the ledger is not the one that it was published under.

    release_name, manifest: a release that is to be replaced, or that `since` names (asked: it has to be the last one).
    """
    reason, last = "", before.last["number"] if before else 0
    if manifest is not None and _number(manifest):
        reason = _against_release(named, before, release_name, manifest)
        if asked and not reason and _number(manifest) != last:
            reason = (
                f"{release_name!r} is release {_number(manifest)} of a ledger, and the last one of {named!r} is {last}"
            )
    elif asked:
        reason = f"{release_name!r} is no release under a ledger; name one that was published with {option('ledger')}"
    if reason:
        raise UsageError(reason)
