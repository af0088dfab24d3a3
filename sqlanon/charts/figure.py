"""A chart as a figure of HTML: its name for who cannot see it, its caption, and its figures as a table."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlanon.charts.drawing import is_installed, write_svg
from sqlanon.html_tables import write_table, write_text


def write_figure(
    draw: Callable[[], Any], caption: str, heads: Sequence[str] = (), lines: Iterable[Sequence[object]] = ()
) -> str:
    """Return a figure, nothing where charts cannot be drawn here.

    caption: what the chart shows, also its name for screen readers. heads, lines: its figures, folded below it.
    """
    if not is_installed():
        return ""
    # what the chart says stands in its name and in the table; its marks are decoration for a screen reader
    svg = write_svg(draw()).replace("<svg ", '<svg aria-hidden="true" ', 1)
    figures = (
        f"<details><summary>The chart's figures</summary>{write_table(heads, lines, caption)}</details>"
        if heads
        else ""
    )
    return (
        f'<figure style="margin:1em 0;max-width:360px"><div role="img" aria-label="{write_text(caption)}">{svg}</div>'
        f"<figcaption>{write_text(caption)}</figcaption>{figures}</figure>"
    )
