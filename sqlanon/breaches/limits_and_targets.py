"""Refuse limits that no association could meet, and places that cannot be written, before anything runs."""

import os
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, TargetError, UsageError
from sqlanon.plans.templates import Sql, ident
from sqlanon.wording import option


def check_limits(threshold: float | None, cover: int | None) -> None:
    """Raise UsageError for limits that no association could meet or miss."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"the threshold {threshold:g} is no probability; it lies between 0 and 1")
    if cover is not None and cover < 1:
        raise UsageError(f"a cover of {cover} properties cannot be asked for; say 1 or more")


def check_file(target: Path, overwrite: bool) -> None:
    """Raise TargetError for a file that cannot be written."""
    if target.suffix not in (".parquet", ".csv", ".json"):
        raise TargetError(f"{target.name!r} does not end in .parquet, .csv or .json")
    if not target.parent.is_dir():
        raise TargetError(f"no directory {str(target.parent)!r} to write {target.name!r} in")
    if os.path.lexists(target) and not (overwrite and target.is_file() and not target.is_symlink()):
        raise TargetError(f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}")


def check_table(engine: Engine, table: str) -> Sql:
    """Return the quoted name of a new table, `table` or `schema.table`; refuse one that stands already."""
    parts = table.split(".")
    if len(parts) > 2 or not all(parts):
        raise TargetError(f"{table!r} is no name of a table; say NAME or SCHEMA.NAME")
    relation = Sql(".".join(ident(part) for part in parts))
    try:
        engine.columns(f"select * from {relation}")
    except SqlanonError:
        return relation
    raise TargetError(f"the table {table!r} exists; choose another name for {option('into')}")
