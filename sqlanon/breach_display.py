"""Show a breach analysis: the most probable associations, the summary and a histogram; all of it to programs."""

import sys

from sqlanon import display
from sqlanon.disclosure import BINS, SHOWN, Breach

WIDTH = 40


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
        frame = found.top(SHOWN)
        frame = frame.drop(columns=["error_bound", *(["note"] if frame["note"].isna().all() else [])])
        display.show_frame(frame, how)
        if count > SHOWN:
            sys.stdout.write(f"… and {count - SHOWN:,} more\n")
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
        label = "1.0" if number == BINS else f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"
        bar = "█" * max(round(WIDTH * count / largest), int(count > 0))
        lines.append(f"{label:<11}{bar:<{WIDTH}}  {count:,}".rstrip() + "\n")
    return "".join(lines)
