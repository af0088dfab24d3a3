"""Verbs of whoever holds a release: verify, estimate."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import (
    BackgroundOption,
    Estimator,
    Format,
    ReleaseArgument,
    Transition,
    say,
)
from sqlanon.cli.session_options import SessionOptions, with_session


@app.command(
    epilog="Example: sqlanon verify release --against patients.parquet;"
    " sqlanon verify release --background disease_by_sex.csv -r 3"
)
@with_session
def verify(
    release: ReleaseArgument,
    against: Annotated[str | None, typer.Option("--against", help="The source: compare multisets with it.")] = None,
    voters: Annotated[str | None, typer.Option("--voters", help="A list of people with the quasi columns.")] = None,
    background: BackgroundOption = [],  # noqa: B006
    r: Annotated[
        float | None,
        typer.Option("-r", help="With --background: fail where a posterior is above 1/r; reported if not given."),
    ] = None,
    *,
    session: SessionOptions,
) -> None:
    """Prove from the published files what can be proved; exit 3 where something does not hold."""
    from sqlanon.cli import display
    from sqlanon.releases.release import open_release

    opened = open_release(release, session.database, session.open())
    if session.sql:
        sys.stdout.write(opened.verification_sql(against, voters, background, r))
        return
    report = opened.verify(against, voters, background, r)
    display.show_report(report, session.how.value)
    if not report.holds:
        say(f"the release does not hold: {', '.join(check.name for check in report.checks if check.holds is False)}")
        raise typer.Exit(3)
    if session.how is Format.table:
        open_checks = [check.name for check in report.checks if check.holds is None]
        judged = f"no check fails; not judged: {', '.join(open_checks)}" if open_checks else "every check holds"
        say(judged + ("" if against else "; --against SOURCE compares it with the microdata too"))


@app.command(
    epilog="Example: sqlanon estimate release \"SELECT sex, COUNT(*) FROM release WHERE disease = 'flu' GROUP BY sex\""
)
@with_session
def estimate(
    release: ReleaseArgument,
    query: Annotated[str, typer.Argument(help="SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) FROM release …")],
    estimator: Annotated[
        Estimator | None, typer.Option("--estimator", help="How to count; the method's own first choice if not given.")
    ] = None,
    transition: Annotated[
        Transition | None,
        typer.Option("--transition", help="With --estimator iterative: the paper's, or the exact one."),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="With --estimator iterative: the relative change to stop at.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option("--max-iterations", help="With --estimator iterative: the most turns.")
    ] = None,
    *,
    session: SessionOptions,
) -> None:
    """Answer an aggregate query from a release, with standard errors and 95 % intervals.

    Over uncertain data COUNT(*) is answered by what is certain, possible and expected.
    """
    from sqlanon.cli import display
    from sqlanon.releases.release import open_release

    opened = open_release(release, session.database, session.open())
    chosen = None if estimator is None else estimator.value
    kind = None if transition is None else transition.value
    iteration = {"transition": kind, "tolerance": tolerance, "max_iterations": max_iterations}
    options = {name: value for name, value in iteration.items() if value is not None}
    if session.sql:
        sys.stdout.write(opened.estimation_sql(query, chosen))
        return
    opened.require_unchanged()
    answer = opened.estimate(query, chosen, **options)
    for message in answer.attrs.get("messages", ()):
        say(message)
    display.show_frame(answer, session.how.value)
