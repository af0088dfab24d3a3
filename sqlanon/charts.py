"""Charts as HTML and SVG, drawn without another package: bars and intervals as lines, with names that wrap.

Marks are placed in percent, so that a chart is as wide as there is room. Words and dashes take the colour of the text
around them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.plain_values import visible
from sqlanon.text_tables import write_table, write_text

RELEASE, SOURCE, FAINT = "#2f7fc1", "#c2571a", "#8a8a8a"  # all at 3:1 or more on white and on near-black
_LONGEST = 80  # letters of a name
_GRID = (
    "display:grid;grid-template-columns:fit-content(45%) minmax(5rem,1fr) max-content;gap:.2rem .6rem;"
    "align-items:center;font-size:.8125rem;line-height:1.3;overflow-wrap:anywhere"
)
_LEGEND = "display:flex;flex-wrap:wrap;gap:0 1rem;font-size:.8125rem;margin:.25rem 0"
_BAR = '<rect x="0" y="3" width="{place}" height="9" fill="{colour}"/>'
_DOT = '<circle cx="{place}" cy="{height}" r="4" fill="{colour}"/>'
_DIAMOND = (
    '<svg x="{place}" y="{height}" overflow="visible"><path d="M0 -4.5 4.5 0 0 4.5 -4.5 0z" fill="{colour}"/></svg>'
)
_RULE = '<line x1="{low}" x2="{high}" y1="{height}" y2="{height}" stroke="{colour}" stroke-width="{width}"/>'
_LIMIT = (
    '<line x1="{place}" x2="{place}" y1="0" y2="15" stroke="currentColor" stroke-width="2" stroke-dasharray="3 2"/>'
)


@dataclass(frozen=True)
class Bar:
    """A bar from 0 to `value`; figure: the words at its end. limit: where a dashed line stands; above: beyond it."""

    name: object
    value: float
    figure: str
    limit: float | None = None
    above: bool = False


def write_bars(bars: Sequence[Bar], legend: tuple[str, str] | None = None, end: float = 0.0) -> str:
    """Return a line for each bar, all on one scale from 0 to `end` at least.

    legend: what bars are that are not above, and that are.
    """
    largest = max((number for bar in bars for number in (bar.value, bar.limit or 0.0)), default=0.0)
    largest = max(largest, end)
    tracks = []
    for bar in bars:
        marks = _BAR.format(place=_place(bar.value, largest), colour=SOURCE if bar.above else RELEASE)
        if bar.limit is not None:
            marks += _LIMIT.format(place=_place(bar.limit, largest))
        tracks.append(_write_track(marks, 15))
    legend_text = ""
    if legend is not None:
        small = {"place": "100%"}
        signs = [_BAR.format(colour=RELEASE, **small), _BAR.format(colour=SOURCE, **small), _LIMIT.format(place="50%")]
        legend_text = _write_legend(zip(signs, (*legend, "promised"), strict=True))
    return legend_text + _write_grid([bar.name for bar in bars], tracks, [bar.figure for bar in bars])


def write_intervals(lines: Sequence[dict[str, Any]], dot_label: str, diamond_label: str) -> str:
    """Return a line for each `name`: a dot at `value` on its interval from `low` to `high`, a diamond at its `truth`.

    The diamond stands below the dot, so that neither hides the other. dot_label, diamond_label: their words.
    """
    sides = ("low", "value", "high", "truth")
    largest = max((line[side] for line in lines for side in sides if line[side] is not None), default=0.0)
    has_truth = any(line["truth"] is not None for line in lines)
    tracks = []
    for line in lines:
        marks = ""
        if line["low"] is not None and line["high"] is not None:
            ends = {side: _place(line[side], largest) for side in ("low", "high")}
            marks = _RULE.format(**ends, height=5, colour=RELEASE, width=2)
        if line["value"] is not None:
            marks += _DOT.format(place=_place(line["value"], largest), height=5, colour=RELEASE)
        if line["truth"] is not None:
            marks += _DIAMOND.format(place=_place(line["truth"], largest), height=14, colour=SOURCE)
        tracks.append(_write_track(marks, 19 if has_truth else 11))
    digits = 0 if largest >= 10 else 2
    figures = [_write_interval(line["low"], line["value"], line["high"], digits) for line in lines]
    middle = {"place": "50%", "height": 7}
    signs = [
        (_DOT.format(colour=RELEASE, **middle), dot_label),
        (_DIAMOND.format(colour=SOURCE, **middle), diamond_label),
    ]
    legend_text = _write_legend(signs) if has_truth else ""
    return legend_text + _write_grid([line["name"] for line in lines], tracks, figures)


def _write_interval(low: float | None, value: float | None, high: float | None, digits: int) -> str:
    """Return an estimate with what it may be: on a scale of large counts the interval of a small one is not seen."""
    figure = "" if value is None else f"{value:,.{digits}f}"
    if low is None or high is None or low == high:
        return figure
    return f"{figure} ({low:,.{digits}f} to {high:,.{digits}f})"


def _place(number: float, largest: float) -> str:
    return f"{100 * max(number, 0.0) / largest if largest > 0 else 0.0:.2f}%"


def _write_track(marks: str, height: int) -> str:
    """Return one line's marks above a faint line from 0 to the end of the scale."""
    ground = _RULE.format(low="0", high="100%", height=height, colour=FAINT, width=0.5)
    style = "display:block;overflow:visible"
    return f'<svg aria-hidden="true" width="100%" height="{height}" style="{style}">{ground}{marks}</svg>'


def _write_legend(signs: Iterable[tuple[str, str]]) -> str:
    items = "".join(
        f'<span><svg aria-hidden="true" width="14" height="14" style="vertical-align:middle">{sign}</svg>'
        f" {write_text(words)}</span>"
        for sign, words in signs
    )
    return f'<div style="{_LEGEND}">{items}</div>'


def labels(values: Iterable[object]) -> list[str]:
    """Write values as names of one chart: what is there to see of them, not too much, and no two alike."""
    counts: dict[str, int] = {}
    written = []
    for value in values:
        text = " ".join(visible("NULL" if value is None else str(value)).split()) or "(blank)"
        text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        counts[text] = counts.get(text, 0) + 1
        written.append(text if counts[text] == 1 else f"{text} ({counts[text]})")
    return written


def _write_grid(names: Iterable[object], tracks: Sequence[str], figures: Sequence[str]) -> str:
    lines = zip(labels(names), tracks, figures, strict=True)
    cells = (
        f'<span>{write_text(name)}</span><div>{track}</div><span style="text-align:right">{write_text(figure)}</span>'
        for name, track, figure in lines
    )
    return f'<div style="{_GRID}">{"".join(cells)}</div>'


def write_figure(body: str, caption: str, heads: Sequence[str] = (), lines: Iterable[Sequence[object]] = ()) -> str:
    """Return a figure; caption: what it shows. heads, lines: its figures, folded below it.

    Where there is no picture, so that `body` is empty, the table stands alone, unfolded.
    """
    if not body and not heads:
        return ""
    figures = ""
    if heads:
        # a long word of a stranger's is broken: a figure is as narrow as a phone
        table = write_table(heads, lines, caption)
        opened = f'<details style="overflow-wrap:anywhere"{"" if body else " open"}>'
        figures = f"{opened}<summary>The chart's figures</summary>{table}</details>"
    return (
        f'<figure style="margin:1em 0;width:100%;max-width:30rem">{body}'
        f"<figcaption>{write_text(caption)}</figcaption>{figures}</figure>"
    )
