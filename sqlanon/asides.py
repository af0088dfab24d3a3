"""What a publisher keeps beside a release, for nobody else: tables that a plan names as asides."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import SqlanonError, TargetError
from sqlanon.staging import OwnedFolder, remove_dead_folders
from sqlanon.statement import Statement
from sqlanon.templates import Sql, literal

STEM = ".sqlanon-aside-"
FORMATS = {".parquet": "format parquet, compression zstd", ".csv": "format csv, header true"}


def check(paths: Sequence[Path], overwrite: bool) -> None:
    """Refuse paths that cannot be written: another format, no folder, a file that stands there."""
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise TargetError(f"{str(path)!r} is neither .parquet nor .csv")
        if not path.parent.is_dir():
            raise TargetError(f"no folder {str(path.parent)!r} to write {path.name!r} in")
        if path.exists() and not overwrite:
            raise TargetError(f"{str(path)!r} stands already; say --overwrite to replace it")
    if len({path.absolute() for path in paths}) < len(paths):
        raise TargetError("two files of one name were asked for")


@contextmanager
def saved(engine: Engine, asides: Sequence[Statement], paths: Sequence[Path]) -> Iterator[None]:
    """Write each aside into a folder beside its path, for its owner alone; they appear when the block ends well.

    What a dead run left of these folders goes first: they hold what the data teaches of small groups.
    """
    with ExitStack() as stack:
        waiting = []
        for aside, path in zip(asides, paths, strict=True):
            remove_dead_folders(path.parent, STEM)
            folder = OwnedFolder(path.parent, STEM)
            stack.callback(folder.close)
            waiting.append(folder.path / path.name)
            _write(engine, aside, waiting[-1], FORMATS[path.suffix.lower()])
        yield
        for place, path in zip(waiting, paths, strict=True):
            place.replace(path)


def _write(engine: Engine, aside: Statement, place: Path, how: str) -> None:
    """Write one table; the file is the owner's before anything is in it."""
    writer = DuckDBEngine(connect())
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        writer.keep_frame(Sql("aside"), engine.frame(aside.sql))
        writer.execute(f"copy (select * from aside order by all) to {literal(str(place))} ({how}, use_tmp_file false)")
        place.chmod(0o600)
    except (OSError, SqlanonError) as error:
        raise TargetError(f"cannot write {place.name}: {error}") from None
    finally:
        writer.connection.close()
