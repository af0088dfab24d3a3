"""What a ledger holds: settings that its releases share, the releases, persons as keyed hashes, groups' values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.bounded_files import parse_json
from sqlanon.errors import SourceError, TargetError
from sqlanon.models import shapes
from sqlanon.plans.plan import PERSON, Changed
from sqlanon.plans.templates import Sql
from sqlanon.version import VERSION

FORMAT = 4
SEALED_BY_RELEASE = (
    3  # that of 0.2.0, with a seal for every release; it is read, and sealed as a whole with its next one
)
DESCRIPTION = "description"  # the table that says what the ledger is, and its one column
COLUMNS: Mapping[str, Mapping[str, str]] = {  # of each table, with their types; '': the type that the source has
    "person": PERSON,
    "value": {"code": "BIGINT", "sensitive": ""},
}
REMOVED = {"person": {"moves"}}  # columns of format 3 beside these
# what a ledger says of itself: this is looked at before its seal is, and members that are unknown are kept
_WORD = str
_HASH = shapes.text("[0-9a-f]{64}")
_RELEASE = shapes.record(
    {
        "number": shapes.whole(1),
        "created": _WORD,
        "fingerprint": _HASH,
        "figures": shapes.keyed(shapes.whole()),
        "manifest": _HASH,
    },
    {  # of format 3
        "description": _HASH,
        "tables": shapes.record({}, dict.fromkeys(COLUMNS, _HASH)),
        "previous": _HASH,
        "seal": _HASH,
    },
)
_HISTORY = shapes.record(
    {
        "format": shapes.word(SEALED_BY_RELEASE, FORMAT),
        "check": _HASH,
        "chain": shapes.text("[0-9a-f]{16}"),
        "method": _WORD,
        "parameters": dict,
        "sensitive": _WORD,
        "sensitive_type": _WORD,
        "identifier": shapes.several(_WORD, 1),
        "identifier_types": shapes.several(_WORD, 1),
        "quasi": shapes.several(_WORD),
        "ever_quasi": shapes.several(_WORD),
        "releases": shapes.several(_RELEASE, 1),
    },
    {"labels": shapes.keyed(_HASH), "reserve": shapes.whole(), "seal": _HASH},  # reserve: of format 3
)


def ledger_schema() -> dict[str, Any]:
    """Return the JSON schema of what a ledger says of itself; `tables`: the columns of the tables beside it."""
    title = f"what a ledger says of itself and its releases, format {FORMAT}; secret as its source is"
    return {**shapes.described(title, _HISTORY), "tables": {name: sorted(columns) for name, columns in COLUMNS.items()}}


def unknown_words(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a ledger says of itself that this version does not know, and the next release keeps in it."""
    return {name: value for name, value in description.items() if name not in _HISTORY.model_fields}


@dataclass(frozen=True)
class Contents:
    """What a ledger holds, to be read.

    description: what must stay as it is from release to release. releases: in their order, each with its number, when
    it was created, its fingerprint, its figures and a digest of its manifest. seal: what they and the tables are sealed
    with; '' where a format before had one for each release. relations: the tables `person` and `value`.
    """

    description: Mapping[str, Any]
    releases: tuple[Mapping[str, Any], ...]
    seal: str
    relations: Mapping[str, Sql]

    @property
    def last(self) -> Mapping[str, Any]:
        """Return what the ledger says of its last release."""
        return self.releases[-1]


def history_text(description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]], seal: str) -> str:
    """Write down what a ledger says of itself and its releases; raise TargetError for what no reader would take."""
    history = {**description, "releases": [*releases], "seal": seal}
    wrong = _wrong(history)
    if wrong:
        raise TargetError(f"the ledger would say what no ledger does: {wrong}")
    return json.dumps(history, ensure_ascii=False)


def _wrong(history: Mapping[str, Any]) -> str:
    """Return the path of the first value that is not as the schema says, unknown members aside; empty for none."""
    found = shapes.faults(_HISTORY, history, {})
    return shapes.shown_path(next((path for path in found if not isinstance(path, shapes.UnknownMember)), ()))


def parse_history(text: object, named: str) -> tuple[dict[str, Any], tuple[Mapping[str, Any], ...], str]:
    """Read what `history_text` wrote; raise SourceError for what is none, or is of another format."""
    try:
        description = parse_json(text) if isinstance(text, str) else None
    except ValueError:
        description = None
    if not isinstance(description, dict) or not description.get("releases"):
        raise SourceError(f"{named!r} is no ledger")
    if description.get("format") not in (SEALED_BY_RELEASE, FORMAT):
        raise SourceError(
            f"{named!r} has format {str(description.get('format'))[:20]}; this sqlanon {VERSION} reads format {FORMAT}:"
            " install one that reads it (a newer format needs a newer sqlanon), or begin another ledger, whose releases"
            " intersect with those of this one"
        )
    wrong = _wrong(description)
    if wrong:
        raise SourceError(f"{named!r} says what no ledger does: {wrong}")
    releases, seal = tuple(description.pop("releases")), description.pop("seal", "")
    return description, releases, seal


@dataclass(frozen=True)
class LedgerRequest:
    """The ledger that a release is published under, and what may differ from the release before."""

    path: str
    changed: Changed = "leave"
    since: str | None = None
    expect_departures: bool = False
    new_quasi: bool = False
