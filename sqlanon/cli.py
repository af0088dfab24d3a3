"""The command line: one verb per task, no logic of its own."""

import logging
import os
import sys
import tempfile
import warnings
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlanon import demo as demonstration
from sqlanon import display
from sqlanon.dialects import DIALECTS
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.estimators import ESTIMATORS
from sqlanon.grouping import GROUPS_PER_BLOCK
from sqlanon.publish import Asked, compiled, publish, statements
from sqlanon.release import open_release
from sqlanon.secret import Key, PrivacyWarning
from sqlanon.version import VERSION

app = typer.Typer(
    name="sqlanon",
    help="Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
publish_app = typer.Typer(help="Publish a table with one of the methods.", no_args_is_help=True, rich_markup_mode=None)
compile_app = typer.Typer(help="Print a method's SQL for another engine.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(publish_app, name="publish")
app.add_typer(compile_app, name="compile")


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class Nulls(StrEnum):
    """What to do with rows that have no sensitive value."""

    refuse = "refuse"
    value = "value"
    drop = "drop"


class Draws(StrEnum):
    """Where random draws come from."""

    keyed = "keyed"
    random = "random"


class RowsPerPerson(StrEnum):
    """Whether one identifier may have several rows."""

    one = "one"
    many = "many"


Estimator = Enum("Estimator", {name: name for name in ESTIMATORS}, type=str)  # type: ignore[misc]
Dialect = Enum("Dialect", {name: name for name in DIALECTS}, type=str)  # type: ignore[misc]

SourceArgument = Annotated[
    str, typer.Argument(help="Parquet, CSV or JSON path or glob; with --database a table or view.")
]
ReleaseArgument = Annotated[str, typer.Argument(help="Release directory; with --database the name of its schema.")]
Quasi = Annotated[
    list[str],
    typer.Option("--quasi", help="Quasi-identifier columns, published exactly; commas, repeatable."),
]
Sensitive = Annotated[list[str], typer.Option("--sensitive", help="Sensitive column.")]
Identifier = Annotated[list[str], typer.Option("--id", help="Identifier columns: never published, one row each.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", help="DuckDB file that holds the table or schema.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How results are printed.")]
SqlOption = Annotated[
    bool, typer.Option("--sql", help="Print the statements that would run, in order, and run nothing.")
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the engine.")]
Memory = Annotated[str | None, typer.Option("--memory-limit", help="Memory of the engine, e.g. 4GB; the rest spills.")]
Temporary = Annotated[
    str | None,
    typer.Option(
        "--temp-directory",
        help="Where the engine spills: microdata, in a folder for you alone that goes with the run.",
    ),
]
NullsOption = Annotated[
    Nulls, typer.Option("--nulls", help="NULL sensitive values: refuse, publish as a value, or drop.")
]
DrawsOption = Annotated[
    Draws, typer.Option("--draws", help="keyed: sha256 under a secret key. random: faster, predictable.")
]
BlockOption = Annotated[str, typer.Option("--block", help="Groups per block of mixed values, or all for one block.")]
LOption = Annotated[int, typer.Option("-l", help="At least l different sensitive values in every group.")]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="Key of the draws (64 hex digits). Whoever has it can undo the release. Prefer --key-file.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="File with the key (or set SQLANON_KEY). Whoever has it can undo the release."),
]


def _session(
    database: str | None,
    write: bool,
    threads: int | None = None,
    memory: str | None = None,
    temporary: str | None = None,
) -> DuckDBEngine:
    return DuckDBEngine(connect(database, write, threads=threads, memory_limit=memory, temp_directory=temporary))


def _key(key: str | None, key_file: Path | None) -> Key | None:
    if key is not None and key_file is not None:
        raise UsageError("say --key or --key-file, not both")
    if key_file is not None:
        return Key.from_file(key_file)
    if key is not None:
        _say("warning: --key stands in the process list and the shell's history; use --key-file or SQLANON_KEY")
        return Key.of(key)
    text = os.environ.get("SQLANON_KEY")
    return Key.of(text) if text is not None else None


def _block(text: str) -> int | None:
    if text.lower() == "all":
        return None
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"--block {text!r} is not a whole number, nor all")
    return int(text)


def _say(message: str) -> None:
    display.to_stderr().print(display.visible(message))


@publish_app.command(
    "anatomy",
    epilog="Example: sqlanon publish anatomy patients.parquet --quasi age,sex --sensitive disease -l 4 --out release",
)
def publish_anatomy(
    source: SourceArgument,
    quasi: Quasi,
    sensitive: Sensitive,
    l: LOption,
    identifier: Identifier = [],  # noqa: B006 - typer reads the default, nothing changes it
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory to appear, with Parquet files and release.json.")
    ] = None,
    into: Annotated[
        str | None, typer.Option("--into", help="Schema of --database to appear, in one transaction.")
    ] = None,
    database: DatabaseOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older release at the target.")] = False,
    nulls: NullsOption = Nulls.refuse,
    draws: DrawsOption = Draws.keyed,
    key: KeyOption = None,
    key_file: KeyFile = None,
    block: BlockOption = str(GROUPS_PER_BLOCK),
    rows_per_person: Annotated[
        RowsPerPerson,
        typer.Option("--rows-per-person", help="many: publish although an --id has several rows."),
    ] = RowsPerPerson.one,
    show_values: Annotated[bool, typer.Option("--show-values", help="Let messages name sensitive values.")] = False,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Publish QIT and ST of an l-diverse partition (Anatomy)."""
    if (out is None) == (into is None):
        raise UsageError("say where the release goes: --out DIR, or --database FILE --into SCHEMA")
    if into is not None and database is None:
        raise UsageError("--into names a schema of a database; say which with --database FILE")
    asked = Asked(
        "anatomy",
        source,
        tuple(quasi),
        tuple(sensitive),
        tuple(identifier),
        nulls.value,
        draws.value,
        _key(key, key_file),
        rows_per_person is RowsPerPerson.many,
        show_values,
    )
    engine = _session(database, into is not None and not sql, threads, memory_limit, temp_directory)
    parameters: dict[str, Any] = {"l": l, "block": _block(block)}
    if sql:
        sys.stdout.write(statements(asked, engine, out, into, **parameters))
        return
    with display.progress():
        release = publish(asked, engine, out, into, overwrite, **parameters)
    where = str(out) if out is not None else f"schema {into} of {database}"
    display.show_publication(release.manifest, where, how.value)
    for note in release.notes:
        _say(note)


@compile_app.command(
    "anatomy",
    epilog="Example: sqlanon compile anatomy patients --quasi age --sensitive disease --id ssn -l 4 --dialect spark",
)
def compile_anatomy(
    source: Annotated[str, typer.Argument(help="Table of the other engine, e.g. schema.patients.")],
    quasi: Quasi,
    sensitive: Sensitive,
    l: LOption,
    dialect: Annotated[Dialect, typer.Option("--dialect", help="The engine's SQL.")] = Dialect.duckdb,  # type: ignore[attr-defined]
    identifier: Identifier = [],  # noqa: B006
    nulls: NullsOption = Nulls.refuse,
    draws: DrawsOption = Draws.keyed,
    block: BlockOption = str(GROUPS_PER_BLOCK),
) -> None:
    """Print a script that publishes QIT and ST on another engine (no database is needed)."""
    asked = Asked("anatomy", source, tuple(quasi), tuple(sensitive), tuple(identifier), nulls.value, draws.value)
    sys.stdout.write(compiled(asked, dialect.value, l=l, block=_block(block)))


@app.command(epilog="Example: sqlanon verify release --against patients.parquet")
def verify(
    release: ReleaseArgument,
    against: Annotated[str | None, typer.Option("--against", help="The source: compare multisets with it.")] = None,
    voters: Annotated[str | None, typer.Option("--voters", help="A list of people with the quasi columns.")] = None,
    database: DatabaseOption = None,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Prove from the published files what can be proved; exit 3 where something does not hold."""
    opened = open_release(release, database, _session(database, False, threads, memory_limit, temp_directory))
    if sql:
        sys.stdout.write(opened.verification_sql(against, voters))
        return
    report = opened.verify(against, voters)
    display.show_report(report, how.value)
    if not report.holds:
        _say(f"the release does not hold: {', '.join(check.name for check in report.checks if check.holds is False)}")
        raise typer.Exit(3)
    if how is Format.table:
        _say("every check holds" + ("" if against else "; --against SOURCE compares it with the microdata too"))


@app.command(
    epilog="Example: sqlanon estimate release \"SELECT sex, COUNT(*) FROM release WHERE disease = 'flu' GROUP BY sex\""
)
def estimate(
    release: ReleaseArgument,
    query: Annotated[str, typer.Argument(help="SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) FROM release …")],
    estimator: Annotated[Estimator, typer.Option("--estimator", help="How to count.")] = Estimator.shrinkage,  # type: ignore[attr-defined]
    database: DatabaseOption = None,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Answer an aggregate query from a release, with standard errors and 95 % intervals."""
    opened = open_release(release, database, _session(database, False, threads, memory_limit, temp_directory))
    if sql:
        sys.stdout.write(opened.estimation_sql(query, estimator.value))
        return
    opened.require_unchanged()
    answer = opened.estimate(query, estimator.value)
    for message in answer.attrs.get("messages", ()):
        _say(message)
    display.show_frame(answer, how.value)


@app.command(epilog="Example: sqlanon demo")
def demo(
    keep: Annotated[Path | None, typer.Option("--keep", help="Directory to keep the tour's files in.")] = None,
) -> None:
    """Publish an invented hospital table, verify the release, and ask it a question."""
    if keep is not None:
        if keep.exists():
            raise UsageError(f"{str(keep)!r} exists; choose another --keep")
        keep.mkdir()
        _tour(keep)
        return
    with tempfile.TemporaryDirectory(prefix="sqlanon-demo-") as folder:
        _tour(Path(folder))


def _tour(folder: Path) -> None:
    out = display.to_stdout()
    found = demonstration.tour(folder)
    manifest = found.release.manifest
    out.print("The publisher has a table of 4,000 invented patients and types")
    out.print(
        f"  sqlanon publish anatomy patients --database hospital.duckdb --quasi {','.join(demonstration.QUASI)} \\"
    )
    out.print("      --sensitive disease --id ssn -l 4 --out release\n")
    out.print(f"Published: {manifest['rows']} rows in {manifest['groups']} groups. The first rows of qit and st:\n")
    for name in ("qit", "st"):
        display.show_frame(found.release.table(name).limit(3).df(), "table")
        out.print("")
    out.print("Anybody can check what was promised:  sqlanon verify release\n")
    display.show_report(found.report, "table")
    out.print("\nThe recipient has the release alone and asks")
    out.print(f'  sqlanon estimate release "{demonstration.QUESTION}"')
    out.print("(the column truth was added here from the hospital's own table)\n")
    display.show_frame(found.answer, "table")
    inside = found.answer["truth"].between(found.answer["n_low"], found.answer["n_high"]).sum()
    out.print(f"\nThe truth lies inside the 95 % interval in {inside} of {len(found.answer)} rows.")


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB."""
    if version:
        sys.stdout.write(f"sqlanon {VERSION}\n")
        raise typer.Exit


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, PrivacyWarning):
        _say(f"warning: {message}")


def main() -> None:
    """Run the command line; leave with 0, 2 (cannot be right), 3 (this data does not allow it) or 1 (a bug)."""
    logging.getLogger("sqlanon").addHandler(logging.NullHandler())
    warnings.showwarning = _show_warning
    code = 0
    try:
        app()
    except SqlanonError as error:
        _say(f"error: {error}")
        code = error.exit_code
    except BrokenPipeError:  # whoever read our output has left; that is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("SQLANON_DEBUG"):
            raise
        _say(
            f"error: a fault of sqlanon ({type(error).__name__}); nothing was published."
            " SQLANON_DEBUG=1 shows where (the traceback may show data)"
        )
        code = 1
    sys.exit(code)
