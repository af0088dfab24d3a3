"""Options that several verbs share, one name each, and how their texts are read."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.console import say
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.plans.engines import ENGINES


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


EngineName = StrEnum("EngineName", {name: name for name in ENGINES})  # type: ignore[misc]
DUCKDB = EngineName("duckdb")


_ENGINES = "; ".join(", ".join(filter(None, (name, declared.reads))) for name, declared in ENGINES.items())
ReleaseArgument = Annotated[str, typer.Argument(help="Release directory; with --database the name of its schema.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", help="DuckDB file that holds the table or schema.")]
EngineOption = Annotated[EngineName, typer.Option("--engine", help=f"What runs the SQL: {_ENGINES}.")]
Master = Annotated[str | None, typer.Option("--master", help="With --engine spark: its master, e.g. local[2].")]
Dsn = Annotated[
    str | None,
    typer.Option("--dsn", help="With --engine postgres: postgresql://user@host/database (or set SQLANON_DSN)."),
]
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
TypesOption = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="COLUMN=TYPE", help="Types of CSV and JSON: zip=VARCHAR,born=DATE; repeatable."),
]
MissingOption = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="TEXTS", help="Texts of CSV and JSON that are no value: NA,?; repeatable."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="File with the key (or set SQLANON_KEY). Whoever has it can undo the release."),
]


def given_dsn(engine: EngineName, dsn: str | None) -> str | None:
    """Return the DSN; one that stands nowhere else is read from SQLANON_DSN."""
    # a DSN on the command line may hold a password, which process lists show
    return os.environ.get("SQLANON_DSN") if dsn is None and "--dsn" in ENGINES[engine].options else dsn


def chosen_key(key: Key | None, key_file: Path | None) -> Key | None:
    """Read the key from where it was given; None where a fresh one is to be drawn."""
    if key is not None and key_file is not None:
        raise UsageError("say --key or --key-file, not both")
    if key_file is not None:
        return Key.from_file(key_file)
    if key is not None:
        say("warning: --key stands in the process list and the shell's history; use --key-file or SQLANON_KEY")
        return key
    text = os.environ.get("SQLANON_KEY")
    return Key.of(text) if text is not None else None
