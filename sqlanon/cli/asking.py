"""Verbs of whoever holds a release: verify, estimate."""

import sys
from typing import Annotated

import typer

from sqlanon import display
from sqlanon.cli.app import app
from sqlanon.cli.options import (
    DatabaseOption,
    Dsn,
    EngineName,
    EngineOption,
    Estimator,
    Format,
    FormatOption,
    Master,
    Memory,
    ReleaseArgument,
    SqlOption,
    Temporary,
    Threads,
    any_session,
    say,
)
from sqlanon.release import open_release


@app.command(epilog="Example: sqlanon verify release --against patients.parquet")
def verify(
    release: ReleaseArgument,
    against: Annotated[str | None, typer.Option("--against", help="The source: compare multisets with it.")] = None,
    voters: Annotated[str | None, typer.Option("--voters", help="A list of people with the quasi columns.")] = None,
    database: DatabaseOption = None,
    engine: EngineOption = EngineName.duckdb,
    master: Master = None,
    dsn: Dsn = None,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Prove from the published files what can be proved; exit 3 where something does not hold."""
    chosen = any_session(engine, database, False, master, dsn, threads, memory_limit, temp_directory)
    opened = open_release(release, database, chosen)
    if sql:
        sys.stdout.write(opened.verification_sql(against, voters))
        return
    report = opened.verify(against, voters)
    display.show_report(report, how.value)
    if not report.holds:
        say(f"the release does not hold: {', '.join(check.name for check in report.checks if check.holds is False)}")
        raise typer.Exit(3)
    if how is Format.table:
        say("every check holds" + ("" if against else "; --against SOURCE compares it with the microdata too"))


@app.command(
    epilog="Example: sqlanon estimate release \"SELECT sex, COUNT(*) FROM release WHERE disease = 'flu' GROUP BY sex\""
)
def estimate(
    release: ReleaseArgument,
    query: Annotated[str, typer.Argument(help="SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) FROM release …")],
    estimator: Annotated[Estimator, typer.Option("--estimator", help="How to count.")] = Estimator.shrinkage,  # type: ignore[attr-defined]
    database: DatabaseOption = None,
    engine: EngineOption = EngineName.duckdb,
    master: Master = None,
    dsn: Dsn = None,
    how: FormatOption = Format.table,
    sql: SqlOption = False,
    threads: Threads = None,
    memory_limit: Memory = None,
    temp_directory: Temporary = None,
) -> None:
    """Answer an aggregate query from a release, with standard errors and 95 % intervals."""
    chosen = any_session(engine, database, False, master, dsn, threads, memory_limit, temp_directory)
    opened = open_release(release, database, chosen)
    if sql:
        sys.stdout.write(opened.estimation_sql(query, estimator.value))
        return
    opened.require_unchanged()
    answer = opened.estimate(query, estimator.value)
    for message in answer.attrs.get("messages", ()):
        say(message)
    display.show_frame(answer, how.value)
