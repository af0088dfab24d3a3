"""The verb of whoever wants to publish views: breach."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.api import judgement
from sqlanon.cli.app import command
from sqlanon.cli.console import Format, say, write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import Session
from sqlanon.errors import UsageError
from sqlanon.models.publication import arguments_of

if TYPE_CHECKING:
    from sqlanon.breaches.associations import Breach
    from sqlanon.breaches.connectivity import BreachQuestion
    from sqlanon.engines.base import Engine


WIDTH = 40  # of the longest bar of the histogram
NODES = 20  # of a part that are named
ROUNDING = 1e-9  # an error bound below it is that of arithmetic, and not shown
Explained = Annotated[
    tuple[str, str] | None,
    typer.Option("--explain", help="An id and a property: show nodes, edges and worlds of this association."),
]
File = Annotated[Path | None, typer.Option("--out", help="Write all associations to a .parquet, .csv or .json file.")]


@command(
    epilog="Example: sqlanon breach --database hospital.duckdb --base patients --view 'SELECT name, age FROM patients'"
    " --view 'SELECT age, problem FROM patients' --secret \"SELECT name, problem FROM patients WHERE problem = 'HIV'\""
)
@command_of(judgement.breach)
def breach(
    values: Values,
    threshold: Annotated[
        float | None, typer.Option(help="Exit 3 where an association's probability may be larger.")
    ] = None,
    cover: Annotated[int | None, typer.Option(help="Exit 3 where an association's cover is smaller.")] = None,
    explained: Explained = None,
    out: File = None,
    into: Annotated[str | None, typer.Option(help="Keep all associations in a new table.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file at --out.")] = False,
    *,
    session: Session,
) -> None:
    """Tell how likely each secret association is to whoever has the published views."""
    from sqlanon.breaches.analysis import analyse, render_analysis
    from sqlanon.breaches.associations import check_file, check_table
    from sqlanon.breaches.connectivity import BreachQuestion
    from sqlanon.cli import display
    from sqlanon.read_places import refuse_alone, refuse_read
    from sqlanon.sql.source import read_files

    question = BreachQuestion.of(session.engine, **arguments_of(judgement.breach, values))
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"the threshold {threshold:g} is no probability; it lies between 0 and 1")
    if cover is not None and cover < 1:
        raise UsageError(f"a cover of {cover} properties cannot be asked for; say 1 or more")
    refuse_alone(overwrite, out, "out")
    if out is not None:
        check_file(out.absolute(), overwrite)
        refuse_read(out, [*read_files(question.base), session.database])
    engine = session.open(write=into is not None)
    if session.sql:
        write_out(render_analysis(question, engine))
        return
    if explained is not None:
        _explain(question, engine, explained, session.how)
        return
    if into is not None:
        check_table(engine, into)
    with display.progress():
        analysis = analyse(question, engine)
    if into is not None:
        analysis.store(into)
    if out is not None:
        analysis.write(out, overwrite)
    _show(analysis, session.how)
    for note in analysis.notes:
        say(note)
    analysis.require(threshold, cover)


def _explain(question: "BreachQuestion", engine: "Engine", pair: tuple[str, str], how: Format) -> None:
    """Say what the graph knows of one association: an object for programs, sentences for people."""
    from sqlanon.breaches.analysis import explain_association
    from sqlanon.cli import display
    from sqlanon.cli.console import console
    from sqlanon.plain_values import visible
    from sqlanon.prose import write

    explanation = explain_association(question, engine, *pair)
    if how != "table":
        display.show_mapping(explanation, how)
        return
    text = write("cli/explanation.lines", {"found": explanation, "most": NODES})
    console().print(visible(text.rstrip("\n")))


def _show(analysis: "Breach", how: Format) -> None:
    """Print an analysis to standard output: in a table the 20 most probable, in json and csv every association."""
    from sqlanon.breaches.associations import TOP_COUNT
    from sqlanon.cli import display

    if how == "json":
        analysis.write_json(sys.stdout)
        return
    if how == "csv":
        analysis.write_csv(sys.stdout)
        return
    count = analysis.summary["associations"]
    if count:
        frame = analysis.top(TOP_COUNT)
        exact = ["error_bound"] if frame["error_bound"].max() < ROUNDING else []
        frame = frame.drop(columns=[*exact, *(["note"] if frame["note"].isna().all() else [])])
        display.show_frame(frame, how)
        if count > TOP_COUNT:
            sys.stdout.write(f"… and {count - TOP_COUNT:,} more\n")
        sys.stdout.write("\n")
    display.show_mapping(analysis.summary, how)
    if count:
        sys.stdout.write("\n" + _draw(analysis.histogram()))


def _draw(bins: list[int]) -> str:
    """Draw a bar for each tenth of probability between those that are not empty, and one for certainty."""
    from sqlanon.breaches.associations import name_bin

    filled = [number for number, count in enumerate(bins) if count]
    first, last = filled[0], filled[-1]
    largest = max(bins)
    lines = []
    for number, count in enumerate(bins[first : last + 1], start=first):
        bar = "█" * max(round(WIDTH * count / largest), int(count > 0))
        lines.append(f"{name_bin(number):<11}{bar:<{WIDTH}}  {count:,}".rstrip() + "\n")
    return "".join(lines)
