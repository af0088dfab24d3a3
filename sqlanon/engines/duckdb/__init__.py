"""DuckDB: the engine that is always there. The only importer of `duckdb`."""

from sqlanon.engines.duckdb.connection import connect
from sqlanon.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine", "connect"]
