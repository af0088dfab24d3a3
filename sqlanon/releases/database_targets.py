"""A release as tables: in a schema of the database that the engine is connected to, or in the session alone."""

from contextlib import suppress

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, SqlanonError, TargetError, UsageError, undone_by
from sqlanon.interruption import hold_back
from sqlanon.plans.manifest import Manifest, manifest_text, parse_manifest
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.releases.companions.schema_comments import write_comments
from sqlanon.releases.targets import Target
from sqlanon.wording import option

LONGEST_NAME = 200  # bytes: a recipient names it as a file or a directory is named, which end at 255
RESERVED_SCHEMAS = ("temp", "system", "pg_catalog", "information_schema")


class SchemaTarget(Target):
    """Tables in a schema of the database that the engine is connected to, in one transaction."""

    def __init__(self, engine: Engine, schema: str, overwrite: bool) -> None:
        """Refuse an existing schema unless `overwrite` and it is a release."""
        if not schema or "\0" in schema or schema.lower() in RESERVED_SCHEMAS:
            raise TargetError(f"{schema!r} is no name for a schema of yours; choose another {option('into')}")
        if len(schema.encode("utf-8", "surrogateescape")) > LONGEST_NAME:
            raise TargetError(f"the name of the schema is longer than {LONGEST_NAME} bytes; choose a shorter one")
        self.engine, self.schema, self._name = engine, schema, engine.qualified(schema)
        self._overwrite, self._open = overwrite, False
        if not engine.reserve(schema):
            raise TargetError(f"another run is writing to the schema {schema!r}; wait until it has ended")
        with undone_by(self.close):
            self._existing = _replaceable_tables(engine, schema, overwrite)

    def __enter__(self) -> "SchemaTarget":
        """Begin the transaction, and the schema in it."""
        self.engine.begin()
        self._open = True
        with undone_by(self.__exit__):  # a with statement whose beginning fails calls none
            if _replaceable_tables(self.engine, self.schema, self._overwrite) != self._existing:
                raise TargetError(f"the schema {self.schema!r} has changed while this run was at work; it stays")
            if self._existing is None:
                self.engine.execute(f"create schema {self._name}")
            # the schema itself stays: its owner's other tables and rights are in it
            for name in self._existing or ():
                self.engine.execute(f"drop table if exists {self._name}.{ident(name)}")
        return self

    def __exit__(self, *failure: object) -> None:
        """Roll back what was not committed."""
        if self._open:
            self._open = False
            with suppress(SqlanonError):  # the first error is the one to tell
                self.engine.rollback()

    def close(self) -> None:
        """Let other runs write to the schema."""
        self.engine.release(self.schema)

    def write(self, output: Statement) -> Sql:
        """Make one table; return its name."""
        relation = Sql(f"{self._name}.{ident(output.name)}")
        self.engine.create(Statement(output.name, output.sql, "table", str(relation)), lasting=True)
        return relation

    def commit(self, manifest: Manifest) -> None:
        """Write the manifest's table and commit."""
        hold_back()
        table, text = f"{self._name}.{ident('manifest')}", literal(manifest_text(manifest))
        self.engine.create(Statement("manifest", f"select {text} as manifest", "table", table), lasting=True)
        for (name, column), comment in write_comments(manifest).items():
            commented = f"{self._name}.{ident(name)}" + (f".{ident(column)}" if column else "")
            kind = "column" if column else "table"
            self.engine.execute(f"comment on {kind} {commented} is {literal(comment)}")
        try:
            self.engine.commit()
        except SqlanonError as error:
            raise type(error)(f"{error}; {self._outcome(manifest)}") from None
        self._open = False

    def _outcome(self, manifest: Manifest) -> str:
        """Say what is visible after a commit that has failed."""
        self.__exit__()
        try:
            stands = read_schema_manifest(self.engine, self.schema) == manifest_text(manifest)
        except UsageError:  # there is no such table
            stands = False
        except SqlanonError:
            return f"whether the release is there, tells: sqlanon verify {self.schema}"
        return "the release has been published and stands" if stands else "nothing was published"


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


class SessionTarget(Target):
    """Temporary tables that live as long as the caller's session."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        """Name the tables with `prefix`."""
        self.engine, self.prefix = engine, prefix
        self._relations: list[str] = []

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


def read_schema_manifest(engine: Engine, schema: str) -> str:
    """Read the one row of a schema's manifest table."""
    rows = engine.rows(f"select manifest from {engine.qualified(schema)}.manifest")
    # in a foreign database the table may be anything
    if len(rows) != 1 or not isinstance(rows[0]["manifest"], str):
        raise ReleaseError(f"the table manifest of schema {schema!r} does not hold one manifest")
    return rows[0]["manifest"]
