"""Results as HTML, for notebooks and pages: names and values are a stranger's, and escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from sqlanon.plain_values import plain, visible, words

# notebooks differ: some align every cell to the right, some leave no room between cells
_CELL = "padding:.25em .5em;vertical-align:top"
_TEXT = f"{_CELL};text-align:left"
# both are told apart from white and from near-black
_COLOURS = {"green": "#2e8b57", "amber": "#c77700", "red": "#d63a2f", "": "#8a8a8a"}
Colour = Literal["green", "amber", "red", ""]


@dataclass(frozen=True)
class Verdict:
    """What a result comes to for whoever decides: a colour, and the reason in words."""

    words: str
    colour: Colour = ""

    @property
    def said(self) -> str:
        """Return the colour as a word for who cannot see it."""
        return {"green": "Good", "amber": "Weigh it", "red": "Stop", "": ""}[self.colour]

    def html(self) -> str:
        """Return the verdict as a paragraph of HTML."""
        said = f"<strong>{self.said}.</strong> " if self.said else ""
        style = f"border-left:.5em solid {_COLOURS[self.colour]};padding:.4em .8em;margin:.5em 0"
        return f'<p class="verdict {self.colour}" style="{style}">{said}{write_text(self.words)}</p>'


@dataclass(frozen=True)
class Section:
    """A part of what is shown of a result: its HTML under a heading, folded where few ask for it."""

    heading: str
    body: str
    folded: bool = True

    def html(self, level: int = 4) -> str:
        """Return the section; level: of its heading."""
        if not self.body:
            return ""
        heading = write_text(self.heading)
        body = f'<div style="overflow-x:auto" role="region" tabindex="0" aria-label="{heading}">{self.body}</div>'
        if self.folded:
            return f"<details><summary>{heading}</summary>{body}</details>"
        return f"<h{level}>{heading}</h{level}>{body}"


def write_card(verdict: Verdict, sections: Iterable[Section]) -> str:
    """Return what a notebook shows of a result: the verdict first."""
    return verdict.html() + "".join(section.html() for section in sections)


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
