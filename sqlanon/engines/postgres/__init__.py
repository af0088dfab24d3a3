"""PostgreSQL: the server runs every statement and keeps every row. The only importer of `psycopg`."""

from sqlanon.engines.postgres.connection import connect
from sqlanon.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine", "connect"]
