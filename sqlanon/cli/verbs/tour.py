"""The verbs for a first look: demo, and page."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.app import command
from sqlanon.cli.console import say
from sqlanon.cli.options import DatabaseOption
from sqlanon.errors import UsageError, raised_as


@command(epilog="Example: sqlanon page patients.parquet; sqlanon page --database hospital.duckdb patients")
def page(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Parquet, CSV or JSON path or glob; a table's name.")
    ] = None,
    database: DatabaseOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: a free one.")] = 0,
) -> None:
    """Open a local page: check, choose, publish, verify, attack, report and ask by looking and clicking.

    It is served to this machine alone, and its address holds a token. Ctrl-C ends it, and whatever still runs.
    """
    from sqlanon.page.serve import serve
    from sqlanon.page.state import State

    state = State(source or "", database or "")
    if source is not None:
        state.start("data")
    serve(state, port, say)


@command(epilog="Example: sqlanon demo")
def demo(
    keep: Annotated[Path | None, typer.Option(help="Directory to keep the tour's files in.")] = None,
) -> None:
    """Publish an invented hospital table, verify the release, and ask it a question."""
    if keep is not None:
        if keep.exists():
            raise UsageError(f"{str(keep)!r} exists; choose another --keep")
        with raised_as(UsageError, f"cannot make the directory {str(keep)!r}"):
            keep.mkdir()
        _tour(keep)
        return
    with tempfile.TemporaryDirectory(prefix="sqlanon-demo-") as folder:
        _tour(Path(folder))


def _tour(folder: Path) -> None:
    from sqlanon.cli import display
    from sqlanon.cli.console import console
    from sqlanon.publishing import demo as demonstration

    out = console()
    example = demonstration.tour(folder)
    manifest = example.release.manifest
    out.print("The publisher has a table of 4,000 invented patients and types")
    out.print(
        f"  sqlanon publish anatomy patients --database hospital.duckdb --quasi {','.join(demonstration.QUASI)} \\"
    )
    out.print("      --sensitive disease --id ssn -l 4 --out release\n")
    out.print(f"Published: {manifest['rows']} rows in {manifest['groups']} groups. The first rows of qit and st:\n")
    for name in ("qit", "st"):
        display.show_frame(example.release.table(name).limit(3).df(), "table")
        out.print("")
    out.print("Anybody can check what was promised:  sqlanon verify release\n")
    display.show_report(example.report, "table")
    out.print("\nThe recipient has the release alone and asks")
    out.print(f'  sqlanon estimate release "{demonstration.QUESTION}"')
    out.print("(the column truth was added here from the hospital's own table)\n")
    display.show_frame(example.answer, "table")
    inside = example.answer["truth"].between(example.answer["n_low"], example.answer["n_high"]).sum()
    out.print(f"\nThe truth lies inside the 95 % interval in {inside} of {len(example.answer)} rows.")
