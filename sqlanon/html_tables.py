"""Results as HTML, for notebooks and pages: names and values are a stranger's, and escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from sqlanon.plain_values import plain, visible, words

# notebooks differ: some align every cell to the right, some leave no room between cells
_CELL = "padding:.25em .5em;vertical-align:top"
_TEXT = f"{_CELL};text-align:left"


def write_text(value: object) -> str:
    """Return a value as a terminal shows it, with nothing in it that a browser would act on."""
    return escape(visible(words(plain(value))))


def write_table(heads: Sequence[str], lines: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table of figures and texts (values of a database as `cell` writes them); blank heads are left out."""
    title = f'<caption style="text-align:left">{write_text(caption)}</caption>' if caption else ""
    names = "".join(f'<th scope="col" style="{_TEXT}">{write_text(name)}</th>' for name in heads)
    head = f"<tr>{names}</tr>" if any(heads) else ""
    rows = ("".join(map(_write_cell, line)) for line in lines)
    return f"<table>{title}{head}{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _write_cell(value: object) -> str:
    return f'<td style="{_TEXT if isinstance(value, str) else _CELL}">{write_text(value)}</td>'


def write_paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f"<p>{write_text(text)}</p>" for text in texts)
