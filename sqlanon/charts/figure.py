"""A chart as an HTML figure: its alternative text, its caption, and its numbers as a table."""

from collections.abc import Iterable, Sequence

from sqlanon.text_tables import write_table, write_text


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
