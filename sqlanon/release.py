"""A published release: its tables and its manifest, opened, verified, asked, shown, written elsewhere."""

import html
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sqlanon import estimation, verification
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import ReleaseError, VerificationError
from sqlanon.manifest import Manifest, loaded
from sqlanon.methods import METHODS
from sqlanon.statement import Statement
from sqlanon.targets import (
    MANIFEST,
    DirectoryTarget,
    Target,
    read_manifest,
    sha256,
    table_files,
)
from sqlanon.templates import Sql, ident
from sqlanon.verification import Check, Published, Report

if TYPE_CHECKING:
    import duckdb

TABLES = ("qit", "st")
log = logging.getLogger("sqlanon")


class Release:
    """Hold the published tables of one release and what its manifest says of them."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Manifest,
        directory: Path | None = None,
        sql: str = "",
    ) -> None:
        """Take tables that stand in `engine`; `directory` is where their files lie, if they are files."""
        self.engine, self.tables, self.manifest, self.directory = engine, dict(tables), manifest, directory
        self.sql = sql
        self.notes: list[str] = []
        self._asked: estimation.Session | None = None

    @property
    def published(self) -> Published:
        """Return the tables and the manifest as verification reads them."""
        return Published(self.engine, self.tables, self.manifest)

    def table(self, name: str) -> "duckdb.DuckDBPyRelation":
        """Return a published table as its engine's lazy object (DuckDB: a relation), in its published order."""
        if name not in self.tables:
            raise ReleaseError(f"no table {name!r} in this release; it has {', '.join(self.tables)}")
        return self.engine.relation(f"select * from {self.tables[name]}")  # type: ignore[no-any-return]

    def verify(self, against: object = None, voters: object = None) -> Report:
        """Check the release from its published tables; with `against`, also against its source.

        against, voters: a table, view, file, glob, or a relation-like object.
        Returns a Report; `report.holds` is False where any check failed. Raises nothing for a failed check.
        """
        missing = tuple(self._file_checks())
        columns = self._column_check() if all(check.holds for check in missing) else None
        checks = (*missing, *((columns,) if columns else ()))
        if not all(check.holds for check in checks):
            return Report(checks)
        report = verification.verify_groups(self.published)
        checks = (*checks, *report.checks)
        if against is not None:
            checks = (*checks, *verification.verify_against(self.published, *self.engine.source(against)))
        report = replace(report, checks=checks)
        if voters is None:
            return report
        frame = verification.presence(self.published, *self.engine.source(voters))
        figures = {**report.figures, "presence": verification.presence_figures(frame)}
        return replace(report, presence=frame, figures=figures)

    def estimate(self, sql: str, estimator: str = "shrinkage") -> pd.DataFrame:
        """Answer an aggregate query FROM release, with standard errors and 95 % intervals.

        sql: SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) … FROM release [WHERE …] [GROUP BY …] [ORDER BY …] [LIMIT n].
        estimator: shrinkage, least_squares or uniform.
        Returns one row per answer; for each aggregate its value, `_std_error`, `_low`, `_high`.
        Raises QueryError where the query is outside this grammar.
        """
        return self._session().answer(sql, estimator)

    def estimation_sql(self, sql: str, estimator: str = "shrinkage") -> str:
        """Return the statements that `estimate` would run, in order."""
        return _texts(self._session().statements(sql, estimator))

    def verification_sql(self, against: object = None, voters: object = None) -> str:
        """Return the statements that `verify` would run, in order."""
        texts = verification.queries(self.published)
        if against is not None:
            texts += verification.against_queries(self.published, *self.engine.source(against))
        if voters is not None:
            texts.append(verification.presence_query(self.published, *self.engine.source(voters)))
        return _texts((name, self.engine.text(Statement(name, sql, "query"))) for name, sql in texts)

    def _session(self) -> estimation.Session:
        if self._asked is None:
            self._asked = estimation.Session(self.engine, self.tables, self.manifest)
        return self._asked

    def write(self, directory: str | Path, overwrite: bool = False) -> "Release":
        """Write the release to a directory (Parquet and release.json), verified, whole or not at all."""
        outputs = [Statement(name, self._sorted(name)) for name in self.tables]
        with DirectoryTarget(self.engine, directory, overwrite) as target:
            published(self.engine, target, outputs, self.manifest)
        return open_release(directory)

    def _sorted(self, name: str) -> str:
        shown = verification.published_columns(self.manifest)[name]
        order = ", ".join(f"{ident(column)} asc nulls last" for column in shown)
        return f"select * from {self.tables[name]} order by {order}"

    # -- looking at the files -------------------------------------------------------------------

    def _file_checks(self) -> Iterator[Check]:
        files = self.manifest["files"]
        if self.directory is None:
            yield Check("files", sorted(files), sorted(files), True)
            return
        required = {name: said.get("sha256") for name, said in files.items()}
        found = {
            name: sha256(path) if (path := _inside(self.directory, name)).is_file() else "missing" for name in files
        }
        wrong = {name: found[name] for name in files if found[name] != required[name]}
        lacking = {f"{table}.parquet" for table in TABLES if not table_files(files, table)}
        holds = not wrong and not lacking
        yield Check(
            "files",
            {name: required[name] for name in (wrong or required)},
            {**wrong, **dict.fromkeys(sorted(lacking), "not in the manifest")} if not holds else "as the manifest says",
            holds,
        )

    def _column_check(self) -> Check:
        required = verification.published_columns(self.manifest)
        found = {name: list(self.engine.columns(f"select * from {self.tables[name]}")) for name in TABLES}
        return Check("columns", required, found, required == found)

    def require_unchanged(self) -> None:
        """Raise ReleaseError where a file is missing or is not the one that the manifest describes."""
        for check in self._file_checks():
            if not check.holds:
                raise ReleaseError(
                    f"the release's files are not those of its manifest: {check.found} (sha256 mismatch);"
                    " get a fresh copy from its publisher"
                )

    # -- showing ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Say in one line what this is."""
        manifest = self.manifest
        said = f"{manifest['method']} {manifest['parameters']}"
        return f"<Release: {said}, {manifest['rows']} rows, {manifest['groups']} groups>"

    def _repr_html_(self) -> str:
        """Show the manifest's main lines and the first rows of each table."""
        manifest = self.manifest
        lines = {
            "method": manifest["method"],
            "parameters": manifest["parameters"],
            "rows": manifest["rows"],
            "groups": manifest["groups"],
            "guarantee": manifest.get("guarantee", {}),
        }
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(str(key))}</th><td>{html.escape(_plain(value))}</td></tr>"
            for key, value in lines.items()
        )
        shown = "".join(
            f"<td style='vertical-align:top'><b>{name}</b>"
            f"{self.engine.frame(f'select * from {relation} limit 5').to_html(index=False)}</td>"
            for name, relation in self.tables.items()
        )
        return f"<table>{rows}</table><table><tr>{shown}</tr></table>"


def _texts(named: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"-- {name}\n{sql};" for name, sql in named) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    return str(value)


def _inside(directory: Path, name: str) -> Path:
    if Path(name).name != name or name in (".", ".."):
        raise ReleaseError(f"the manifest names a file outside the release: {name!r}")
    return directory / name


def published(
    engine: Engine,
    target: Target,
    outputs: Iterable[Statement],
    manifest: Manifest,
    against: Any = None,
    accept: Callable[[Manifest], None] | None = None,
) -> tuple[Manifest, dict[str, Sql]]:
    """Write `outputs` to `target`, verify what was written, and let it become visible only then.

    against: (Source, types) of the microdata, to compare multisets with; None where it is not at hand.
    accept: looks at the finished manifest last, and raises where the release is not wanted.
    Raises VerificationError where a check fails: nothing becomes visible.
    """
    tables = {}
    for output in outputs:
        log.info("writing %s", output.name)
        tables[output.name] = target.write(output)
    log.info("verifying release")
    written = Published(engine, tables, manifest)
    report = verification.verify_groups(written)
    checks = report.checks
    if against is not None:
        checks = (*checks, *verification.verify_against(written, *against))
    report = replace(report, checks=checks)
    if not report.holds:
        raise VerificationError(f"the release failed its own verification and was not published: {report.failed()}")
    figures = report.figures
    complete = {
        **manifest,
        "rows": figures["rows"],
        "groups": figures["groups"],
        "files": target.files({"qit": figures["qit_rows"], "st": figures["st_rows"]}),
        "verified": {check.name: check.found for check in report.checks}
        | {key: value for key, value in figures.items() if key not in ("rows", "groups", "qit_rows", "st_rows")},
    }
    if accept is not None:
        accept(complete)
    log.info("committing release")
    target.commit(complete)
    return complete, tables


def open_release(path: str | Path, database: str | None = None, engine: Engine | None = None) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) the name of a schema in it.

    engine: the session to open it in; a new one on `database` (or in memory) if None.
    Raises ReleaseError where there is none. Files are not compared with the manifest here; verify does.
    """
    directory = Path(path)
    if engine is not None and "directory" not in engine.places:
        return _open_schema(str(path), engine)
    if not directory.is_dir():
        if database is None:
            raise ReleaseError(f"no release directory {str(path)!r}; a schema's name needs its --database")
        return _open_schema(str(path), engine or DuckDBEngine(connect(database)))
    return _open_directory(directory, engine or DuckDBEngine(connect(database)))


def _known(manifest: Manifest, where: str) -> Manifest:
    """Refuse a method that this version does not have, and tables that are not a QIT and an ST."""
    if manifest["method"] not in METHODS:
        raise ReleaseError(f"{where} was made by the method {manifest['method']!r}, which this sqlanon does not know")
    columns, l = manifest["columns"], manifest["parameters"].get("l")
    if len(columns["sensitive"]) != 1 or not {"group", "count"} <= set(columns):
        raise ReleaseError(f"the manifest of {where} does not describe a QIT and an ST")
    if not isinstance(l, int) or isinstance(l, bool) or l < 1:
        raise ReleaseError(f"the manifest of {where} does not say its l")
    return manifest


def _open_directory(directory: Path, engine: Engine) -> Release:
    try:
        text = (directory / MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReleaseError(f"{str(directory)!r} holds no readable {MANIFEST}: it is not a release") from None
    manifest = _known(loaded(text, str(directory)), str(directory))
    files = {name: table_files(manifest["files"], name) or [f"{name}.parquet"] for name in TABLES}
    tables = {name: engine.parquet([directory / file for file in listed]) for name, listed in files.items()}
    return Release(engine, tables, manifest, directory)


def _open_schema(schema: str, engine: Engine) -> Release:
    if "manifest" not in (engine.tables(schema) or ()):
        raise ReleaseError(f"no release in the schema {schema!r}: it has no table manifest")
    manifest = _known(loaded(read_manifest(engine, schema), f"schema {schema}"), f"schema {schema}")
    tables = {name: Sql(f"{ident(schema)}.{ident(name)}") for name in TABLES}
    return Release(engine, tables, manifest)
