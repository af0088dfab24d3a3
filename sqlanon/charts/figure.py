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
    figures = ""
    if heads:
        # a long word of a stranger's is broken: a figure is as narrow as a phone
        told = write_table(heads, lines, caption)
        opened = '<details style="overflow-wrap:anywhere">'
        figures = f"{opened}<summary>The chart's figures</summary>{told}</details>"
    return (
        f'<figure style="margin:1em 0;max-width:360px">{write_image(draw(), caption)}'
        f"<figcaption>{write_text(caption)}</figcaption>{figures}</figure>"
    )


def write_image(chart: Any, name: str) -> str:
    """Return a chart as a picture; name: what it shows, for who cannot see it."""
    # what the chart says stands in its name; its marks are decoration for a screen reader
    svg = write_svg(chart).replace("<svg ", '<svg aria-hidden="true" ', 1)
    return f'<div role="img" aria-label="{write_text(name)}">{svg}</div>'
