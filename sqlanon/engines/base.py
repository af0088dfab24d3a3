"""What every engine can do for the driver; small enough to read in a minute."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from sqlanon.plan import Source
from sqlanon.secret import Key
from sqlanon.statement import Statement
from sqlanon.templates import Sql


class Engine(Protocol):
    """Run statements in one database session; nothing it makes outlives the session unless asked."""

    name: str
    dialect: str

    def source(self, text: object) -> tuple[Source, Mapping[str, str]]:
        """Find a source; return its SQL and its columns with their types, in order."""

    def create(self, statement: Statement) -> None:
        """Keep the statement's rows (table) or text (view) under its relation's name."""

    def execute(self, sql: str) -> object:
        """Run one statement that yields nothing worth keeping (transactions, schemas)."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run one SELECT and fetch every row; values keep their types."""

    def frame(self, sql: str) -> pd.DataFrame:
        """Run one SELECT and fetch it as columns."""

    def keep_key(self, relation: Sql, key: Key) -> None:
        """Put the key into a one-row relation (`secret`), as a bound parameter, never as a literal."""

    def keep_frame(self, relation: Sql, frame: pd.DataFrame) -> None:
        """Put a small table of the driver's into a relation."""

    def columns(self, sql: str) -> dict[str, str]:
        """Return the columns of a SELECT with their types, without running it."""

    def drop(self, relations: Sequence[str]) -> None:
        """Forget relations that `create` or `keep_…` made; missing ones do not matter."""

    def write_parquet(self, sql: str, path: Path) -> None:
        """Write the rows of a SELECT, in its order, to one Parquet file."""
