"""What a ledger holds: what its releases have in common, these, persons under keyed hashes, the values of groups."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sqlanon.bounded_files import parse_json
from sqlanon.errors import SourceError
from sqlanon.plans import json_schema
from sqlanon.plans.templates import Sql

FORMAT = 3  # 2: moves, and the reserve that they need; 3: seals
UNSEALED = 2  # is read, and sealed with its next release
DESCRIPTION = "description"  # the table of a database that says what the ledger is, and its one column
COLUMNS = {
    "person": {"person", "group_id", "code", "entered", "standing", "mark", "class_mark", "published", "moves"},
    "value": {"code", "sensitive"},
}
# what is read of a ledger's own words before its seal is looked at
_WORD = {"type": "string"}
_RELEASE = {
    "type": "object",
    "required": ["number", "created", "fingerprint", "figures"],
    "properties": {
        "number": json_schema.whole(1),
        "created": _WORD,
        "fingerprint": _WORD,
        "figures": {"type": "object", "additionalProperties": json_schema.whole()},
        "seal": _WORD,
    },
}
_HISTORY = {
    "type": "object",
    "required": ["method", "parameters", "quasi", "ever_quasi", "reserve"],
    "properties": {
        "method": _WORD,
        "parameters": {"type": "object"},
        "quasi": json_schema.several(_WORD),
        "ever_quasi": json_schema.several(_WORD),
        "reserve": json_schema.whole(),
        "releases": json_schema.several(_RELEASE, 1),
    },
}


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

    def settle(self) -> bool:
        """Put the note beside the ledger, for the release stands; tell whether that went well."""

    def undo(self) -> None:
        """Put the ledger of before back, unless the release has appeared."""

    def close(self) -> None:
        """Let other runs publish under the ledger."""


def history_text(description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> str:
    """Write down what a ledger says of itself and its releases."""
    return json.dumps({**description, "releases": [*releases]}, ensure_ascii=False)


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
            f"{named!r} has format {description.get('format')}; this sqlanon reads format {FORMAT}: publish with one"
            " that reads it, or begin another ledger, whose releases intersect with those of this one"
        )
    wrong = next(json_schema.faults(_HISTORY, description, {}), None)
    if wrong is not None:
        raise SourceError(f"{named!r} says what no ledger does: {json_schema.shown_path(wrong)}")
    return description, tuple(description.pop("releases"))
