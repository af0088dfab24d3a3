"""The verb of whoever chooses a method: compare."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from sqlanon.cli.session_options import DuckDBOptions, SessionOptions, with_session
from sqlanon.errors import UsageError
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.comparison.comparison import Comparison

RESISTS = "the most accurate release that resists"
WITHOUT_TARGET = "the release to begin with"
SPARE = ("seconds", "by", "half width")  # what a narrow terminal leaves out
SPARE_DETAILS = ("seconds", "mean relative error", "promise", "queries", "confidence")


@dataclass(kw_only=True)
class CandidateOptions:
    """What is compared, and by which queries."""

    methods: Annotated[str, typer.Option(help="Which, between commas; also the rivals dbr, laplace, sampling.")] = (
        "anatomy,robust,splu,mondrian"
    )
    l: Annotated[
        str | None,
        typer.Option("--l", help="l of anatomy and mondrian (k = 10), r of robust: 5; with --resist 3,5,10."),
    ] = None
    gamma: Annotated[str | None, typer.Option(help="Values of gamma of splu: 5; with --resist 5,10.")] = None
    epsilon: Annotated[str, typer.Option(help="Values of epsilon of laplace.")] = "0.01,0.1,0.693,1.099"
    share: Annotated[str, typer.Option(help="Shares of the rows of sampling.")] = "0.1"
    queries: Annotated[
        str, typer.Option(help="How many queries to draw, or a file with your own, a semicolon behind each.")
    ] = "200"
    workload: Annotated[
        str, typer.Option(help="What is drawn: analysts (ranges, single values) or paper (sets, as in Anatomy's).")
    ] = "analysts"
    seed: Annotated[int, typer.Option(help="Another number draws other queries.")] = 1
    target_error: Annotated[
        str | None, typer.Option(help="Tell the strongest promise whose median error stays below, e.g. 0.1.")
    ] = None
    resist: Annotated[
        str | None,
        typer.Option(help="Search the most accurate release of which no attack names more people's values, e.g. 0.25."),
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Attack nothing, which takes longer than all else.")] = False
    max_suppressed: Annotated[str, typer.Option(help="Share of the rows that robust may leave out.")] = "0.01"
    nulls: Annotated[str, typer.Option(help="NULL sensitive values: refuse, value or drop.")] = "refuse"
    unique_quasi: Annotated[str, typer.Option(help="A quasi column of unique values: refuse or keep.")] = "refuse"

    def given(self) -> dict[str, Any]:
        """Return them as a question reads them."""
        whole = re.fullmatch(r"-?\d+", self.queries)
        values: dict[str, Any] = {"queries": int(self.queries) if whole else Path(self.queries)}
        shares = {name: _read_share(name, getattr(self, name)) for name in ("target_error", "resist", "max_suppressed")}
        return vars(self) | values | shares


def _read_share(name: str, text: str | None) -> float | None:
    """Return a target as a number; raise UsageError for what is none."""
    try:
        return None if text is None else float(text)
    except ValueError:
        raise UsageError(f"{option(name)} takes a share, for example 0.1 for 10 %; not {text!r}") from None


@app.command(
    epilog="Example: sqlanon compare patients.parquet --quasi age,sex --sensitive disease --l 3,5 --target-error 0.1"
)
@with_session
def compare(
    source: OptionalSource = None,
    query: QueryOption = None,
    quasi: QuasiOption = [],  # noqa: B006
    sensitive: SensitiveOption = [],  # noqa: B006
    id: IdOption = [],  # noqa: B006
    coarsen: CoarsenOption = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option(help="Folder for the table and all answers with their truths.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older comparison at --out.")] = False,
    details: Annotated[bool, typer.Option("--details", help="Errors by workload and selectivity as well.")] = False,
    *,
    candidates: CandidateOptions,
    session: DuckDBOptions,
) -> None:
    """Tell what each method and parameter costs in accuracy on this data; nothing is published.

    Every candidate is published in the session alone and asked the same queries, whose truths the source tells. Exit 3
    where no candidate reaches --target-error or --resist.
    """
    from sqlanon.cli import display
    from sqlanon.comparison.compare import compare as compare_methods
    from sqlanon.comparison.files import check_folder, write_comparison
    from sqlanon.comparison.question import read_question
    from sqlanon.methods.named_kinds import COARSEN
    from sqlanon.sql.sources.source_choice import NO_SOURCE, choose_source

    if session.sql:
        raise UsageError("compare has no --sql; its statements depend on what it draws")
    chosen_source = choose_source(source, query, session.engine.value, NO_SOURCE)
    rules = COARSEN.read("--coarsen", coarsen)
    question = read_question(chosen_source, quasi, sensitive, id, coarsen=rules, **candidates.given())
    target = None if out is None else check_folder(out, overwrite, question.read)
    with display.progress():
        comparison = compare_methods(question, session.open())
    if target is not None:
        write_comparison(comparison, target)
        say(f"written: {out}; it holds true answers, so keep it as the source")
    _show(comparison, details, session)
    if not comparison.holds:
        raise typer.Exit(3)


def _show(comparison: "Comparison", details: bool, session: SessionOptions) -> None:
    """Print a line per candidate, what they come to, and what to know."""
    from sqlanon.cli import display

    if session.how is Format.table:
        display.show_lines("", *comparison.shown(), spare=SPARE)
        if details:
            display.show_lines("", *comparison.details(), spare=SPARE_DETAILS)
        sys.stdout.write("\n{}\n".format(comparison.summary.replace(". ", ".\n")))
    else:
        display.show_frame(comparison.df(), "csv" if session.how is Format.csv else "json")
    for note in comparison.notes:
        say(f"note: {note}")
    if comparison.command:
        which = "the strongest promise within the error" if comparison.resist is None else RESISTS
        which = WITHOUT_TARGET if comparison.resist is None and comparison.target_error is None else which
        say(f"{which}, to type:\n{session.complete(comparison.command)}")
