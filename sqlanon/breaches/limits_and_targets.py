"""Refuse limits that no association can meet, and targets that cannot be written, before anything runs."""

from pathlib import Path

from sqlanon.atomic_files import check_new_file
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, TargetError, UsageError
from sqlanon.plans.templates import Sql
from sqlanon.wording import option


def check_limits(threshold: float | None, cover: int | None) -> None:
    """Raise UsageError for limits that no association could meet or miss."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"the threshold {threshold:g} is no probability; it lies between 0 and 1")
    if cover is not None and cover < 1:
        raise UsageError(f"a cover of {cover} properties cannot be asked for; say 1 or more")


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
