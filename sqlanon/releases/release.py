"""A published release: its tables and its manifest, opened, verified, asked, shown, written elsewhere."""

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import sqlanon
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb, open_reader
from sqlanon.errors import ReleaseError, SqlanonError
from sqlanon.interruption import visible_or_not
from sqlanon.models.fields import verb
from sqlanon.models.publication import Bound, Completable, Seed, Tables
from sqlanon.plain_values import cell, plain, visible
from sqlanon.plans.plan import Statement
from sqlanon.plans.templates import Sql, ident
from sqlanon.read_places import MANIFEST
from sqlanon.releases.asked_release import AskedRelease
from sqlanon.releases.opening import RELEASE, find_in_directory, find_in_schema, releases_in
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Section, Verdict, write_card, write_summary
from sqlanon.verification.checks import PublishedTables, Report
from sqlanon.wording import find_near, option, spoken

if TYPE_CHECKING:
    import duckdb

    from sqlanon.adversary.completed import Completed
    from sqlanon.models.values import Names
    from sqlanon.releases.verification_run import Evidence


Earlier = Annotated["str | Path | Release | None", RELEASE]
SHOWN_ROWS = 10  # of each table


class Release(AskedRelease):
    """A release as whoever holds it has it: proved, asked, completed, shown, written elsewhere."""

    expected = ""  # what an attack was expected to reach, in words, where that was looked at as it was published
    reopen: "Callable[[Sequence[str]], Release] | None" = None  # in a session that reads these files, too

    @verb
    def table(self, name: str) -> "duckdb.DuckDBPyRelation":
        """Return a published table as its engine's lazy object (DuckDB: a relation), in its published order.

        name: one of `tables` (`qit`, `st`, `data`). Raises ReleaseError for another.
        """
        if name not in self.tables:
            raise ReleaseError(f"no table {name!r} in this release; it has {', '.join(self.tables)}")
        relation: duckdb.DuckDBPyRelation = self.engine.relation(f"select * from {self.tables[name]}")
        return relation

    @verb
    def verify(
        self,
        against: object = None,
        voters: object = None,
        background: Any = (),
        r: Bound = None,
        since: Earlier = None,
        query: str | None = None,
        coarsen: Any = None,
        id: "Names" = (),
        vary: str | None = None,
    ) -> Report:
        """Check the release from its published tables; with `against`, also against its source.

        against, voters: a table, view, file, glob, or a relation-like object. query: in place of `against`. background:
        one such, or a list: the distributions that an adversary knows, each with quasi columns, the sensitive column
        and `probability`. since: an earlier release of the same ledger, its directory or schema: groups in both have
        the same lines. coarsen, id, vary: as for `sqlanon.attack`. What is found of `voters` is `report.presence`, a
        row for all voters whose quasi values are the same, and of posteriors `report.posterior`.
        Returns a Report; `report.holds` is False where any check failed, None where none did and the promise is not
        proved (groups that mix signatures are proved by their background). Raises nothing for a failed check,
        UsageError or DataError for a background that is no distribution or does not fit the release.
        """
        from sqlanon.releases.verification_run import Evidence, check_since  # whoever only asks does not verify

        evidence = Evidence.of(self.engine.dialect, against, voters, background, r, query, coarsen, id, vary)
        if self.reopen is not None and (evidence.named or isinstance(since, str | Path)):
            inputs = [*evidence.named, *([str(since)] if isinstance(since, str | Path) else [])]
            return self.reopen(inputs).verify(evidence.against, voters, background, r, since)
        report = self._read_steadily(lambda: self._verify(evidence))
        if since is None or report.holds is False:  # what fails by itself need not be compared
            return report
        return replace(report, checks=(*report.checks, check_since(self.published_tables, self._earlier(since))))

    def _earlier(self, since: "str | Path | Release") -> PublishedTables:
        """Return the tables of an earlier release, in this one's session."""
        # the name of a schema is one of this database's
        database = None if self.place.schema is None else ""
        opened = since if isinstance(since, Release) else open_release(since, database, self.engine)
        return replace(opened.published_tables, engine=self.engine)

    def _verify(self, evidence: "Evidence") -> Report:
        from sqlanon.releases.verification_run import verify_release

        # the manifest of a form with nested values names values by their texts, which were written in UTC
        with self.engine.snapshot() if self.form.nested else nullcontext(), closing(self.published_tables) as published:
            return verify_release(published, self.form, self.place, evidence)

    @verb
    def verification_sql(self, *, since: Earlier = None, **evidence: Any) -> str:
        """Return the statements that `verify` would run, in order, each under its name in a comment; none is run.

        since, evidence: as for `verify`, with its errors.
        """
        from sqlanon.releases.verification_run import Evidence, since_query, verification_statements

        given = Evidence.of(self.engine.dialect, **evidence)
        with closing(self.published_tables) as published:
            statements = verification_statements(published, self.form, given)
        if since is not None:
            statements.append(("since", since_query(self.published_tables, self._earlier(since))))
        return "\n\n".join(f"-- {' '.join(visible(name).split())}\n{sql};" for name, sql in statements) + "\n"

    @verb
    def complete(
        self,
        tables: Tables = 10,
        seed: Seed = None,
        sensitive: Completable = None,
    ) -> "Completed":
        """Return tables of plausible microdata, drawn from a model that is learned from this release alone.

        Raises UsageError for a release, a number or a column that cannot be used, ReleaseError for a damaged release.
        """
        from sqlanon.adversary.completed import complete_release

        self.require_unchanged()
        request = (self.engine, self.tables, self.manifest, tables, seed, self.directory, sensitive)
        opening, parts = self.form.completion, self.form.has_several(self.manifest)
        return self._read_steadily(lambda: complete_release(*request, opening=opening, parts=parts))

    @verb
    def write(self, directory: str | Path, overwrite: bool = False) -> "Release":
        """Write the release to a directory (Parquet and release.json), verified, whole or not at all.

        directory: must not exist, unless `overwrite` and it is a release, whose listed files are replaced. Returns the
        Release that lies there. Raises TargetError where it cannot take the place, VerificationError where a check
        fails.
        """
        from sqlanon.releases.targets import DirectoryTarget
        from sqlanon.releases.verified_write import write_verified

        if self.reopen is not None:
            return self.reopen([str(Path(directory).absolute().parent)]).write(directory, overwrite)
        outputs = [Statement(name, self._select_sorted(name)) for name in self.tables]
        with visible_or_not(), DirectoryTarget(self.engine, directory, overwrite) as target:
            write_verified(self.engine, target, outputs, self.manifest)
        return open_release(directory)

    def _select_sorted(self, name: str) -> str:
        # nested values come last: no engine need compare them where the rows differ before
        nested = self.form.nested_columns(self.manifest)
        columns = self.form.published_columns(self.manifest)[name]
        terms = [f"{ident(column)} asc nulls last" for column in sorted(columns, key=lambda column: column in nested)]
        return f"select * from {self.tables[name]} order by {', '.join(terms)}"

    def attack(self, **options: Any) -> Any:
        """Return what an adversary gets out of this release: `sqlanon.attack` with its options, and what it raises."""
        return sqlanon.attack(self, **options)

    def report(self, out: "str | Path | None" = None, **options: Any) -> Any:
        """Return the page about this release: `sqlanon.report` with its options, and what it raises; out: the file."""
        return sqlanon.report(self, out, **options)

    def __getattr__(self, name: str) -> Any:
        """Return a published table by its name: `release.qit`, `release.st`, `release.data`."""
        if name in self.__dict__.get("tables", ()):
            return self.table(name)
        raise AttributeError(f"a release has no {name!r}; its tables are {', '.join(self.__dict__.get('tables', ()))}")

    def __len__(self) -> int:
        """Return how many rows are published."""
        return int(self.manifest["rows"])

    def __bool__(self) -> bool:
        """Tell that this is a release, however many rows it has."""
        return True

    @property
    def verdict(self) -> Verdict:
        """Return what is promised; it was verified before it appeared, and `verify` does so again."""
        summary = self.form.summary(self.manifest, "these tables")
        words = f"{spoken(summary['published'])}. Promised: {spoken(summary['promised'])}."
        return Verdict(f"{words} Attacks reach: {self.expected}." if self.expected else words)

    def sections(self) -> list[Section]:
        """Return what is shown below: the first rows as they are published, all else folded."""
        summary = self.form.summary(self.manifest, "these tables")
        lines = [
            [name, spoken(text)] for name, text in summary.items() if name not in ("files", "published", "promised")
        ]
        return [
            *(Section(f"{name}, the first rows", _sample(self.engine, relation), False)
              for name, relation in self.tables.items()),
            *(Section(title, write_table(heads, rows) + write_paragraphs(closing))
              for title, heads, rows, closing in self.form.tables(self.manifest)),
            Section("How it was made, and what is not promised", write_table([], lines)),
            Section("Notes", write_paragraphs(map(spoken, self.notes))),
        ]  # fmt: skip

    def __repr__(self) -> str:
        """Say in a few lines what this is."""
        try:
            verdict = self.verdict
        except ReleaseError as error:  # of a manifest that somebody else wrote
            verdict = Verdict(str(error), "red")
        return write_summary(verdict, f"tables: {', '.join(f'.{name}' for name in self.tables)}; .manifest, .verify()")

    def _repr_html_(self) -> str:
        """Show the promise and the first rows of each table in a notebook."""
        return write_card(self.verdict, self.sections())


def open_release(
    path: str | Path, database: str | None = None, engine: Engine | None = None, readable: Sequence[str] = ()
) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) the name of a schema in it.

    engine: the session to open it in; if None a new one, in memory or on `database`, which is taken for a stranger's:
    the session reads nothing beside it but the files of `readable`.
    Raises ReleaseError where there is none, or both. Files are not compared with the manifest here; verify does.
    """
    directory = Path(path)
    if database is None and (engine is None or "directory" not in engine.lacks):
        if not directory.is_dir():
            raise ReleaseError(_describe_absent(directory))
        engine = engine or open_reader()
        return Release(engine, *find_in_directory(directory, engine))
    opened_here = engine is None and not directory.is_dir()
    if engine is None:
        own = open_duckdb(database, readable=readable if opened_here else None)
        try:
            release = open_release(path, database, own)
        except SqlanonError:
            own.connection.close()  # or nobody could write to the file
            raise
        if opened_here and not readable:
            release.reopen = lambda files: open_release(path, database, readable=files)
        return release
    is_schema = engine.tables(str(path)) is not None
    if directory.is_dir() and "directory" not in engine.lacks:
        if is_schema:
            raise ReleaseError(
                f"{str(path)!r} is a schema of the database and a directory; name the directory as {f'./{path}'!r},"
                " or the schema from another folder"
            )
        return Release(engine, *find_in_directory(directory, engine))
    return Release(engine, *find_in_schema(str(path), engine))


def _describe_absent(directory: Path) -> str:
    """Say what stands where a release's directory was looked for, and what to type instead."""
    beside = releases_in(directory.parent)
    if directory.is_file():
        if (directory.parent / MANIFEST).is_file():
            return f"{str(directory)!r} is a file; a release is the folder that holds it: say {str(directory.parent)!r}"
        example = f", such as {str(directory.parent / beside[0])!r}" if beside else ""
        return f"{str(directory)!r} is a file, no release: give the folder that publish {option('out')} wrote{example}"
    words = str(directory).split(None, 1)
    if len(words) > 1 and words[0].lower() in ("select", "with"):
        return f"{str(directory)[:60]!r} is a query, and stands behind the release: sqlanon estimate RELEASE 'SELECT …'"
    near = "".join(
        f"the nearest is {str(directory.parent / name)!r}; " for name in find_near(directory.name, beside, 1)
    )
    return f"no release directory {str(directory)!r}; {near}a schema's name needs its {option('database')}"


def _sample(engine: Engine, relation: Sql) -> str:
    frame = engine.frame(f"select * from {relation} limit {SHOWN_ROWS}")
    lines = [[cell(plain(value)) for value in row] for row in frame.itertuples(index=False, name=None)]
    return write_table(list(frame.columns), lines)
