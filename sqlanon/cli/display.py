"""Show results: tables for people, JSON and CSV for programs."""

import csv
import io
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sqlanon.cli.console import Format, console, say, write_out
from sqlanon.plain_values import cell, plain, records, shorten_hashes, visible, words
from sqlanon.plans.roles import free_name
from sqlanon.prose import write_parts
from sqlanon.text_tables import WIDTH, lay_out
from sqlanon.verification.checks import Report
from sqlanon.wording import STEP, heard, spoken

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.answered import Answered
    from sqlanon.forms.form import Table
    from sqlanon.publishing.plan_text import ShownStep


Titled = tuple[str, list[str], list[list[Any]]]
SEVERAL_BACKGROUNDS = "each background by itself: who combines them is met only by one over all their columns"


def posterior_table(exposure: Mapping[str, Any], promise: str) -> tuple[str, list[str], list[list[object]], list[str]]:
    """Return a title, heads, rows and closing lines for the posteriors that one background allows.

    exposure: the figures of one `Exposure`, with its background's name and attributes. promise: in words, what was
    promised or asked.
    """
    names = ("title", "head", "above", "off_delta", "unknown", "bounds")
    said = write_parts(["adversary/posterior.txt"], names, {**exposure, "promise": promise})
    heads = ["group size", "groups", "rows", "largest posterior", said.pop("head"), "method"]
    figures = ("size", "groups", "rows", "largest_posterior", "rows_above", "method")
    title, *closing = said.values()
    return title, heads, [[line[name] for name in figures] for line in exposure["sizes"]], closing


SHOWN_VOTERS = 20  # lines of a voter list, which may be as long as the table


@contextmanager
def progress(first: str = "starting") -> Iterator[None]:
    """Show the step that runs where standard error is a terminal, and else long steps, a line each.

    first: what to call it before it says so.
    """
    terminal = console(stderr=True)
    # FORCE_COLOR makes rich take a notebook's cell for a terminal: each turn of the wheel would be a line there
    if not (terminal.is_terminal and terminal.file.isatty()):
        with heard(STEP, lambda words: terminal.print(visible(words), highlight=False, soft_wrap=True)):
            yield
        return
    with terminal.status(first) as status, heard(logging.INFO, lambda words: status.update(visible(words))):
        yield


def show_frame(frame: "pd.DataFrame", how: Format) -> None:
    """Print rows to standard output."""
    if how == "json":
        _print_json(records(frame))
    elif how == "csv":
        write_out(frame.to_csv(index=False))
    else:
        _print_table(list(frame.keys()), [list(row.values()) for row in records(frame)])


def show_answer(answer: "Answered", how: Format) -> None:
    """Print the answer to a query; in JSON each row also holds its warnings, if there are any.

    An answer without rows is then one object that holds nothing else.
    """
    notes = [spoken(message) for message in answer.warnings]
    if how == "csv":
        show_frame(answer.df(), how)
    elif how == "table":
        # a key may be NULL; a figure or its end that is not known stays blank
        rows = [
            ["NULL" if value is None and name in answer.keys else value for name, value in row.items()]
            for row in records(answer.columns)
        ]
        _print_table(list(answer.columns.keys()), rows)
    elif notes:
        name = free_name("notes", list(answer.columns.keys()))
        _print_json([row | {name: notes} for row in records(answer.columns)] or [{name: notes}])
    else:
        _print_json(records(answer.columns))


def show_mapping(mapping: Mapping[str, Any], how: Format) -> None:
    """Print one object to standard output, a line per key in a table."""
    if how == "json":
        _print_json(plain(mapping))
        return
    rows = [[key, words(plain(value))] for key, value in mapping.items()]
    if how == "csv":
        _print_csv(["key", "value"], rows)
    else:
        _print_table(["", ""], rows, header=False)


def show_to_programs(result: Any, how: Format) -> bool:
    """Print a result as JSON or as CSV; tell whether that was asked for: people read it otherwise."""
    if how == "json":
        show_mapping(result.as_plain(), how)
    elif how == "csv":
        show_frame(result.df(), how)
    return how != "table"


def show_result(result: Any, how: Format, tables: Iterable[Titled], headline: str = "") -> bool:
    """Print a result, for people its tables with blank lines between, and its notes; tell whether they read it."""
    if show_to_programs(result, how):
        return False
    sys.stdout.write(visible(headline))
    for number, (title, heads, lines) in enumerate(tables):
        sys.stdout.write("\n" if number else "")
        show_lines(title, heads, lines)
    for note in result.notes:
        say(f"note: {note}")
    return True


def show_publication(lines: Mapping[str, str], command: str, tables: Iterable["Table"]) -> None:
    """Print what was published, in words: lines by their names, each text of several lines below one another.

    command: what to type next, in one piece. tables: what is shown below it.
    """
    rows = [
        ["" if number else name, spoken(text).removeprefix("warning: ")]
        for name, whole in lines.items()
        for number, text in enumerate(whole.split("\n"))
    ]
    _print_table(["", ""], rows, header=False)
    sys.stdout.write(f"{'next':{max(map(len, lines))}}  {visible(command)}\n")
    for table in tables:
        _show_titled(*table)


def _show_titled(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], closing: Sequence[str]) -> None:
    """Print a table between what it is about and what it comes to."""
    sys.stdout.write(f"\n{visible(title)}\n")
    _print_table(heads, rows)
    sys.stdout.write("".join(f"{visible(line)}\n" for line in closing))


def show_step(step: "ShownStep") -> None:
    """Print one step of a method: what it makes, how many rows, how long it took, the first rows."""
    took = "" if step.seconds is None else f", {step.seconds:.2f} s"
    rows = "a check" if step.kind == "query" else f"{step.row_count:,} row{'' if step.row_count == 1 else 's'}"
    _show_titled(
        f"{step.name} ({rows}{took}): {step.sentence}", list(step.rows[0]) if step.rows else [],
        [list(row.values()) for row in step.rows], (),
    )  # fmt: skip


def show_lines(title: str, heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Print a table under its title; without heads that say anything, without either."""
    if title:
        sys.stdout.write(f"{visible(title)}\n")
    _print_table(heads, [[plain(value) for value in line] for line in lines], any(heads), words)


def show_learned(lines: Sequence[Sequence[object]]) -> None:
    """Print a learned influence matrix to standard error, for an expert to correct: it is no part of the release."""
    heads, *rest = lines
    terminal = console(stderr=True)
    texts = [[f"{value:g}" if isinstance(value, float) else value for value in line] for line in rest]
    terminal.print("learned influence matrix")
    terminal.print(lay_out(list(map(str, heads)), texts, terminal.width if terminal.is_terminal else WIDTH), end="")


def show_report(report: Report, how: Format) -> None:
    """Print a verification: its checks, its figures, the first lines of the voters."""
    if how == "json":
        checks = [
            {"name": c.name, "required": plain(c.required), "found": plain(c.found), "holds": c.holds}
            for c in report.checks
        ]
        whole: dict[str, Any] = {"holds": report.holds, "checks": checks, "figures": plain(report.figures)}
        if report.presence is not None:
            whole["presence"] = records(report.presence)
        if report.posterior:
            whole["posterior"] = plain(report.posterior)
        _print_json(whole)
        return
    heads, shorten = ["check", "required", "found", "holds"], visible if how == "csv" else shorten_hashes
    rows = [
        [check.name, *(shorten(words(plain(side))) for side in (check.required, check.found)), check.mark]
        for check in report.checks
    ]
    if how == "csv":
        _print_csv(heads, rows)
        return
    _print_table(heads, rows)
    if report.figures:
        _print_table(["figure", "value"], [[key, words(plain(value))] for key, value in report.figures.items()])
    if report.presence is not None:
        show_frame(report.presence.head(SHOWN_VOTERS), how)
    for posterior in report.posterior:
        _show_titled(*posterior_table(posterior, report.promise))
    if len(report.posterior) > 1:
        sys.stdout.write(f"\n{SEVERAL_BACKGROUNDS}\n")


def _print_csv(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    write_out(text.getvalue())


def _print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    header: bool = True,
    write: Callable[[object], str] = cell,
) -> None:
    """Print a table as wide as the terminal."""
    width = Console().width if sys.stdout.isatty() else WIDTH
    sys.stdout.write(lay_out(columns, rows, width, header, cut=sys.stdout.isatty(), write=write))


def _print_json(value: object) -> None:
    write_out(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
