"""Show a breach analysis: the most probable associations, the summary and a histogram; all of it to programs."""

import sys
from collections.abc import Mapping
from typing import Any

from sqlanon.breaches.associations import TOP_COUNT, Breach, name_bin
from sqlanon.cli import display
from sqlanon.cli.console import to_stdout
from sqlanon.plain_values import visible
from sqlanon.prose import write

WIDTH = 40
NODES = 20
ROUNDING = 1e-9  # an error bound below it is that of arithmetic, and not shown


def show_breach(found: Breach, how: display.Format) -> None:
    """Print an analysis to standard output: in a table the 20 most probable, in json and csv every association."""
    if how == "json":
        found.write_json(sys.stdout)
        return
    if how == "csv":
        found.write_csv(sys.stdout)
        return
    count = found.summary["associations"]
    if count:
        frame = found.top(TOP_COUNT)
        exact = ["error_bound"] if frame["error_bound"].max() < ROUNDING else []
        frame = frame.drop(columns=[*exact, *(["note"] if frame["note"].isna().all() else [])])
        display.show_frame(frame, how)
        if count > TOP_COUNT:
            sys.stdout.write(f"… and {count - TOP_COUNT:,} more\n")
        sys.stdout.write("\n")
    display.show_mapping(found.summary, how)
    if count:
        sys.stdout.write("\n" + drawn(found.histogram()))


def drawn(bins: list[int]) -> str:
    """Draw a bar for each tenth of probability between those that are not empty, and one for certainty."""
    filled = [number for number, count in enumerate(bins) if count]
    first, last = filled[0], filled[-1]
    largest = max(bins)
    lines = []
    for number, count in enumerate(bins[first : last + 1], start=first):
        bar = "█" * max(round(WIDTH * count / largest), int(count > 0))
        lines.append(f"{name_bin(number):<11}{bar:<{WIDTH}}  {count:,}".rstrip() + "\n")
    return "".join(lines)


def show_explanation(found: Mapping[str, Any], how: display.Format) -> None:
    """Print what is known of one association: an object for programs, sentences for people."""
    if how != "table":
        display.show_mapping(found, how)
        return
    text = write("cli/explanation.lines", {"found": found, "most": NODES})
    to_stdout().print(visible(text.rstrip("\n")))
