"""The verb of whoever chooses a method: compare."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.api import judgement
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DuckDBSession, Session

if TYPE_CHECKING:
    from sqlanon.comparison.comparison import Comparison

RESISTS = "the most accurate release that resists"
WITHOUT_TARGET = "the release to begin with"
SPARE = ("seconds", "by", "half width")  # what a narrow terminal leaves out
SPARE_DETAILS = ("seconds", "mean relative error", "promise", "queries", "confidence")


@command(
    epilog="Example: sqlanon compare patients.parquet --quasi age,sex --sensitive disease --l 3,5 --target-error 0.1"
)
@command_of(judgement.compare)
def compare(
    values: Values,
    details: Annotated[bool, typer.Option("--details", help="Errors by workload and selectivity as well.")] = False,
    *,
    session: DuckDBSession,
) -> None:
    """Tell what each method and parameter costs in accuracy on this data; nothing is published.

    Every candidate is published in the session alone and asked the same queries, whose truths the source tells. Exit 3
    where no candidate reaches --target-error or --resist.
    """
    from sqlanon.cli import display

    session.refuse_sql("compare", "its statements depend on what it draws")
    with display.progress():
        comparison = judgement.compare(session.opener(), **values)
    if "out" in values:
        say(f"written: {values['out']}; it holds true answers, so keep it as the source")
    _show(comparison, details, session)
    if not comparison.holds:
        raise typer.Exit(3)


def _show(comparison: "Comparison", details: bool, session: Session) -> None:
    """Print a line per candidate, what they come to, and what to know."""
    from sqlanon.cli import display

    if not display.show_to_programs(comparison, session.how):
        display.show_lines("", *comparison.shown(), spare=SPARE)
        if details:
            display.show_lines("", *comparison.details(), spare=SPARE_DETAILS)
        sys.stdout.write("\n{}\n".format(comparison.summary.replace(". ", ".\n")))
    for note in comparison.notes:
        say(f"note: {note}")
    if comparison.command:
        which = "the strongest promise within the error" if comparison.resist is None else RESISTS
        which = WITHOUT_TARGET if comparison.resist is None and comparison.target_error is None else which
        say(f"{which}, to type:\n{session.complete(comparison.command)}")
