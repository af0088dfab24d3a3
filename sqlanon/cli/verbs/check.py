"""The verb of whoever is about to publish: check."""

from dataclasses import replace

import typer

from sqlanon.api import judgement
from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import Session


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
