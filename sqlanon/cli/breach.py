"""The verb of whoever wants to publish views: breach."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import (
    DatabaseOption,
    Dsn,
    EngineName,
    EngineOption,
    Format,
    FormatOption,
    Master,
    Memory,
    SqlOption,
    Temporary,
    Threads,
    open_engine,
    say,
)


class Model(StrEnum):
    """What the adversary knows beside the views."""

    unrestricted = "unrestricted"
    restricted = "restricted"


@app.command(
    epilog="Example: sqlanon breach --database hospital.duckdb --base patients --view 'SELECT name, age FROM patients'"
    " --view 'SELECT age, problem FROM patients' --secret \"SELECT name, problem FROM patients WHERE problem = 'HIV'\""
)
def breach(
    base: Annotated[str, typer.Option("--base", help="The table behind the views: a file, a glob, or a table's name.")],
    view: Annotated[list[str], typer.Option("--view", help="SELECT columns FROM base; repeat for every view.")],
    secret: Annotated[str, typer.Option("--secret", help="SELECT id, property FROM base [WHERE condition].")],
    model: Annotated[
        Model, typer.Option("--model", help="restricted: the adversary knows that an id has one property.")
    ] = Model.unrestricted,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Exit 3 where an association's probability may be larger.")
    ] = None,
    cover: Annotated[
        int | None, typer.Option("--cover", help="Exit 3 where an association's cover is smaller.")
    ] = None,
    explained: Annotated[
        tuple[str, str] | None,
        typer.Option("--explain", help="An id and a property: show nodes, edges and worlds of this association."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write all associations to a .parquet, .csv or .json file.")
    ] = None,
    into: Annotated[str | None, typer.Option("--into", help="Keep all associations in a new table.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file at --out.")] = False,
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
    """Tell how likely each secret association is to whoever has the published views."""
    from sqlanon.breaches.analysis import BreachQuestion, analyse, render_analysis
    from sqlanon.breaches.explanation import explain_association
    from sqlanon.breaches.limits_and_targets import check_file, check_limits, check_table
    from sqlanon.cli import display
    from sqlanon.cli.breach_display import show_breach, show_explanation

    question = BreachQuestion(base, tuple(view), secret, model.value)
    check_limits(threshold, cover)
    if out is not None:
        check_file(out.absolute(), overwrite)
    writes = into is not None and not sql
    session = open_engine(engine, database, writes, master, dsn, threads, memory_limit, temp_directory)
    if sql:
        sys.stdout.write(render_analysis(question, session))
        return
    if explained is not None:
        show_explanation(explain_association(question, session, *explained), how.value)
        return
    if into is not None:
        check_table(session, into)
    with display.progress():
        found = analyse(question, session)
    if out is not None:
        found.write(out, overwrite)
    if into is not None:
        found.store(into)
    show_breach(found, how.value)
    for note in found.notes:
        say(note)
    found.require(threshold, cover)
