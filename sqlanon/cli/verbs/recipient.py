"""Verbs of whoever holds a release: verify, estimate, complete."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.api import recipient
from sqlanon.cli.app import command
from sqlanon.cli.console import say, write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import ReleaseArgument, Session, refuse_alone
from sqlanon.errors import UsageError
from sqlanon.plain_values import visible
from sqlanon.read_places import check_new_file
from sqlanon.sql.sources.queried_source import read_files


@command(epilog="Example: sqlanon complete release --tables 10 --out completed")
@command_of(recipient.complete, required=("out",))
def complete(release: ReleaseArgument, values: Values, session: Session) -> None:
    """Complete a release: tables of plausible microdata for any tool, learned from the release alone.

    They say nothing beyond the release. Analyse each, and pool the results: sqlanon guide complete.
    """
    from sqlanon.cli import display

    session.refuse_sql("complete", "its loop depends on what it finds")
    opened = session.open_release(release)
    with display.progress():
        completion = recipient.complete(opened, **values)
    rows = int(opened.manifest["rows"])
    if session.how == "table":
        sys.stdout.write(f"{len(completion)} completed tables of {rows:,} rows in {visible(str(values['out']))}\n")
        if (share := completion.own_value_share) is not None:
            sys.stdout.write(f"up to about {share:.0%} of a table's rows hold their person's own value\n")
        say(f"the same tables again: --seed {completion.seed}")
        say("next: analyse each table, and pool the results by Rubin's rules, as sqlanon guide complete shows")
        return
    from pandas import DataFrame

    listed = DataFrame({"file": [file.name for file in completion.files], "rows": rows, "seed": completion.seed})
    listed["own_value_share"] = completion.own_value_share
    display.show_frame(listed, session.how)


@command(
    epilog="Example: sqlanon verify release --against patients.parquet;"
    " sqlanon verify release --background disease_by_sex.csv -r 3"
)
@command_of(recipient.verify)
def verify(
    release: ReleaseArgument,
    values: Values,
    out: Annotated[Path | None, typer.Option(help="With --voters: save all of their lines, .parquet or .csv.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="With --out: replace the file.")] = False,
    *,
    session: Session,
) -> None:
    """Prove from the published files what can be proved; exit 3 where something fails or is not proved."""
    from sqlanon.cli import display

    refuse_alone(overwrite, "--out", out)
    files = (*values.get("background", ()), values.get("voters"), values.get("since"))
    opened = session.open_against(release, values, *files)
    if out is not None:
        from sqlanon.publishing.kept_files import check_paths

        if "voters" not in values:
            raise UsageError("--out saves what is found of the list that --voters names, and there is none")
        earlier = Path(values["since"]) if "since" in values else None
        inputs = (values["voters"], *read_files(values["against"]), *values.get("background", ()))
        check_paths([out], "--out", overwrite, [opened.directory, earlier], inputs)
    if session.sql:
        write_out(opened.verification_sql(**values))
        return
    with display.progress("verifying"):
        report = opened.verify(**values)
    display.show_report(report, session.how)
    lines = 0 if report.presence is None else len(report.presence)
    if report.presence is not None and out is not None:
        from sqlanon.publishing.kept_files import save_frame

        save_frame(report.presence, out)
        say(f"all {lines:,} lines of voters: {out}, which only you can read")
    elif lines > display.SHOWN_VOTERS:
        shown = display.SHOWN_VOTERS
        say(f"shown: the {shown} lines of voters with the highest risk, of {lines:,}; --out FILE saves all")
    offered = session.how == "table" and report.holds and not values["against"]
    if session.how == "table" or not report.holds:
        say(report.verdict.words + (" --against SOURCE compares it with the microdata too." if offered else ""))
    if not report.holds:
        raise typer.Exit(3)
    if session.how == "table":
        attacked = shlex.join(["sqlanon", "attack", release, *session.place])
        asked = shlex.join(["sqlanon", "estimate", release, "SELECT COUNT(*) FROM release", *session.place])
        say(f"next{session.dsn_reminder}: what attacks reach, and a first question\n{attacked}\n{asked}")


@command(
    epilog="Example: sqlanon estimate release \"SELECT sex, COUNT(*) FROM release WHERE disease = 'flu' GROUP BY sex\""
)
@command_of(recipient.estimate)
def estimate(
    release: ReleaseArgument,
    plot: Annotated[Path | None, typer.Option(help="Draw the intervals into this file, .png or .svg.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="With --plot: replace the file.")] = False,
    *,
    values: Values,
    session: Session,
) -> None:
    """Answer an aggregate query from a release, with standard errors and 95 % intervals.

    Over uncertain data COUNT(*) is answered by what is certain, possible and expected.
    """
    from sqlanon.cli import display

    refuse_alone(overwrite, "--plot", plot)
    query, opened = values.pop("query"), session.open_release(release)
    if plot is not None:
        from sqlanon.charts.drawing import FORMATS, require

        require()
        check_new_file(plot, FORMATS, "--plot", overwrite, [opened.directory], [session.database])
    if session.sql:
        write_out(opened.estimation_sql(query, values.get("estimator")))
        return
    with display.progress("estimating"):
        answer = opened.ask(query, **values)
    for message in answer.messages:
        say(message)
    display.show_answer(answer, session.how)
    if plot is not None:
        from sqlanon.estimation.answer import as_answer

        with display.progress("drawing"):
            as_answer(answer).plot().save(plot, overwrite)
