"""The verb of whoever wants to know what a release gives away: attack."""

import sys
from typing import Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import AgainstQuery, BackgroundOption, Format, ReleaseArgument, say
from sqlanon.cli.session_options import SessionOptions, with_session
from sqlanon.errors import UsageError


@app.command(
    epilog="Example: sqlanon attack release --against patients.parquet --id ssn; sqlanon attack monday --with tuesday"
)
@with_session
def attack(
    release: ReleaseArgument,
    against: Annotated[str | None, typer.Option("--against", help="The source: score guesses against it.")] = None,
    query: AgainstQuery = None,
    id: Annotated[list[str], typer.Option("--id", help="With --against: what tells its rows apart.")] = [],  # noqa: B006
    others: Annotated[list[str], typer.Option("--with", help="Another release of the same people; repeatable.")] = [],  # noqa: B006
    background: BackgroundOption = [],  # noqa: B006
    *,
    session: SessionOptions,
) -> None:
    """Attack a release as an adversary would: what was promised beside what the best attack reaches.

    Order, learning from the release, background knowledge, composition with other releases, presence. Without --against
    what learning reaches is the adversary's own confidence.
    """
    from sqlanon.adversary.findings import COLUMNS
    from sqlanon.attacks.attack_release import attack_release
    from sqlanon.cli import display
    from sqlanon.plans.roles import split_columns
    from sqlanon.releases.release import open_release
    from sqlanon.sql.sources.queried_source import read_files
    from sqlanon.sql.sources.source_choice import choose_source

    if session.sql:
        raise UsageError("attack has no --sql; its loop depends on what it finds")
    source = choose_source(against, query, session.engine.value, named="--against")
    if id and source is None:
        raise UsageError("--id is about the source's rows; say --against SOURCE")
    opened = session.open_release(release, *map(str, read_files(source)), *others, *background)
    opened.require_unchanged()
    more = [open_release(other, session.database, opened.engine) for other in others]
    with display.progress():
        outcome = attack_release(opened, source, split_columns(id), more, list(background))
    if session.how is Format.json:
        display.show_mapping(outcome.as_plain(), "json")
        return
    if session.how is Format.csv:
        display.show_frame(outcome.df(), "csv")
        return
    sys.stdout.write(f"{outcome.headline}\n\n")
    display.show_lines("", COLUMNS, outcome.shown_lines())
    for note in outcome.notes:
        say(f"note: {note}")
