"""What ledgers in a file and ledgers in a directory share: a new one replaces the one before."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.ledgers.contents import Contents
from sqlanon.ledgers.ledger_file import LedgerFile, note_path

Opener = Callable[[Engine, Path], AbstractContextManager[Contents]]


class FileStore:
    """One run's hold on a ledger in the file system."""

    def __init__(self, engine: Engine, path: Path, open_contents: Opener, is_directory: bool = False) -> None:
        """Mend what a dead run left, and keep other runs away; raise TargetError where a living one has the ledger."""
        self.named, self._engine, self._open_contents = str(path), engine, open_contents
        self._file = LedgerFile(path, engine, is_directory)
        self.note_name: str | None = str(note_path(path))
        self.read_note = self._file.read_note
        self.appear, self.place_note = self._file.appear, self._file.place_note
        self.undo, self.close = self._file.undo, self._file.close

    @contextmanager
    def reading(self) -> Iterator[Contents | None]:
        """Hold what is there open for the block."""
        if not self._file.present:
            yield None
            return
        with self._open_contents(self._engine, self._file.path) as contents:
            yield contents
