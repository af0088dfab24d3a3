"""What a ledger holds: settings that its releases share, the releases, persons as keyed hashes, groups' values."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sqlanon.bounded_files import parse_json
from sqlanon.errors import SourceError, TargetError
from sqlanon.plans import json_schema
from sqlanon.plans.templates import Sql
from sqlanon.version import VERSION

FORMAT = 3  # 2: moves and their reserve, which are 0 since 0.3.0; 3: seals
UNSEALED = 2  # is read, and sealed with its next release
DESCRIPTION = "description"  # the table of a database that says what the ledger is, and its one column
COLUMNS = {
    "person": {"person", "group_id", "code", "entered", "standing", "mark", "class_mark", "published", "moves"},
    "value": {"code", "sensitive"},
}
# what a ledger says of itself: this is looked at before its seals are, and members that are unknown are kept
_WORD = {"type": "string"}
_HASH = json_schema.text("[0-9a-f]{64}")
_RELEASE = json_schema.record(
    {
        "number": json_schema.whole(1),
        "created": _WORD,
        "fingerprint": _HASH,
        "figures": json_schema.keyed(json_schema.whole()),
    },
    {
        "manifest": _HASH,
        "description": _HASH,
        "tables": json_schema.record({}, dict.fromkeys(COLUMNS, _HASH)),
        "previous": _HASH,
        "seal": _HASH,
    },
)
_HISTORY = json_schema.record(
    {
        "format": json_schema.word(UNSEALED, FORMAT),
        "method": _WORD,
        "parameters": {"type": "object"},
        "quasi": json_schema.several(_WORD),
        "ever_quasi": json_schema.several(_WORD),
        "reserve": json_schema.whole(),
        "releases": json_schema.several(_RELEASE, 1),
    },
    {
        "check": _HASH,
        "sensitive": _WORD,
        "sensitive_type": _WORD,
        "identifier": json_schema.several(_WORD, 1),
        "identifier_types": json_schema.several(_WORD, 1),
        "chain": json_schema.text("[0-9a-f]{16}"),
        "labels": json_schema.keyed(_HASH),
    },
)


def ledger_schema() -> dict[str, Any]:
    """Return the JSON schema of what a ledger says of itself; `tables`: the columns of the tables beside it."""
    return {
        "$schema": json_schema.DRAFT,
        "title": f"what a ledger says of itself and its releases, format {FORMAT}; secret as its source is",
        **_HISTORY,
        "tables": {name: sorted(columns) for name, columns in COLUMNS.items()},
    }


def unknown_words(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a ledger says of itself that this version does not know, and the next release keeps in it."""
    return {name: value for name, value in description.items() if name not in _HISTORY["properties"]}


@dataclass(frozen=True)
class Contents:
    """What a ledger holds, to be read.

    description: what must stay as it is from release to release. releases: in their order, each with its number, when
    it was created, its fingerprint and its figures. relations: the tables `person` and `value`.
    """

    description: Mapping[str, Any]
    releases: tuple[Mapping[str, Any], ...]
    relations: Mapping[str, Sql]

    @property
    def last(self) -> Mapping[str, Any]:
        """Return what the ledger says of its last release."""
        return self.releases[-1]


class Store(Protocol):
    """Where a ledger lies, held by one run: nobody else publishes under it until `close`.

    named: the ledger as messages name it. note_name: the file beside it that says which release was its last, None
    where there is no place for one.
    """

    named: str
    note_name: str | None

    def reading(self) -> AbstractContextManager[Contents | None]:
        """Hold what is there open for the block, None before the first release; SourceError for what is no ledger."""

    def writing(self, made: Mapping[str, Sql]) -> AbstractContextManager[Mapping[str, Sql]]:
        """Write this run's relations (`person`, `value`) as the next ledger's; in the block they are read as written.

        Raises TargetError where that fails.
        """

    def write_history(self, description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> None:
        """Write what the next ledger says of itself and its releases."""

    def read_note(self) -> str | None:
        """Return what the last run noted beside the ledger; None where there is nothing."""

    def appear(self, release: Mapping[str, Any], note: str) -> None:
        """Let the next ledger take the place of the one before; release: what tells whether the release appeared.

        note: what to say beside the ledger once the release stands.
        """

    def place_note(self) -> bool:
        """Put the note beside the ledger, for the release stands; tell whether that went well."""

    def undo(self) -> None:
        """Put the ledger of before back, unless the release has appeared."""

    def close(self) -> None:
        """Let other runs publish under the ledger."""


def history_text(description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> str:
    """Write down what a ledger says of itself and its releases; raise TargetError for what no reader would take."""
    history = {**description, "releases": [*releases]}
    wrong = _wrong(history)
    if wrong:
        raise TargetError(f"the ledger would say what no ledger does: {wrong}")
    return json.dumps(history, ensure_ascii=False)


def _wrong(history: Mapping[str, Any]) -> str:
    """Return the path of the first value that is not as the schema says, unknown members aside; empty for none."""
    unknown = {*json_schema.unknown_members(_HISTORY, history)}
    faults = (path for path in json_schema.faults(_HISTORY, history, {}) if path not in unknown)
    return json_schema.shown_path(next(faults, ()))


def parse_history(text: object, named: str) -> tuple[dict[str, Any], tuple[Mapping[str, Any], ...]]:
    """Read what `history_text` wrote; raise SourceError for what is none, or is of another format."""
    try:
        description = parse_json(text) if isinstance(text, str) else None
    except ValueError:
        description = None
    if not isinstance(description, dict) or not description.get("releases"):
        raise SourceError(f"{named!r} is no ledger")
    if description.get("format") not in (UNSEALED, FORMAT):
        raise SourceError(
            f"{named!r} has format {str(description.get('format'))[:20]}; this sqlanon {VERSION} reads format {FORMAT}:"
            " install one that reads it (a newer format needs a newer sqlanon), or begin another ledger, whose releases"
            " intersect with those of this one"
        )
    wrong = _wrong(description)
    if wrong:
        raise SourceError(f"{named!r} says what no ledger does: {wrong}")
    return description, tuple(description.pop("releases"))
