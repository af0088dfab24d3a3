"""The verb for schedulers: run."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sqlanon.api import operations
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import Limits
from sqlanon.errors import SqlanonError

if TYPE_CHECKING:
    from sqlanon.publishing.run_job import JobLog


@command(epilog="Example: sqlanon run nightly.yml")
@command_of(operations.run)
def run(
    values: Values,
    check: Annotated[
        bool, typer.Option("--check", help="Check the file, the source's columns and its rows; publish nothing.")
    ] = False,
    log: Annotated[
        Literal["text", "json"],
        typer.Option(help="json: a line of JSON for every step, on standard error."),
    ] = "text",
    *,
    limits: Limits,
) -> None:
    """Publish the release that a file describes; the manifest goes to standard output.

    Exit codes: 0 published; 2 the job cannot be right on any data; 3 this data does not allow it or a threshold
    is missed, and what stood at the target stands. A run that died leaves nothing; run it again.
    """
    from sqlanon.cli import display
    from sqlanon.publishing import run_job
    from sqlanon.publishing.job_file import read_job

    job = values["job"]
    lines = run_job.JobLog(sys.stderr, job) if log == "json" else None
    with nullcontext(say) if lines is None else _notes_in_json(lines) as tell:
        described = read_job(job)
        engine = run_job.open_engine_of(described, check, **asdict(limits))
        if check:
            for note in run_job.check_job(described, engine):
                tell(note)
            tell(f"{job} describes a job that fits its source")
            return
        with display.progress() if lines is None else lines.of_steps():
            release = run_job.run_job(described, engine)
        display.show_mapping(release.manifest, "json")
        for note in release.notes:
            tell(note)


@contextmanager
def _notes_in_json(lines: "JobLog") -> Iterator[Callable[[str], None]]:
    """Tell notes, warnings and what ends the run as lines of JSON too; yield what tells a note."""
    original = warnings.showwarning
    warnings.showwarning = lambda message, *_, **__: lines.write("warning", message=str(message))
    try:
        yield lambda message: lines.write("note", message=message)
    except SqlanonError as error:
        lines.write("error", message=str(error))
        raise typer.Exit(error.exit_code) from None
    finally:
        warnings.showwarning = original
