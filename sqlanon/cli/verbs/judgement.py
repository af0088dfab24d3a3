"""Verbs that tell what a table, its views or a release give away: check, compare, attack, report."""

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from sqlanon.api import judgement
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DuckDBSession, ReleaseArgument, Session
from sqlanon.cli.publication import coarser_command, report_command, words_against
from sqlanon.read_places import refuse_read

if TYPE_CHECKING:
    from sqlanon.risks.comparison import Comparison


@command(
    epilog="Example: sqlanon check patients.parquet; sqlanon check patients.parquet --quasi age,sex --sensitive disease"
    " --id ssn -k 5 -l 3 -t 0.3 --failing failing.parquet"
)
@command_of(judgement.check)
def check(values: Values, session: Session) -> None:
    """Tell what a table risks before it is published; exit 3 where a required value is missed.

    Without roles: a line per column, suggested roles, and the command to type. The prosecutor knows that somebody is in
    the table, the journalist picks anybody of the population, the marketer everybody (as ARX and sdcMicro have them).
    """
    from sqlanon.cli import display

    session.refuse_sql("check", "its statements depend on what it finds")
    with display.progress():
        answer = judgement.check(session.opener(), **values)
    answer = replace(answer, command=session.complete(answer.command))
    if display.show_result(answer, session.how, answer.tables()) and answer.command:
        say(f"suggested, for you to weigh{session.dsn_reminder}:\n{answer.command}")
    if not answer.holds:
        missed = (" of ".join(filter(None, (measure.name, measure.column))) for measure in answer.failed)
        say(f"required and not reached: {', '.join(missed)}")
        raise typer.Exit(3)


RESISTS = "the most accurate release that resists"
WITHOUT_TARGET = "the release to begin with"


@command(
    epilog="Example: sqlanon compare patients.parquet --quasi age,sex --sensitive disease --l 3,5 --target-error 0.1"
)
@command_of(judgement.compare)
def compare(values: Values, session: DuckDBSession) -> None:
    """Tell what each method and parameter costs in accuracy on this data; nothing is published.

    Every candidate is published in the session alone and asked the same queries, whose truths the source tells. Exit 3
    where no candidate reaches --target-error or --resist.
    """
    from sqlanon.cli import display

    session.refuse_sql("compare", "its statements depend on what it draws")
    with display.progress():
        comparison = judgement.compare(session.opener(), **values)
    _show(comparison, session)
    if not comparison.holds:
        raise typer.Exit(3)


def _show(comparison: "Comparison", session: Session) -> None:
    """Print a line per candidate, what they come to, and what to know."""
    from sqlanon.cli import display

    if not display.show_to_programs(comparison, session.how):
        display.show_lines("", *comparison.shown())
        sys.stdout.write("\n{}\n".format(comparison.summary.replace(". ", ".\n")))
    for note in comparison.notes:
        say(f"note: {note}")
    if comparison.command:
        which = "the strongest promise within the error" if comparison.resist is None else RESISTS
        which = WITHOUT_TARGET if comparison.resist is None and comparison.target_error is None else which
        say(f"{which}, to type:\n{session.complete(comparison.command)}")


@command(
    epilog="Example: sqlanon attack release --against patients.parquet --id ssn; sqlanon attack monday --with tuesday"
)
@command_of(judgement.attack)
def attack(release: ReleaseArgument, values: Values, session: Session) -> None:
    """Attack a release as an adversary would: what was promised beside what the best attack reaches.

    Order, learning from the release, background knowledge, composition with other releases, presence. Without --against
    what learning reaches is the adversary's own confidence.
    """
    from sqlanon.cli import display

    session.refuse_sql("attack", "its loop depends on what it finds")
    opened = session.open_against(release, values, *values.get("background", ()))
    with display.progress():
        outcome = judgement.attack(opened, **values)
    if not display.show_result(outcome, session.how, outcome.tables, f"{outcome.headline}\n\n"):
        return
    identifier = values.get("id", ())
    telling = next(iter(outcome.telling), "")
    if outcome.scored and telling and (words := coarser_command(opened, telling, values["against"], identifier)):
        say(f"next: what attacks reach and answers lose with {telling} coarser\n{session.complete(shlex.join(words))}")
    command = report_command(release, words_against(session, values["against"], identifier))
    say(f"next{session.dsn_reminder}: one page about it\n{shlex.join(command)}")


@command(
    epilog="Example: sqlanon report release --out report.html;"
    " sqlanon report release --against patients.parquet --id ssn --with last_year --out internal.html"
)
@command_of(judgement.report, required=("out",))
def report(release: ReleaseArgument, values: Values, session: Session) -> None:
    """Tell about a release on one page of HTML: promise and attacks, what was verified and lost, columns.

    The page is one file that needs no network. Without --against it holds what anybody can compute who has the release.
    Above 200,000 rows order and learning look at so many. Exit 3 where the release does not hold what it promises;
    the page is written, and says so.
    """
    from sqlanon.cli import display

    session.refuse_sql("report", "its statements depend on what it finds")
    refuse_read(values["out"], [session.database])
    opened = session.open_against(release, values)
    with display.progress():
        page = judgement.report(opened, **values)
    view = "internal" if page.facts.is_internal else "public"
    summary = {"report": str(values["out"]), "view": view, "holds": page.holds, "in short": " ".join(page.sentences)}
    display.show_mapping(summary, session.how)
    if session.how == "table" and page.facts.is_internal:
        say("it holds figures of the source, so keep it as the source; only you can read it")
        if opened.directory is not None and page.holds is not False:
            say(f"next: hand over the folder {release}, and nothing beside it")
    if page.holds is False:
        raise typer.Exit(3)
