"""A release as tables: in a schema of the database that the engine is connected to, or in the session alone."""

from collections.abc import Mapping
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, TargetError
from sqlanon.plans.manifest import Manifest, manifest_text, parse_manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.wording import option

RESERVED_SCHEMAS = ("temp", "system", "pg_catalog", "information_schema")


class _TableTarget:
    """What the manifest says of tables, wherever they stand."""

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return the rows of each table."""
        return {name: {"rows": count} for name, count in rows.items()}


class SchemaTarget(_TableTarget):
    """Tables in a schema of the database that the engine is connected to, in one transaction."""

    def __init__(self, engine: Engine, schema: str, overwrite: bool) -> None:
        """Refuse an existing schema unless `overwrite` and it is a release."""
        if not schema or "\0" in schema or schema.lower() in RESERVED_SCHEMAS:
            raise TargetError(f"{schema!r} is no name for a schema of yours; choose another {option('into')}")
        self.engine, self.schema = engine, schema
        self._existing = _replaceable_tables(engine, schema, overwrite)
        self._open = False

    def __enter__(self) -> "SchemaTarget":
        """Begin the transaction, and the schema in it."""
        self.engine.begin()
        self._open = True
        try:
            if self._existing is None:
                self.engine.execute(f"create schema {ident(self.schema)}")
            # the schema itself stays: its owner's other tables and rights are in it
            for name in self._existing or ():
                self.engine.execute(f"drop table if exists {ident(self.schema)}.{ident(name)}")
        except BaseException:  # a with statement whose beginning fails calls no __exit__
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """Roll back what was not committed."""
        if self._open:
            self._open = False
            self.engine.rollback()

    def write(self, output: Statement) -> Sql:
        """Make one table; return its name."""
        relation = Sql(f"{ident(self.schema)}.{ident(output.name)}")
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)), lasting=True)
        return relation

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest's table and commit."""
        table, text = f"{ident(self.schema)}.{ident('manifest')}", literal(manifest_text(manifest))
        self.engine.create(Statement("manifest", f"select {text} as manifest", "table", table), lasting=True)
        self.engine.commit()
        self._open = False


def _replaceable_tables(engine: Engine, schema: str, overwrite: bool) -> list[str] | None:
    """Return the tables that a release in `schema` may lose, None where there is no such schema."""
    tables = engine.tables(schema)
    if tables is None:
        return None
    if not overwrite:
        raise TargetError(
            f"the schema {schema!r} exists; choose another {option('into')} or say {option('overwrite', True)}"
        )
    if not tables:
        return []
    if "manifest" not in tables:
        raise TargetError(
            f"the schema {schema!r} holds tables but no release; {option('overwrite', True)} replaces releases only:"
            f" choose another {option('into')}"
        )
    return [*parse_manifest(read_schema_manifest(engine, schema), f"schema {schema}")["files"], "manifest"]


class SessionTarget(_TableTarget):
    """Temporary tables that live as long as the caller's session."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        """Name the tables with `prefix`."""
        self.engine, self.prefix = engine, prefix
        self._relations: list[str] = []

    def __enter__(self) -> "SessionTarget":
        """Begin."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Drop the tables of a failed run."""
        if failure[0] is not None:
            self.engine.drop(self._relations)

    def write(self, output: Statement) -> Sql:
        """Make one temporary table; return its name."""
        relation = ident(f"{self.prefix}{output.name}")
        # noted before it is made: creating it may fail half way
        self._relations.append(str(relation))
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)))
        return relation

    def commit(self, manifest: Manifest) -> None:
        """Do nothing: the tables stand already."""


def read_schema_manifest(engine: Engine, schema: str) -> str:
    """Read the one row of a schema's manifest table."""
    rows = engine.rows(f"select manifest from {ident(schema)}.manifest")
    # in a foreign database the table may be anything
    if len(rows) != 1 or not isinstance(rows[0]["manifest"], str):
        raise ReleaseError(f"the table manifest of schema {schema!r} does not hold one manifest")
    return rows[0]["manifest"]
