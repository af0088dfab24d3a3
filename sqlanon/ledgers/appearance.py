"""What a run notes of a release before its ledger appears, so that a later run can tell whether the release appeared.

In doubt it did: a ledger that knows groups which nobody saw gives nothing away, while a ledger that lacks groups which
somebody saw would let two histories grow.
"""

import hashlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SqlanonError, TargetError
from sqlanon.releases.database_targets import read_schema_manifest

Note = Mapping[str, Any]


def note_directory(staged: Path) -> Note:
    """Note the directory that a release waits in: it is there until the release appears."""
    return {"staged": str(staged), "release": staged.stat().st_ino}


def note_schema(engine: Engine, schema: str) -> Note:
    """Note what stands in a schema before a release is written there, and in which database file."""
    path = engine.database_path()
    return {"database": None if path is None else str(path), "schema": schema, "before": _digest(engine, schema)}


def has_not_appeared(note: Note, engine: Engine | None = None) -> bool:
    """Tell whether a release is certain not to have appeared; raise TargetError where that cannot be looked at yet."""
    if "staged" in note:
        staged = Path(str(note["staged"]))
        return staged.is_dir() and bool(staged.stat().st_ino == note["release"])
    path = Path(str(note.get("database") or ""))
    # nothing was begun; or what was in memory is gone, and what was moved away may have been seen
    if not path.is_file():
        return False
    opened = None if engine is None else engine.database_path()
    if engine is not None and opened is not None and opened.samefile(path):
        return _stands_still(engine, note)
    try:
        other = open_duckdb(str(path))
    except SqlanonError:
        raise TargetError(
            f"a run that published to {str(path)!r} has died, and whether its release stands cannot be looked at while"
            " another program has that database open: run again when it has ended"
        ) from None
    with closing(other.connection):
        return _stands_still(other, note)


def _stands_still(engine: Engine, note: Note) -> bool:
    return bool(_digest(engine, str(note["schema"])) == note["before"])


def _digest(engine: Engine, schema: str) -> str | None:
    """Return a hash of a schema's manifest, None where it has none."""
    if "manifest" not in (engine.tables(schema) or ()):
        return None
    try:
        text = read_schema_manifest(engine, schema)
    except SqlanonError:  # somebody else's table of that name
        text = ""
    return hashlib.sha256(text.encode()).hexdigest()
