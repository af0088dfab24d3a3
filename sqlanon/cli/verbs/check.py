"""The verb of whoever is about to publish: check."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import (
    CoarsenOption,
    Format,
    IdOption,
    OptionalSource,
    QuasiOption,
    QueryOption,
    SensitiveOption,
    say,
)
from sqlanon.cli.session_options import SessionOptions, with_session
from sqlanon.errors import UsageError

if TYPE_CHECKING:
    from sqlanon.risks.check import Check
    from sqlanon.risks.limits import Limits

Whole = int | None
Number = float | None


@dataclass(kw_only=True)
class RequiredOptions:
    """What every class must reach, and where to write the rows of classes that do not."""

    k: Annotated[Whole, typer.Option("-k", help="Rows in every class (k-anonymity, Samarati and Sweeney).")] = None
    l: Annotated[Whole, typer.Option("-l", help="Different sensitive values in every class.")] = None
    entropy_l: Annotated[Number, typer.Option(help="exp of the entropy of a class's values, at least.")] = None
    recursive: Annotated[str | None, typer.Option(help="c,l: r_1 < c (r_l + … + r_m) in every class.")] = None
    alpha: Annotated[Number, typer.Option(help="Share of a class's most frequent value, at most.")] = None
    t: Annotated[
        Number, typer.Option("-t", help="Distance of a class from the table, at most: by order for numbers.")
    ] = None
    beta: Annotated[Number, typer.Option(help="(p - q) / q of any value of a class, at most.")] = None
    delta: Annotated[Number, typer.Option(help="|ln(p / q)| of any value of a class, at most.")] = None
    failing: Annotated[
        Path | None, typer.Option(help="Write the rows of failing classes to this Parquet file: microdata, for you.")
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file at --failing.")] = False

    def limits(self) -> "Limits":
        """Return them as limits."""
        from sqlanon.risks.limits import Limits

        values = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("failing", "overwrite")
        }
        return Limits(**values | {"recursive": _pair(self.recursive)})

    def target(self, read: Iterable[object]) -> Path | None:
        """Return the file of failing rows; raise UsageError where it cannot be, or nothing can fail."""
        from sqlanon.risks.failing import check_path

        if self.failing is None:
            return None
        target = check_path(self.failing, self.overwrite, read)
        if not self.limits().asked:
            raise UsageError("--failing writes what misses a required value; require one, for example -k 5")
        return target


@app.command(
    epilog="Example: sqlanon check patients.parquet; sqlanon check patients.parquet --quasi age,sex --sensitive disease"
    " --id ssn -k 5 -l 3 -t 0.3 --failing failing.parquet"
)
@with_session
def check(
    source: OptionalSource = None,
    query: QueryOption = None,
    quasi: QuasiOption = [],  # noqa: B006
    sensitive: SensitiveOption = [],  # noqa: B006
    id: IdOption = [],  # noqa: B006
    coarsen: CoarsenOption = [],  # noqa: B006
    population: Annotated[
        str | None, typer.Option(help="A table of the population with the quasi columns: the journalist's risk.")
    ] = None,
    sampled: Annotated[Number, typer.Option(help="The share of the population that the source is, e.g. 0.01.")] = None,
    *,
    required: RequiredOptions,
    session: SessionOptions,
) -> None:
    """Tell what a table risks before it is published; exit 3 where a required value is missed.

    Without roles: a line per column, suggested roles, and the command to type. The prosecutor knows that somebody is in
    the table, the journalist picks anybody of the population, the marketer everybody (as ARX and sdcMicro have them).
    """
    from sqlanon.cli import display
    from sqlanon.methods.named_kinds import COARSEN
    from sqlanon.risks import assessment
    from sqlanon.risks.question import CheckQuestion
    from sqlanon.sql.sources.queried_source import read_files
    from sqlanon.sql.sources.source_choice import NO_SOURCE, choose_source

    if session.sql:
        raise UsageError("check has no --sql; its statements depend on what it finds")
    chosen_source = choose_source(source, query, session.engine.value, NO_SOURCE)
    question = CheckQuestion(
        source=chosen_source, quasi=tuple(quasi), sensitive=tuple(sensitive), identifier=tuple(id),
        limits=required.limits(), population=population, sampled=sampled, coarsen=COARSEN.read("--coarsen", coarsen),
    )  # fmt: skip
    target = required.target((*read_files(chosen_source), population))
    with display.progress():
        answer = assessment.check(question, session.open(), target)
    _show(answer, session)
    if not answer.holds:
        say(f"required and not reached: {', '.join(_named(measure.name, measure.column) for measure in answer.failed)}")
        raise typer.Exit(3)


def _pair(text: str | None) -> tuple[float, int] | None:
    if text is None:
        return None
    first, _, second = text.partition(",")
    try:
        return float(first), int(second)
    except ValueError:
        raise UsageError(f"--recursive takes c,l, for example 3,4; not {text!r}") from None


def _named(name: str, column: str) -> str:
    return f"{name} of {column}" if column else name


def _show(answer: "Check", session: SessionOptions) -> None:
    """Print tables for people, one object for programs; as CSV the measures, or the columns where there are none."""
    from sqlanon.cli import display

    how = session.how
    if how is Format.json:
        display.show_mapping(replace(answer, command=session.complete(answer.command)).as_plain(), "json")
        return
    if how is Format.csv:
        import pandas as pd

        display.show_frame(answer.df() if answer.measures else pd.DataFrame(answer.columns), "csv")
        return
    for number, (title, heads, lines) in enumerate(answer.tables()):
        if number:
            sys.stdout.write("\n")
        display.show_lines(title, heads, lines)
    for note in answer.notes:
        say(f"note: {note}")
    if answer.command:
        say(f"suggested, for you to weigh{session.dsn_reminder}:\n{session.complete(answer.command)}")
