"""The ledger's file: replaced in step with the release, so that both appear or neither.

Two names cannot be renamed at once, nor a file be written in a database's transaction. The ledger goes first: if the
run dies before its release appears, the ledger knows groups that nobody saw, which gives nothing away, while a release
that its ledger does not know would let two histories grow. A folder beside the ledger says what was under way; the next
run looks whether the release has appeared, and if it is certain that it has not, puts the previous ledger back.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlanon.atomic_files import OwnedFolder, dead_folders, flush, is_written, locked_parent
from sqlanon.bounded_files import parse_json, read_text
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SqlanonError, TargetError, undone_by
from sqlanon.read_places import require_parent
from sqlanon.releases.opening import read_schema_manifest
from sqlanon.removed import removed

INTENT, NEW, PREVIOUS, NOTE = "intent.json", "new", "previous", "note"
LONGEST_NOTE = 4096  # bytes that are read
Note = Mapping[str, Any]  # what tells whether a release has appeared


class LedgerFile:
    """One run's hold on a ledger: nobody else publishes under it until the run ends.

    present: whether there is one. new: where the next one is written. folder: the run's own, beside the ledger.
    """

    def __init__(self, path: str | Path, engine: Engine | None = None) -> None:
        """Mend what a dead run left, and keep other runs away; raise TargetError where a living one has the ledger.

        engine: the session that publishes, which may have the database open that a dead run was publishing to.
        """
        self._engine = engine
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link
        require_parent(self.path)
        with locked_parent(self.path):
            _mend(self.path, engine)
            if is_written(self.path.parent, _stem(self.path)):
                raise TargetError(f"another run publishes under {str(self.path)!r}; wait until it has ended")
            self._owned = OwnedFolder(self.path.parent, _stem(self.path))
        self.folder = self._owned.path
        self.new = self.folder / NEW
        with undone_by(self.close):
            self.present = is_there(self.path)

    def appear(self, release: Note, note: str) -> None:
        """Let `new` take the ledger's place; release: what tells whether the release, which is next, has appeared.

        note: what is put beside the ledger once the release stands.
        """
        folder = self.folder
        try:
            (folder / NOTE).write_text(note, encoding="utf-8")
            for path in (self.new, folder / NOTE):
                path.chmod(0o600)
                flush(path)
            if self.present:
                second = folder / PREVIOUS
                try:
                    os.link(self.path, second)
                except OSError:  # a file system without second names
                    shutil.copy2(self.path, second)
                    flush(second)
            intent = {**release, "ledger": self.new.stat().st_ino}
            (folder / INTENT).write_text(json.dumps(intent), encoding="utf-8")
            for path in (folder / INTENT, folder):
                flush(path)
            self.new.replace(self.path)
            flush(self.path.parent)
        except OSError as error:
            _settle(folder, self.path, appeared=False)
            raise TargetError(f"cannot write {str(self.path)!r}: {error.strerror}") from None

    def place_note(self) -> bool:
        """Put the note beside the ledger, for the release stands; tell whether that went well.

        The note is the last to change and never ahead of the ledger: where it cannot be put there, the old one stays.
        """
        return _settle(self.folder, self.path, appeared=True)

    def settle(self) -> None:
        """Put the ledger of before back where something failed, unless the release has appeared.

        What cannot be told yet the next run looks at.
        """
        try:
            _settle(self.folder, self.path, self._engine)
        except SqlanonError:  # the first error is the one to tell
            self._owned.leave()

    def close(self) -> None:
        """Let other runs publish under the ledger, and remove what is left of this one."""
        self._owned.close()


def is_there(path: Path) -> bool:
    """Tell whether there is a ledger; raise TargetError for what is none by its kind."""
    if path.is_dir() and (path / "ledger.json").is_file():
        raise TargetError(f"{str(path)!r} is a ledger of 0.2.0: {removed('ledger', 'DIRECTORY')}")
    if path.is_symlink() or (os.path.lexists(path) and path.is_dir()):
        raise TargetError(f"{str(path)!r} is no file; a ledger is a file of its own")
    return os.path.lexists(path)


def note_path(path: Path) -> Path:
    """Return the file beside a ledger that says which release was its last."""
    return path.with_name(f"{path.name}.last")


def read_note(path: Path) -> str | None:
    """Return what was noted beside the ledger at `path`; None where there is nothing, '' for what is no text."""
    try:
        return read_text(note_path(path), LONGEST_NOTE)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def mend(path: Path, engine: Engine | None = None) -> None:
    """Finish or undo what a dead run began, whoever looks next."""
    if path.parent.is_dir():
        with locked_parent(path):
            _mend(path, engine)


# -- has a release appeared? ------------------------------------------------------------------------------------------
# In doubt it did: a ledger that knows groups which nobody saw gives nothing away, while one that lacks groups which
# somebody saw would let two histories grow.


def note_directory(staged: Path) -> Note:
    """Note the directory that a release waits in: it is there until the release appears."""
    return {"staged": str(staged), "release": staged.stat().st_ino}


def note_schema(engine: Engine, schema: str) -> Note:
    """Note what stands in a schema before a release is written there, and in which database."""
    return {"database": engine.database_name(), "schema": schema, "before": _digest(engine, schema)}


def _has_not_appeared(note: Note, engine: Engine | None = None) -> bool:
    """Tell whether a release is certain not to have appeared; raise TargetError where that cannot be looked at yet."""
    if "staged" in note:
        staged = Path(str(note["staged"]))
        return staged.is_dir() and bool(staged.stat().st_ino == note["release"])
    name = note.get("database")
    if name is None:  # nothing was begun; or what was in memory is gone
        return False
    if engine is not None and _is_same(engine.database_name(), name):
        if not engine.reserve(note["schema"]):  # a session that died may commit still
            raise TargetError(f"another run is writing to the schema {note['schema']!r}; wait until it has ended")
        try:
            return _stands_still(engine, note)
        finally:
            engine.release(note["schema"])
    if not name.startswith("/"):
        raise TargetError(
            "a run that published to a server has died, and whether its release stands can only be looked at there: run"
            " again with that database (sqlanon ledger … --engine postgres)"
        )
    if not Path(name).is_file():  # what was moved away may have been seen
        return False
    try:
        other = open_duckdb(name)
    except SqlanonError:
        raise TargetError(
            f"a run that published to {name!r} has died, and whether its release stands cannot be looked at while"
            " another program has that database open: run again when it has ended"
        ) from None
    with closing(other.connection):
        return _stands_still(other, note)


def _is_same(opened: str | None, name: str) -> bool:
    if opened is None or opened == name:
        return opened is not None
    return Path(opened).is_file() and Path(name).is_file() and Path(opened).samefile(name)


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


# -- finishing and undoing --------------------------------------------------------------------------------------------


def _stem(path: Path) -> str:
    # not that of a release of this name
    return f".{path.name}.sqlanon-ledger-"


def _mend(path: Path, engine: Engine | None) -> None:
    for folder, lock in dead_folders(path.parent, _stem(path)):
        with lock:  # what cannot be looked at yet stays for the next run
            _settle(folder, path, engine)
            shutil.rmtree(folder, ignore_errors=True)


def _settle(folder: Path, path: Path, engine: Engine | None = None, appeared: bool | None = None) -> bool:
    """Note a run's release beside its ledger, or put the ledger of before back; tell whether the note is in its place.

    appeared: whether the release has; looked at where it is None.
    """
    intent = _read_intent(folder)
    if not intent or not os.path.lexists(path) or path.stat().st_ino != intent["ledger"]:
        return True  # nothing was renamed yet, or what somebody else has put there since stays
    if appeared is None:
        appeared = not _has_not_appeared(intent, engine)
    if appeared:
        try:
            (folder / NOTE).replace(note_path(path))
            flush(path.parent)
        except OSError:
            return False
    elif (folder / PREVIOUS).is_file():
        (folder / PREVIOUS).replace(path)
    else:
        path.unlink(missing_ok=True)
    return True


def _read_intent(folder: Path) -> Mapping[str, Any]:
    try:
        intent: Mapping[str, Any] = parse_json(read_text(folder / INTENT))
    except (OSError, ValueError):  # died before it was written: nothing was renamed
        return {}
    return intent
