"""The format of a DuckDB file: whether clients of older versions open it, and how it becomes one that they do."""

import re
from pathlib import Path

from sqlanon.atomic_files import write_atomically
from sqlanon.engines.duckdb import READABLE_STORAGE, DuckDBEngine, attach, connect
from sqlanon.errors import SqlanonError, TargetError
from sqlanon.plans.templates import ident, literal


def unreadable_version(engine: DuckDBEngine) -> str:
    """Return the storage version of the engine's file where it is above READABLE_STORAGE, else an empty text."""
    (row,) = engine.rows(
        "select coalesce(tags['storage_version'], '') as version from duckdb_databases()"
        f" where database_name = {literal(engine.place[0])}"
    )
    version = str(row["version"]).removesuffix("+")
    return version if _numbers(version) > _numbers(READABLE_STORAGE) else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def convert(path: Path) -> None:
    """Write a DuckDB file anew in the format that older clients read, and let it take the file's place.

    Raises TargetError where that cannot be: the file then stands as it was.
    """
    _settle(path)
    rights = path.stat().st_mode & 0o777
    words = f"cannot convert {str(path)!r}"
    with write_atomically(path, words) as place:
        place.unlink()  # an empty file is no database
        engine = DuckDBEngine(connect())
        try:
            engine.execute(f"attach {literal(str(path))} as given (read_only)")
            engine.execute(f"attach {literal(str(place))} as converted (storage_version {literal(READABLE_STORAGE)})")
            engine.execute("copy from database given to converted")
            engine.execute("detach converted")
        except SqlanonError as error:
            raise TargetError(f"{words}: {error}") from None
        finally:
            engine.connection.close()
        place.chmod(rights)


def _settle(path: Path) -> None:
    """Bring what lies in the file's log into the file: beside another file it would be lost."""
    engine = DuckDBEngine(connect())
    try:
        name = attach(engine.connection, str(path), write=True)
        engine.execute(f"checkpoint {ident(name)}")
    finally:
        engine.connection.close()
