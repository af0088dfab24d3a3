"""Results as HTML, for notebooks: names and values are a stranger's, and escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from sqlanon.plain_values import cell, plain


def write_table(heads: Sequence[str], lines: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table; values are written as a terminal shows them."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = ("".join(f"<td>{escape(cell(plain(value)))}</td>" for value in line) for line in lines)
    return f"<table>{title}<tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def write_paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)
