"""The verbs that say what a release gives away: attack, and report."""

import shlex

import typer

from sqlanon.api import judgement
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import ReleaseArgument, Session
from sqlanon.cli.publication import coarser_command, report_command, words_against
from sqlanon.read_places import refuse_read


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
    Above 200,000 rows order and learning look at so many; --attack takes what attack found. Exit 3 where the release
    does not hold what it promises; the page is written, and says so.
    """
    from sqlanon.cli import display

    session.refuse_sql("report", "its statements depend on what it finds")
    refuse_read(values["out"], [session.database])
    opened = session.open_against(release, values)
    with display.progress():
        page = judgement.report(opened, **values)
    from sqlanon.charts.drawing import INSTALL, is_installed
    from sqlanon.cli import display

    view = "internal" if page.facts.is_internal else "public"
    summary = {"report": str(values["out"]), "view": view, "holds": page.holds, "in short": " ".join(page.sentences)}
    display.show_mapping(summary, session.how)
    if session.how == "table" and page.facts.is_internal:
        say("it holds figures of the source, so keep it as the source; only you can read it")
        if opened.directory is not None and page.holds is not False:
            say(f"next: hand over the folder {release}, and nothing beside it")
    if page.facts.compared and not is_installed():
        say(f"note: errors by selectivity have a table and no chart; what draws it: {INSTALL}")
    if page.holds is False:
        raise typer.Exit(3)
