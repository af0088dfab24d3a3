"""What results come to for whoever decides: a verdict with its reason, and the parts that are shown below it."""

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from sqlanon.plain_values import visible
from sqlanon.text_tables import write_text
from sqlanon.wording import spoken

SUMMARY, MOST_SAID = 100, 600  # letters of a line of a summary, and of all that it says in words
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


def write_summary(verdict: Verdict, *more: str) -> str:
    """Return what `print` shows of a result: its verdict, and what else there is to look at, in a few lines."""
    said = f"{verdict.said}. {verdict.words}" if verdict.said else verdict.words
    whole = visible(spoken(said))
    cut = whole if len(whole) <= MOST_SAID else f"{whole[:MOST_SAID].rsplit(' ', 1)[0]} …"
    return "\n".join([*wrap(cut, SUMMARY), *(visible(spoken(line)) for line in more)])
