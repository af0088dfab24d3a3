"""Open DuckDB connections of our own, with limits and a private folder for what does not fit into memory."""

import atexit
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.atomic_files import OwnedFolder, remove_dead_folders
from sqlanon.engines.statement_text import first_line
from sqlanon.errors import SourceError, UsageError
from sqlanon.wording import option

MOST_THREADS = 1024


def connect(
    database: str | None = None,
    write: bool = False,
    create: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a connection of our own: in memory, or on a database file (`write`: not read only; `create`: a new one).

    Raises SourceError where there is no such file, UsageError for resources that DuckDB refuses.
    """
    if database is not None and not create and not Path(database).is_file():
        raise SourceError(f"no database file {database!r}")
    settings = _resource_settings(threads, memory_limit)
    settings["temp_directory"] = str(_spill_folder(temp_directory))
    try:
        return duckdb.connect(
            database or ":memory:", read_only=database is not None and not (write or create), config=settings
        )
    except duckdb.Error as error:
        if database is not None:
            raise SourceError(f"cannot open the database {database!r}: {first_line(error)}") from None
        raise UsageError(f"DuckDB refuses these resources: {first_line(error)}") from None


def _resource_settings(threads: int | None, memory_limit: str | None) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    # DuckDB starts as many threads as it is told, until the machine has none left
    if threads is not None and threads > MOST_THREADS:
        raise UsageError(
            f"{option('threads', threads)} is more than any machine has use for; the most is {MOST_THREADS}"
        )
    # DuckDB takes -1 for no limit at all
    if memory_limit is not None and memory_limit.strip().startswith("-"):
        raise UsageError(f"{option('memory_limit', memory_limit)} is below nothing; say for example 4GB")
    if threads is not None:
        settings["threads"] = str(threads)
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    return settings


@cache
def _spill_folder(parent: str | None) -> Path:
    """Make this process's folder for what does not fit into memory; dead processes' folders go.

    What spills is microdata: nobody else may enter the folder. (DuckDB's own encryption of spilled blocks
    needs an extension from the network, so it is not counted on.)
    """
    place = Path(parent or tempfile.gettempdir())
    remove_dead_folders(place, "sqlanon-spill-")
    folder = OwnedFolder(place, "sqlanon-spill-")
    atexit.register(folder.close)
    return folder.path / "files"
