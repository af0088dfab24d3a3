"""The verbs of whoever wants to know what a release gives away: attack, and report on one page."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import AgainstQuery, BackgroundOption, Format, LabelsOption, ReleaseArgument, say
from sqlanon.cli.publication import report_command, words_against
from sqlanon.cli.session_options import SessionOptions, with_session
from sqlanon.errors import UsageError
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.reports.page import Page


SampleOption = Annotated[
    int | None, typer.Option("--sample", help="Match orders and learn on about so many rows in whole groups.")
]


@app.command(
    epilog="Example: sqlanon attack release --against patients.parquet --id ssn; sqlanon attack monday --with tuesday"
)
@with_session
def attack(
    release: ReleaseArgument,
    against: Annotated[str | None, typer.Option("--against", help="The source: score guesses against it.")] = None,
    query: AgainstQuery = None,
    id: Annotated[list[str], typer.Option("--id", help="With --against: what tells its rows apart.")] = [],  # noqa: B006
    coarsen: LabelsOption = None,
    others: Annotated[list[str], typer.Option("--with", help="Another release of the same people; repeatable.")] = [],  # noqa: B006
    background: BackgroundOption = [],  # noqa: B006
    sample: SampleOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="With --sample: another number draws other groups.")
    ] = None,
    *,
    session: SessionOptions,
) -> None:
    """Attack a release as an adversary would: what was promised beside what the best attack reaches.

    Order, learning from the release, background knowledge, composition with other releases, presence. Without --against
    what learning reaches is the adversary's own confidence.
    """
    from sqlanon.adversary.findings import COLUMNS
    from sqlanon.attacks.attack_release import attack_release
    from sqlanon.attacks.sample import read_sample
    from sqlanon.cli import display
    from sqlanon.methods.named_kinds import COARSEN
    from sqlanon.plans.roles import split_columns
    from sqlanon.releases.release import open_release
    from sqlanon.sql.sources.queried_source import read_files
    from sqlanon.sql.sources.source_choice import choose_original

    if session.sql:
        raise UsageError("attack has no --sql; its loop depends on what it finds")
    drawn = read_sample(sample, seed)
    rules = COARSEN.read("--coarsen", coarsen or [])
    source = choose_original(against, query, session.engine.value, rules, "--against")
    if id and source is None:
        raise UsageError("--id is about the source's rows; say --against SOURCE")
    opened = session.open_release(release, *map(str, read_files(source)), *others, *background)
    opened.require_unchanged()
    more = [open_release(other, session.database, opened.engine) for other in others]
    with display.progress():
        outcome = attack_release(opened, source, split_columns(id), more, list(background), sample=drawn)
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
    command = report_command(release, words_against(session, source, split_columns(id)))
    say(f"next{session.dsn_reminder}: one page about it\n{shlex.join(command)}")


@dataclass(kw_only=True)
class ShownOptions:
    """What the page tells beside the release itself."""

    against: Annotated[
        str | None, typer.Option("--against", help="The source: score attacks, show true values; makes it internal.")
    ] = None
    query: AgainstQuery = None
    id: Annotated[list[str] | None, typer.Option("--id", help="With --against: what tells its rows apart.")] = None
    coarsen: LabelsOption = None
    others: Annotated[
        list[str] | None, typer.Option("--with", help="Another release of the same people; repeatable.")
    ] = None
    comparison: Annotated[
        Path | None, typer.Option("--comparison", help="Folder that compare wrote; makes it internal, too.")
    ] = None
    attack: Annotated[
        Path | None, typer.Option("--attack", help="File of attack --format json: nothing is attacked again.")
    ] = None
    sample: SampleOption = None


@app.command(
    epilog="Example: sqlanon report release --out report.html;"
    " sqlanon report release --against patients.parquet --id ssn --with last_year --out internal.html"
)
@with_session
def report(
    release: ReleaseArgument,
    out: Annotated[Path, typer.Option("--out", help="The .html file to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file at --out.")] = False,
    *,
    shown: ShownOptions,
    session: SessionOptions,
) -> None:
    """Tell about a release on one page of HTML: promise and attacks, what was verified and lost, columns, hashes.

    The page is one file that needs no network. Without --against it holds what anybody can compute who has the release.
    Above 200,000 rows order and learning look at a sample of so many, or are left out where boxes overlap: --attack
    takes what attack found. Exit 3 where the release does not hold what it promises; the page is written, and says so.
    """
    from sqlanon.cli import display
    from sqlanon.methods.named_kinds import COARSEN
    from sqlanon.plans.roles import split_columns
    from sqlanon.releases.file_beside import check_beside
    from sqlanon.releases.release import open_release
    from sqlanon.reports.page import ENDINGS
    from sqlanon.reports.report import make_page
    from sqlanon.sql.sources.queried_source import read_files
    from sqlanon.sql.sources.source_choice import choose_original

    if session.sql:
        raise UsageError("report has no --sql; its statements depend on what it finds")
    rules = COARSEN.read("--coarsen", shown.coarsen or [])
    source = choose_original(shown.against, shown.query, session.engine.value, rules, "--against")
    if shown.id and source is None:
        raise UsageError("--id is about the source's rows; say --against SOURCE")
    files = read_files(source)
    opened = session.open_release(release, *map(str, files), *(shown.others or []))
    inputs = (*files, session.database, shown.attack)
    others = [open_release(other, session.database, opened.engine) for other in shown.others or []]
    check_beside(out, ENDINGS, option("out"), overwrite, [each.directory for each in (opened, *others)], inputs)
    opened.require_unchanged()
    with display.progress():
        page = make_page(
            opened, source, split_columns(shown.id or []), others, shown.comparison, shown.attack, shown.sample
        )
        page.write(out, overwrite)
    _tell(page, out, session)
    if page.holds is False:
        raise typer.Exit(3)


def _tell(page: "Page", out: Path, session: SessionOptions) -> None:
    """Say what the page says in short, and whom it is for."""
    from sqlanon.charts.drawing import INSTALL, is_installed
    from sqlanon.cli import display

    view = "internal" if page.facts.is_internal else "public"
    summary = {"report": str(out), "view": view, "holds": page.holds, "in short": " ".join(page.sentences)}
    display.show_mapping(summary, session.how.value)
    if session.how is Format.table and page.facts.is_internal:
        say("it holds figures of the source, so keep it as the source; only you can read it")
    if page.facts.compared and not is_installed():
        say(f"note: errors by selectivity have a table and no chart; what draws it: {INSTALL}")
