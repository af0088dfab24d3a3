"""Open DuckDB connections of our own, with limits and a private folder for what does not fit into memory."""

import atexit
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

import duckdb

from sqlanon.atomic_files import OwnedFolder, remove_dead_folders
from sqlanon.engines.duckdb.errors import describe_unopened
from sqlanon.engines.runner import first_line
from sqlanon.errors import SourceError, UsageError
from sqlanon.interruption import interruptible
from sqlanon.plans.templates import literal
from sqlanon.wording import option

READABLE_STORAGE = "v1.4.0"  # what clients of DuckDB 1.4 and later read: new files of ours are written so
_THREADS_A_CORE = 4
_USUAL_PLACES = ("/tmp", "/var/tmp", "/usr/tmp")  # folders in them get names that nobody can guess
_ours: "WeakSet[duckdb.DuckDBPyConnection]" = WeakSet()  # that are open


def escape_pattern(path: str) -> str:
    """Take a file's own name literally where DuckDB would read a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def connect(
    database: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a connection of our own: in memory, or on a new database file.

    Raises SourceError for a file that cannot be made, UsageError for resources that DuckDB refuses.
    """
    settings: dict[str, Any] = {}
    # DuckDB takes -1 for no limit at all
    if memory_limit is not None and memory_limit.strip().startswith("-"):
        raise UsageError(f"{option('memory_limit', memory_limit)} is negative; say for example 4GB")
    if threads is not None:
        # more than these are no faster, and where the system refuses one the process dies
        settings["threads"] = str(min(threads, _THREADS_A_CORE * (os.cpu_count() or 1)))
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    # what needs an extension that is not installed is refused: nothing is fetched that nobody asked for
    settings["autoinstall_known_extensions"] = "false"
    settings["temp_directory"] = str(_spill_folder(temp_directory))
    if database is not None:
        settings["storage_compatibility_version"] = READABLE_STORAGE
    try:
        connection = duckdb.connect(database or ":memory:", config=settings)
    except duckdb.Error as error:
        if database is not None:
            raise SourceError(describe_unopened(database, error)) from None
        raise UsageError(f"DuckDB refuses these resources: {first_line(error)}") from None
    return _own(connection)


def connect_beside() -> duckdb.DuckDBPyConnection:
    """Open a connection in memory for what attaches no file and sets nothing: those of a process share one instance.

    What each makes is temporary, and its own; an instance of its own would take 20 ms to know its functions.
    """
    try:
        _instance(os.getpid()).execute("select 1").fetchall()
    except duckdb.FatalException:  # a fault of DuckDB's has shut it
        _instance.cache_clear()
    return _own(_instance(os.getpid()).cursor())


def _own(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Make a connection one of ours: it is quiet, and known to whoever interrupts or ends the process."""
    # DuckDB 2 draws a bar on standard output after two seconds, in the midst of what a program reads there; in a
    # notebook without ipywidgets it draws none, and refuses to be told
    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar = false")
    _ours.add(connection)
    interruptible.add(connection)
    return connection


@cache
def _instance(process: int) -> duckdb.DuckDBPyConnection:
    """Open what the sessions of a process share; one that was forked has none of its parent's threads."""
    instance = connect()
    # a file may be written anew between two sessions, and is read as it is when it is read
    instance.execute("set enable_external_file_cache = false")
    return instance


def attach(connection: duckdb.DuckDBPyConnection, database: str, write: bool = False) -> str:
    """Attach a database file to a connection of ours, read only unless `write`; return the name it got.

    Raises SourceError where there is no such file, or none that can be opened.
    """
    if not Path(database).is_file():
        instead = f"{option('database')} is a DuckDB file, and a server is reached as sqlanon guide engines shows"
        raise SourceError(f"no database file {database!r}; {instead if '://' in database else 'name one that exists'}")
    how = "type duckdb" if write else "type duckdb, read_only"
    try:
        try:  # by the name that DuckDB gives it, so that `hospital.main.patients` is found
            connection.execute(f"attach {literal(database)} ({how})")
        except duckdb.BinderException:  # which is taken: `memory`, the session itself
            connection.execute(f"attach {literal(database)} as attached ({how})")
    except duckdb.Error as error:
        raise SourceError(describe_unopened(database, error)) from None
    query = "select database_name from duckdb_databases() where not internal and database_name <> 'memory'"
    ((name,),) = connection.execute(query).fetchall()
    return str(name)


def confine(connection: duckdb.DuckDBPyConnection, readable: Sequence[str]) -> None:
    """Let a connection of ours read what is attached to it and these files or patterns, nothing else, for good.

    In a directory that is named it may write, too.
    """
    folders = [literal(text) for text in readable if Path(text).is_dir()]
    connection.execute(f"set allowed_directories = [{', '.join(folders)}]")
    matches = [row for text in readable for row in connection.execute("select file from glob(?)", [text]).fetchall()]
    files = [text for text in readable if Path(text).exists()] + [path for (path,) in matches]
    # what is opened is a file, and what is asked for a pattern: DuckDB looks at both
    paths = {*files, *readable, *map(escape_pattern, files)}
    connection.execute(f"set allowed_paths = [{', '.join(literal(path) for path in sorted(paths))}]")
    connection.execute("set enable_external_access = false")
    try:  # what texts of times depend on is set by us
        connection.execute("set allowed_configs = ['TimeZone']")
    except duckdb.CatalogException:  # DuckDB 1.4 lets nothing be set later: times are UTC from now on
        connection.execute("set TimeZone = 'UTC'")
    connection.execute("set lock_configuration = true")


@cache
def _spill_folder(parent: str | None) -> Path:
    """Make this process's folder for what does not fit into memory; dead processes' folders go.

    What spills is microdata: nobody else may enter the folder. (DuckDB's own encryption of spilled blocks
    needs an extension from the network, so it is not counted on.)
    """
    place = Path(parent) if parent else _system_folder()
    remove_dead_folders(place, "sqlanon-spill-")
    folder = OwnedFolder(place, "sqlanon-spill-")
    atexit.register(_leave, folder)
    return folder.path / "files"


def _system_folder() -> Path:
    """Return where the system wants temporary files.

    Python's own way writes a file to each place that comes into question, and a run that dies leaves it there.
    """
    folders = [tempfile.tempdir, *(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))]
    places = [*(os.fsdecode(folder) for folder in folders if folder), *_USUAL_PLACES]
    usable = (place for place in places if Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK))
    return Path(next(usable, _USUAL_PLACES[0])).absolute()


def _leave(folder: OwnedFolder) -> None:
    """Close what is open first: an interrupted query's threads may write into the folder while it is removed."""
    for connection in list(_ours):
        connection.close()
    folder.close()
