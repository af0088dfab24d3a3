"""Refuse limits that no association can meet, and targets that cannot be written, before anything runs."""

from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, TargetError
from sqlanon.plans.templates import Sql
from sqlanon.read_places import check_new_file
from sqlanon.wording import option


def check_file(target: Path, overwrite: bool) -> None:
    """Raise TargetError for a file that cannot be written."""
    check_new_file(target, (".parquet", ".csv", ".json"), option("out"), overwrite)


def check_table(engine: Engine, table: str) -> Sql:
    """Return the quoted name of a new table, `table` or `schema.table`; refuse one that stands already."""
    parts = table.split(".")
    if len(parts) > 2 or not all(parts):
        raise TargetError(f"{table!r} is no name of a table; say NAME or SCHEMA.NAME")
    relation = engine.full_name(parts)
    try:
        engine.columns(f"select * from {relation}")
    except SqlanonError:
        return relation
    raise TargetError(f"the table {table!r} exists; choose another name for {option('into')}")
