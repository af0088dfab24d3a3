"""A ledger as a directory of Parquet files, which Spark writes and reads by itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import read_text
from sqlanon.engines.base import Engine
from sqlanon.errors import SourceError, SqlanonError, TargetError
from sqlanon.ledgers.contents import COLUMNS, Contents, history_text, parse_history
from sqlanon.ledgers.file_store import FileStore
from sqlanon.plans.manifest import table_files
from sqlanon.plans.templates import Sql

HISTORY = "ledger.json"


class ParquetDirectory(FileStore):
    """One run's hold on a ledger that is a directory."""

    def __init__(self, engine: Engine, path: Path) -> None:
        """Take the ledger's place; raise TargetError where a living run has it."""
        super().__init__(engine, path, opened, is_directory=True)

    @contextmanager
    def writing(self, made: Mapping[str, Sql]) -> Iterator[Mapping[str, Sql]]:
        """Write a new directory in the run's own folder."""
        files: dict[str, list[Path]] = {}
        try:
            self._file.new.mkdir(0o700)
            for table, relation in made.items():
                written = self._engine.write_parquet(f"select * from {relation}", self._file.new / f"{table}.parquet")
                files[table] = sorted(written)
        except (SqlanonError, OSError) as error:
            raise TargetError(f"cannot write the ledger: {error}") from None
        relations = {table: self._engine.read_parquet(listed) for table, listed in files.items()}
        try:
            yield relations
        finally:
            self._engine.drop([str(relation) for relation in relations.values()])

    def write_history(self, description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]]) -> None:
        """Write what the new directory says of itself."""
        try:
            (self._file.new / HISTORY).write_text(history_text(description, releases), encoding="utf-8")
        except OSError as error:
            raise TargetError(f"cannot write the ledger: {error.strerror}") from None


@contextmanager
def opened(engine: Engine, path: Path) -> Iterator[Contents]:
    """Read a ledger for the block; raise SourceError for a directory that is none."""
    try:
        description, releases = parse_history(read_text(path / HISTORY), str(path))
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{str(path)!r} is a directory, and no ledger") from None
    relations: dict[str, Sql] = {}
    views: list[str] = []
    try:
        for table in COLUMNS:
            # a pipe would be read for ever
            files = [
                path / name for name in table_files([entry.name for entry in path.iterdir() if entry.is_file()], table)
            ]
            try:
                relations[table] = engine.read_parquet(files)
                views += [relations[table], engine.in_stored_order(relations[table])]
                columns = set(engine.columns(f"select * from {relations[table]}"))
            except SqlanonError:
                columns = set()
            if columns != COLUMNS[table]:
                raise SourceError(f"{str(path)!r} is a directory, and no ledger")
        yield Contents(description, releases, relations)
    finally:
        engine.drop(views)
