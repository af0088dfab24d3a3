"""The ledger's file or directory: replaced in step with the release, so that both appear or neither.

Two names cannot be renamed at once. The ledger goes first: if the run dies before its release appears, the ledger knows
groups that nobody saw, which gives nothing away, while a release that its ledger does not know would let two histories
grow. A folder beside the ledger says what was under way; the next run looks whether the release is still where it was
staged, and if so puts the previous ledger back.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlanon.atomic_files import OwnedFolder, dead_folders, flush, is_written, locked_parent
from sqlanon.bounded_files import parse_json, read_text
from sqlanon.engines.base import Engine
from sqlanon.errors import TargetError
from sqlanon.ledgers.appearance import Note, has_not_appeared

KEEPERS = {"file": "spark keeps directories", "directory": "other engines keep files or tables"}
INTENT, NEW, PREVIOUS, NOTE = "intent.json", "new", "previous", "note"
LONGEST_NOTE = 4096  # bytes that are read


class LedgerFile:
    """One run's hold on a ledger: nobody else publishes under it until the run ends."""

    def __init__(self, path: str | Path, engine: Engine | None = None, is_directory: bool = False) -> None:
        """Mend what a dead run left, and keep other runs away; raise TargetError where a living one has the ledger.

        engine: the session that publishes, which may have the database open that a dead run was publishing to.
        """
        self._engine, self._is_directory = engine, is_directory
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link
        if not self.path.parent.is_dir():
            raise TargetError(
                f"no directory {str(self.path.parent)!r} to keep {self.path.name!r} in; make it with mkdir -p"
            )
        with locked_parent(self.path):
            _mend(self.path, engine)
            if is_written(self.path.parent, _stem(self.path)):
                raise TargetError(f"another run publishes under {str(self.path)!r}; wait until it has ended")
            self._folder = OwnedFolder(self.path.parent, _stem(self.path))
        try:
            self.present = is_there(self.path, is_directory)
        except BaseException:
            self.close()
            raise
        self.new = self._folder.path / NEW

    def read_note(self) -> str | None:
        """Return what the last run noted beside the ledger; None where there is nothing, '' for what is no text."""
        return read_note(self.path)

    def appear(self, release: Note, note: str) -> None:
        """Let `new` take the ledger's place; release: what tells whether the release, which is next, has appeared.

        note: what `place_note` puts beside the ledger.
        """
        folder = self._folder.path
        try:
            _keep_private(self.new)
            (folder / NOTE).write_text(note, encoding="utf-8")
            _keep_private(folder / NOTE)
            numbers = {**release, "ledger": self.new.stat().st_ino}
            if self.present and not self._is_directory:
                _keep_second_name(self.path, folder / PREVIOUS)
            (folder / INTENT).write_text(json.dumps(numbers), encoding="utf-8")
            for path in (folder / INTENT, folder):
                flush(path)
            if self.present and self._is_directory:  # which no rename replaces
                self.path.rename(folder / PREVIOUS)
            self.new.replace(self.path)
            flush(self.path.parent)
        except OSError as error:
            _undo(folder, self.path)
            raise TargetError(f"cannot write {str(self.path)!r}: {error.strerror}") from None

    def place_note(self) -> bool:
        """Put the note beside the ledger, for the release stands; tell whether that went well.

        The note is the last to change and never ahead of the ledger: where it cannot be put there, the old one stays.
        """
        try:
            _place_note(self._folder.path, self.path)
        except OSError:
            return False
        return True

    def undo(self) -> None:
        """Put the ledger of before back, unless the release has appeared."""
        if has_not_appeared(_read_intent(self._folder.path), self._engine):
            _undo(self._folder.path, self.path)

    def close(self) -> None:
        """Let other runs publish under the ledger, and remove what is left of this one."""
        self._folder.close()


def is_there(path: Path, is_directory: bool = False) -> bool:
    """Tell whether there is a ledger; raise TargetError for what is none by its kind."""
    if path.is_symlink() or (os.path.lexists(path) and path.is_dir() != is_directory):
        what = "directory" if is_directory else "file"
        raise TargetError(f"{str(path)!r} is no {what}; a ledger is a {what} of its own ({KEEPERS[what]})")
    return os.path.lexists(path)


def note_path(path: Path) -> Path:
    """Return the file beside a ledger that says which release was its last."""
    return path.with_name(f"{path.name}.last")


def read_note(path: Path) -> str | None:
    """Return what was noted beside the ledger at `path`; None where there is nothing, '' for what is no text."""
    note = note_path(path)
    try:
        return read_text(note, LONGEST_NOTE)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def mend(path: Path, engine: Engine | None = None) -> None:
    """Finish or undo what a dead run began, whoever looks next."""
    if path.parent.is_dir():
        with locked_parent(path):
            _mend(path, engine)


def _stem(path: Path) -> str:
    # not that of a release of this name
    return f".{path.name}.sqlanon-ledger-"


def _mend(path: Path, engine: Engine | None) -> None:
    for folder, lock in dead_folders(path.parent, _stem(path)):
        with lock:  # what cannot be looked at yet stays for the next run
            # no directory of that name: it died between two renames, before the release could appear
            if not os.path.lexists(path) or has_not_appeared(_read_intent(folder), engine):
                _undo(folder, path)
            else:
                with suppress(OSError):
                    _place_note(folder, path)
            shutil.rmtree(folder, ignore_errors=True)


def _undo(folder: Path, path: Path) -> None:
    numbers, previous = _read_intent(folder), folder / PREVIOUS
    if numbers and not os.path.lexists(path):
        if previous.is_dir():
            previous.rename(path)
        return
    # what somebody else has put there since stays
    if not numbers or path.stat().st_ino != numbers["ledger"]:
        return
    if path.is_dir():
        path.rename(folder / "undone")
    if previous.is_file():
        previous.replace(path)
    elif previous.is_dir():
        previous.rename(path)
    else:
        path.unlink(missing_ok=True)


def _place_note(folder: Path, path: Path) -> None:
    """Put the note of a run in its place, unless the ledger that stands is not that run's."""
    numbers = _read_intent(folder)
    if numbers and os.path.lexists(path) and path.stat().st_ino == numbers["ledger"] and (folder / NOTE).is_file():
        (folder / NOTE).replace(note_path(path))
        flush(path.parent)


def _read_intent(folder: Path) -> Mapping[str, Any]:
    try:
        numbers: Mapping[str, Any] = parse_json(read_text(folder / INTENT))
    except (OSError, ValueError):  # died before it was written: nothing was renamed
        return {}
    return numbers


def _keep_private(path: Path) -> None:
    """Write a ledger through to the disk, readable for its owner alone."""
    for inside in path.iterdir() if path.is_dir() else ():
        inside.chmod(0o600)
        flush(inside)
    path.chmod(0o700 if path.is_dir() else 0o600)
    flush(path)


def _keep_second_name(path: Path, second: Path) -> None:
    try:
        os.link(path, second)
    except OSError:  # a file system without second names
        shutil.copy2(path, second)
        flush(second)
