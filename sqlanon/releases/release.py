"""A published release: its tables and its manifest, opened, verified, asked, shown, written elsewhere."""

import html
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sqlanon.adversary import background_knowledge, voter_list
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import ReleaseError, UsageError, VerificationError
from sqlanon.plans.manifest import Manifest, loaded
from sqlanon.plans.plan import Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases import file_checks
from sqlanon.releases.forms import FORMS, Form, Session
from sqlanon.releases.targets import MANIFEST, DirectoryTarget, Target, read_manifest, table_files
from sqlanon.verification.checks import Check, Published, Report

if TYPE_CHECKING:
    import duckdb

TABLES = ("qit", "st")
_AGAINST = "hold against a background"
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
        self.learned: dict[str, Any] = {}
        self._asked: Session | None = None

    @property
    def form(self) -> Form:
        """Return what a release of this method offers."""
        return FORMS[self.manifest["method"]]

    @property
    def published(self) -> Published:
        """Return the tables and the manifest as verification reads them."""
        return Published(self.engine, self.tables, self.manifest)

    def table(self, name: str) -> "duckdb.DuckDBPyRelation":
        """Return a published table as its engine's lazy object (DuckDB: a relation), in its published order."""
        if name not in self.tables:
            raise ReleaseError(f"no table {name!r} in this release; it has {', '.join(self.tables)}")
        return self.engine.relation(f"select * from {self.tables[name]}")  # type: ignore[no-any-return]

    def verify(
        self, against: object = None, voters: object = None, background: object = (), r: float | None = None
    ) -> Report:
        """Check the release from its published tables; with `against`, also against its source.

        against, voters: a table, view, file, glob, or a relation-like object. background: one such, or a list: the
        distributions that an adversary knows, each with quasi columns, the sensitive column and `probability`.
        r: no posterior of theirs may be above 1/r (r > 1); without it they are reported, `report.posterior`.
        Returns a Report; `report.holds` is False where any check failed. Raises nothing for a failed check,
        UsageError or DataError for a background that is no distribution or does not fit the release.
        """
        # the manifest of a form with nested values names values by their texts, which were written in UTC
        with self.engine.snapshot() if self.form.nested else nullcontext():
            return self._verified(_named(against), _named(voters), _listed(background), r)

    def _verified(self, against: object, voters: object, tables: Sequence[object], r: float | None) -> Report:
        background_knowledge.check_r(r, tables)
        checks: tuple[Check, ...] = (file_checks.file_check(self.directory, self.manifest),)
        if checks[0].holds:
            checks = (*checks, file_checks.column_check(self.published))
        if not checks[-1].holds:
            return Report(checks)
        form = self.form.verification
        report = form.verify(self.published)
        checks = (*checks, file_checks.manifest_check(self.manifest, report), *report.checks)
        if against is not None:
            source = self.engine.find_source(against)
            checks = (*checks, *form.verify_against(self.published, *source))
            checks += (self.form.compared(self.published, *source),) if self.form.compared else ()
        unlisted = file_checks.unlisted_files(self.directory, self.manifest)
        figures = {**report.figures, **({"unlisted_files": unlisted} if unlisted else {})}
        frame = None
        if voters is not None:
            frame = voter_list.presence(self._grouped("look voters up in"), *self.engine.find_source(voters))
            figures = {**figures, "presence": voter_list.presence_figures(frame)}
        found = Report(checks, figures, frame)
        if not tables:
            return found
        grouped = self._grouped(_AGAINST)
        return background_knowledge.reported(found, grouped, background_knowledge.knowledge(grouped, tables), r)

    def _grouped(self, purpose: str) -> Published:
        if not self.form.groups:
            raise UsageError(f"a release of {self.manifest['method']} has no groups of exact values to {purpose}")
        return self.published

    def estimate(self, sql: str, estimator: str | None = None, **options: Any) -> pd.DataFrame:
        """Answer an aggregate query FROM release, with standard errors and 95 % intervals.

        sql: SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) … FROM release [WHERE …] [GROUP BY …] [ORDER BY …] [LIMIT n].
        estimator: shrinkage (the default); for groups least_squares or uniform; for randomized values closed_form,
        matrix or iterative, the last with the options transition (paper, exact), tolerance and max_iterations.
        Returns one row per answer; for each aggregate its value, `_std_error`, `_low`, `_high`; of a release of
        uncertain data for each COUNT(*) `certain`, `possible`, `expected` (`n_certain` … under the alias n).
        Raises QueryError where the query is outside this grammar.
        """
        if options and estimator != "iterative":
            raise UsageError(f"{', '.join(options)}: only the estimator iterative (of splu) takes these")
        answer: pd.DataFrame = self._session().answer(sql, estimator, **options)
        return answer

    def estimation_sql(self, sql: str, estimator: str | None = None) -> str:
        """Return the statements that `estimate` would run, in order."""
        return _texts(self._session().statements(sql, estimator))

    def verification_sql(
        self, against: object = None, voters: object = None, background: object = (), r: float | None = None
    ) -> str:
        """Return the statements that `verify` would run, in order."""
        form = self.form.verification
        against, voters, tables = _named(against), _named(voters), _listed(background)
        background_knowledge.check_r(r, tables)
        texts = form.queries(self.published)
        if against is not None:
            source = self.engine.find_source(against)
            texts += form.against_queries(self.published, *source)
            texts += self.form.compared_queries(self.published, *source) if self.form.compared_queries else []
        if voters is not None:
            texts.append(
                voter_list.presence_query(self._grouped("look voters up in"), *self.engine.find_source(voters))
            )
        statements = [Statement(name, sql, "query") for name, sql in texts]
        if tables:
            statements += background_knowledge.queries(self._grouped(_AGAINST), tables)
        return _texts((statement.name, self.engine.text(statement)) for statement in statements)

    def _session(self) -> Session:
        if self._asked is None:
            self._asked = self.form.session(self.engine, self.tables, self.manifest)
        return self._asked

    def write(self, directory: str | Path, overwrite: bool = False) -> "Release":
        """Write the release to a directory (Parquet and release.json), verified, whole or not at all."""
        outputs = [Statement(name, self._sorted(name)) for name in self.tables]
        with DirectoryTarget(self.engine, directory, overwrite) as target:
            published(self.engine, target, outputs, self.manifest)
        return open_release(directory)

    def _sorted(self, name: str) -> str:
        nested = self.form.nested_columns(self.manifest)
        shown = sorted(
            self.form.verification.published_columns(self.manifest)[name], key=lambda column: column in nested
        )
        order = ", ".join(f"{ident(column)} asc nulls last" for column in shown)
        return f"select * from {self.tables[name]} order by {order}"

    def require_unchanged(self) -> None:
        """Raise ReleaseError where a file is missing or is not the one that the manifest describes."""
        check = file_checks.file_check(self.directory, self.manifest)
        if not check.holds:
            wrong = ", ".join(f"{name} ({found})" for name, found in dict(check.found).items())  # type: ignore[call-overload]
            raise ReleaseError(
                f"these files are not those of the release's manifest: {wrong} (sha256 mismatch);"
                " get a fresh copy from its publisher"
            )

    # -- showing ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Say in one line what this is."""
        manifest = self.manifest
        said = f"{manifest['method']} {manifest['parameters']}"
        return f"<Release: {said}, {manifest['rows']} rows>"

    def _repr_html_(self) -> str:
        """Show the manifest's main lines and the first rows of each table."""
        manifest = self.manifest
        lines = {
            "method": manifest["method"],
            "parameters": manifest["parameters"],
            "rows": manifest["rows"],
            "groups": manifest.get("groups"),
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


def _named(table: object) -> object:
    """Return a path as the text by which engines find its file."""
    return os.fspath(table) if isinstance(table, os.PathLike) else table


def _listed(tables: object) -> list[object]:
    return [_named(table) for table in (tables if isinstance(tables, list | tuple) else [tables])]


def _texts(named: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"-- {name}\n{sql};" for name, sql in named) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    return str(value)


def published(
    engine: Engine,
    target: Target,
    outputs: Iterable[Statement],
    manifest: Manifest,
    against: Any = None,
    accept: Callable[[Manifest], None] | None = None,
    known: Sequence[tuple[str, Source, Mapping[str, str]]] = (),
) -> tuple[Manifest, dict[str, Sql], Report]:
    """Write `outputs` to `target`, verify what was written, and let it become visible only then.

    against: (Source, types) of the microdata, to compare multisets with; None where it is not at hand.
    accept: looks at the finished manifest last, and raises where the release is not wanted.
    known: backgrounds (name, source, types) whose posteriors are looked at, and held to 1/r where that is promised.
    Raises VerificationError where a check fails: nothing becomes visible.
    """
    tables = {}
    for output in outputs:
        log.info("writing %s", output.name)
        tables[output.name] = target.write(output)
    log.info("verifying release")
    written = Published(engine, tables, manifest)
    form = FORMS[manifest["method"]].verification
    report = form.verify(written)
    if against is not None:
        report = replace(report, checks=(*report.checks, *form.verify_against(written, *against)))
    if known:
        promised = manifest["parameters"]["r"] if manifest["parameters"]["guarantee"] == "exact" else None
        report = background_knowledge.reported(report, written, background_knowledge.matched(written, known), promised)
    if not report.holds:
        raise VerificationError(f"the release failed its own verification and was not published: {report.failed()}")
    figures = report.figures
    complete = {
        **manifest,
        "rows": figures["rows"],
        "groups": figures.get("groups"),
        "guarantee": form.guarantee(manifest, figures["rows"]),
        "files": target.files({name: figures[f"{name}_rows"] for name in tables}),
        "verified": form.verified(report),
    }
    if accept is not None:
        accept(complete)
    log.info("committing release")
    target.commit(complete)
    return complete, tables, report


def open_release(path: str | Path, database: str | None = None, engine: Engine | None = None) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) the name of a schema in it.

    engine: the session to open it in; a new one on `database` (or in memory) if None.
    Raises ReleaseError where there is none, or both. Files are not compared with the manifest here; verify does.
    """
    directory = Path(path)
    if database is None and (engine is None or "directory" in engine.places):
        if not directory.is_dir():
            raise ReleaseError(f"no release directory {str(path)!r}; a schema's name needs its --database")
        return _open_directory(directory, engine or DuckDBEngine(connect()))
    engine = engine or DuckDBEngine(connect(database))
    schema = engine.tables(str(path)) is not None
    if directory.is_dir() and "directory" in engine.places:
        if schema:
            raise ReleaseError(
                f"{str(path)!r} is a schema of the database and a directory; name the directory as {f'./{path}'!r},"
                " or the schema from another folder"
            )
        return _open_directory(directory, engine)
    return _open_schema(str(path), engine)


def _known(manifest: Manifest, where: str, engine: Engine) -> Manifest:
    """Refuse a method that this version lacks, and what its form does not understand: a manifest, an engine."""
    if manifest["method"] not in FORMS:
        raise ReleaseError(f"{where} was made by the method {manifest['method']!r}, which this sqlanon does not know")
    form = FORMS[manifest["method"]]
    if form.dialects and engine.dialect not in form.dialects:
        raise UsageError(
            f"a release of {manifest['method']} holds lists, which are read with {', '.join(form.dialects)}, not with"
            f" {engine.dialect}"
        )
    form.verification.check_manifest(manifest, where)
    return manifest


def _open_directory(directory: Path, engine: Engine) -> Release:
    path = directory / MANIFEST
    try:
        if not path.is_file():
            raise FileNotFoundError(path)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReleaseError(f"{str(directory)!r} holds no readable {MANIFEST}: it is not a release") from None
    manifest = _known(loaded(text, str(directory)), str(directory), engine)
    names = FORMS[manifest["method"]].verification.TABLES
    files = {name: table_files(manifest["files"], name) or [f"{name}.parquet"] for name in names}
    tables = {name: engine.read_parquet([directory / file for file in listed]) for name, listed in files.items()}
    return Release(engine, tables, manifest, directory)


def _open_schema(schema: str, engine: Engine) -> Release:
    if "manifest" not in (engine.tables(schema) or ()):
        raise ReleaseError(f"no release in the schema {schema!r}: it has no table manifest")
    manifest = _known(loaded(read_manifest(engine, schema), f"schema {schema}"), f"schema {schema}", engine)
    names = FORMS[manifest["method"]].verification.TABLES
    tables = {name: Sql(f"{ident(schema)}.{ident(name)}") for name in names}
    return Release(engine, tables, manifest)
