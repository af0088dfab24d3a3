"""A chart as an HTML figure: its alternative text, its caption, and its numbers as a table."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlanon.charts.drawing import is_installed, write_svg
from sqlanon.html_tables import write_table, write_text


def write_figure(body: str, caption: str, heads: Sequence[str] = (), lines: Iterable[Sequence[object]] = ()) -> str:
    """Return a figure; caption: what it shows. heads, lines: its figures, folded below it.

    Where its picture could not be drawn, so that `body` is empty, the table stands alone, unfolded.
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


def draw_image(draw: Callable[[], Any], name: str) -> str:
    """Return a chart of altair's as a picture, nothing where it cannot be drawn here; name: as of `write_image`."""
    return write_image(draw(), name) if is_installed() else ""


def write_image(chart: Any, name: str) -> str:
    """Return a chart as a picture; name: what it shows, for who cannot see it."""
    # what the chart says stands in its name; its marks are decoration for a screen reader
    svg = write_svg(chart).replace("<svg ", '<svg aria-hidden="true" ', 1)
    return f'<div role="img" aria-label="{write_text(name)}" style="max-width:360px">{svg}</div>'
