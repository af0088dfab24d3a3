"""The page: sections of HTML in one file, with its style in it, and nothing that a browser would fetch or run."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from sqlanon.atomic_files import check_new_file, write_atomically
from sqlanon.html_tables import write_paragraphs, write_table, write_text
from sqlanon.plain_values import plain, words
from sqlanon.reports.facts import Facts
from sqlanon.reports.headline import tell_attack
from sqlanon.reports.loss import write_loss
from sqlanon.version import VERSION
from sqlanon.wording import advice, option, spoken

log = logging.getLogger("sqlanon")
ENDINGS = (".html", ".htm")
_TOLD = ("against", "promised", "not promised", "published", "method", "dropped rows", "uncertain", "suppressed")
_INTERNAL = "Internal: holds figures of the source. Keep it as the source itself."
_PUBLIC = "Public: from the published files alone."
_ALONE = (
    "No other release was named. Every release of the same people is another cut through their groups: each one more"
    " leaves fewer possible values."
    + advice(f" Name earlier ones with {option('others', 'RELEASE', '--with')}, and this page tells whom they fix.")
)
# no script runs and nothing is fetched, whatever a name or a value holds
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Page:
    """One page about one release; `facts` holds what it tells, `html` is the whole file."""

    facts: Facts

    @property
    def holds(self) -> bool | None:
        """Tell whether the release holds what it promises; None where that is not proved."""
        return self.facts.verification.holds

    @property
    def sentences(self) -> list[str]:
        """Return what the release comes to, for whoever decides."""
        facts = self.facts
        promised = f"Promised: {self._speak(facts.summary['promised'])}."
        return [promised, facts.verification.sentence, *tell_attack(facts.manifest, facts.attack)]

    @cached_property
    def html(self) -> str:
        """Return the page."""
        log.info("drawing")
        name = f"the release {self.facts.name}" if self.facts.name else "this release"
        title = f"What {name} promises, gives away and loses"
        style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{write_text(title)}</title>\n<style>\n{style}</style></head>\n<body><header>"
            f"<h1>{write_text(title)}</h1>{self._write_view()}</header>\n<main>{''.join(self._sections())}</main>\n"
            f"<footer><p>Written by sqlanon {write_text(VERSION)}.</p></footer></body></html>\n"
        )

    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the page to an .html file, whole or not at all; of the internal view its owner alone can read it."""
        target = Path(path)
        check_new_file(target, ENDINGS, option("out"), overwrite)
        with write_atomically(target, f"cannot write {str(target)!r}") as place:
            place.write_text(self.html, encoding="utf-8")
            if not self.facts.is_internal:
                place.chmod(0o644)

    def _repr_html_(self) -> str:
        """Show it in a notebook: in a frame of its own, where its style stays."""
        return (
            f'<iframe sandbox srcdoc="{escape(self.html)}" title="Report of the release"'
            ' style="width:100%;height:40rem;border:1px solid #8a8a8a"></iframe>'
        )

    def _speak(self, text: str) -> str:
        return spoken(text, "command line" if self.facts.is_internal else "recipient")

    def _write_view(self) -> str:
        kind, told = ("internal", _INTERNAL) if self.facts.is_internal else ("public", _PUBLIC)
        return f'<p class="view {kind}">{told}</p>'

    def _sections(self) -> Iterator[str]:
        facts = self.facts
        yield _section("In short", f'<div class="lead">{write_paragraphs(self.sentences)}</div>')
        told = [[name, self._speak(facts.summary[name])] for name in _TOLD if name in facts.summary]
        tables = (write_paragraphs([title]) + _wide(write_table(heads, rows), title) + write_paragraphs(closing)
                  for title, heads, rows, closing in facts.tables)  # fmt: skip
        yield _section("What is promised", _wide(write_table([], told), "promise") + "".join(tables))
        yield _section("Promise and attacks", _wide(facts.attack.html_body(), "attacks"))
        yield _section("What was verified", _wide(facts.verification.html_body(), "checks"))
        yield _section("Information loss", write_loss(facts))
        heads = ["table", "column", "type", "what it is"]
        yield _section("Columns", _wide(write_table(heads, facts.columns), "columns"))
        yield _section("Together with other releases", write_paragraphs(self._tell_composition()))
        yield _section("Versions and hashes", self._write_versions())

    def _tell_composition(self) -> Iterator[str]:
        facts = self.facts
        if not facts.others:
            yield self._speak(_ALONE)
            return
        found = [one for one in facts.attack.findings if one.family == "composition"]
        yield from (f"{one.attack}: {one.whom}." for one in found)
        if not found:
            yield "The releases named beside this one could not be intersected with it; the notes on attacks say why."

    def _write_versions(self) -> str:
        manifest = self.facts.manifest
        names = ("format", "method", "parameters", "engine", "sqlanon", "created")
        lines = [[name, words(plain(manifest[name]))] for name in names if name in manifest]
        kept = ("rows", "bytes", "sha256")  # tables of a session have rows alone
        files = [[name, *(one.get(part) for part in kept)] for name, one in manifest["files"].items()]
        return f'<div class="hashes">{write_table([], lines)}{write_table(["file", *kept], files)}</div>'


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>\n"


def _wide(body: str, what: str) -> str:
    """Let what is wider than a phone be moved, by a keyboard as well."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{write_text(what)}">{body}</div>'
