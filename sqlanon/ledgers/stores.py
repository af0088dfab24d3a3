"""Which store a ledger has: DuckDB keeps a file, Spark a directory of files, PostgreSQL tables of the server."""

from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.ledgers.contents import Store
from sqlanon.ledgers.database_file import DatabaseFile
from sqlanon.ledgers.parquet_directory import ParquetDirectory
from sqlanon.ledgers.request import Destination
from sqlanon.ledgers.server_tables import ServerTables, split_name
from sqlanon.releases.targets import MANIFEST
from sqlanon.wording import option


def open_store(named: str, engine: Engine, place: Destination) -> Store:
    """Hold the ledger of a release that goes to `place`; raise UsageError where the two do not go together."""
    if place.named is None:
        places = f"a directory, {option('out', 'DIR')}, or a schema, {option('into', 'SCHEMA')}"
        raise UsageError(f"a ledger is written in step with a release that lasts: {places}")
    if engine.dialect == "postgres":
        schema, _ = split_name(named)
        if schema == place.into or "manifest" in (engine.tables(schema) or ()):
            raise _published(named)
        return ServerTables(engine, named)
    path = Path(named).absolute()
    if place.out is not None:
        out = Path(place.out).absolute()
        if path == out or out in path.parents:
            raise _published(named)
    if (path.parent / MANIFEST).is_file():
        raise _published(named)
    return ParquetDirectory(engine, path) if engine.dialect == "spark" else DatabaseFile(engine, path)


def _published(ledger_name: str) -> UsageError:
    return UsageError(
        f"{ledger_name!r} lies in a release, which is handed on; a ledger is as secret as the source: keep it elsewhere"
    )
