"""DuckDB: the engine that is always there. The only importer of `duckdb`."""

from sqlanon.engines.duckdb.connection import READABLE_STORAGE, attach, confine, connect, connect_beside
from sqlanon.engines.duckdb.engine import DuckDBEngine

__all__ = ["READABLE_STORAGE", "DuckDBEngine", "attach", "confine", "connect", "connect_beside"]
