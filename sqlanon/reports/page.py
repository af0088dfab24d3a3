"""The page: sections of HTML in one file, with its style in it, and nothing that a browser would fetch or run.

The charts of a page: what a release has lost, and how large its groups are.
"""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path

from sqlanon.adversary.findings import CLEAR, Attack, Finding
from sqlanon.atomic_files import check_new_file, write_atomically
from sqlanon.attacks.attack_release import LEFT_OUT
from sqlanon.attacks.sample import SAMPLED
from sqlanon.charts.drawing import is_installed
from sqlanon.charts.figure import draw_image, write_figure
from sqlanon.charts.intervals import ESTIMATED, TRUE
from sqlanon.charts.lines import Bar, write_bars, write_intervals
from sqlanon.charts.risk_utility import WHAT, draw_risk_utility
from sqlanon.charts.selectivity import describe_errors, draw_errors
from sqlanon.comparison.comparison import ORDER
from sqlanon.forms import form_of
from sqlanon.html_tables import write_paragraphs, write_table, write_text
from sqlanon.plain_values import plain, words
from sqlanon.plans.manifest import Manifest
from sqlanon.reports.compared_lines import by_workload, candidate_of
from sqlanon.reports.facts import Facts
from sqlanon.reports.frequencies import Frequencies
from sqlanon.reports.sizes import Sizes
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


def write_loss(facts: Facts) -> str:
    """Return the section on information loss."""
    form = form_of(facts.manifest)
    figures = [
        *_draw_errors(facts),
        *(_draw_frequencies(frequency, form.intervals) for frequency in facts.frequencies),
        _draw_sizes(facts.sizes),
    ]
    paragraphs = [f"How near answers from the release come to the truth; bars {form.bars}."]
    if not facts.is_internal:
        paragraphs.append("This view holds no figure of the source; whoever owns it can set true values beside these.")
    if facts.compared and not is_installed():
        paragraphs.append("Errors by selectivity are told without charts: what draws them was not installed.")
    return write_paragraphs(paragraphs) + f'<div class="figures">{"".join(figures)}</div>'


def _draw_map(facts: Facts) -> str:
    """Return what the candidates of a comparison cost beside what attacks reach, nothing where none was attacked."""
    if not facts.candidates:
        return ""
    heads = ["candidate", "best attack", "promised", "median error"]
    lines = [
        [f"{line['method']}, {line['parameter']}", *(f"{line[name]:.1%}" for name in ("reached", "promised", "error"))]
        for line in facts.candidates
    ]
    return write_figure(draw_image(partial(draw_risk_utility, facts.candidates), WHAT), WHAT, heads, lines)


def _draw_errors(facts: Facts) -> Iterator[str]:
    candidate = candidate_of(facts.manifest)
    for workload, lines in by_workload(facts.compared).items():
        release_candidate = candidate if any(line["candidate"] == candidate for line in lines) else ""
        bands = [name for name in ORDER if any(line["band"] == name for line in lines)]
        rows = [[line["candidate"], line["band"], f"{line['error']:.1%}"] for line in lines]
        caption = describe_errors(workload)
        drawn = draw_image(partial(draw_errors, lines, bands, release_candidate), caption)
        yield write_figure(drawn, caption, ["candidate", "rows", "median error"], rows)


def _draw_frequencies(frequencies: Frequencies, intervals: str) -> str:
    what = " and ".join(frequencies.columns)
    has_truth = any(line["truth"] is not None for line in frequencies.lines)
    caption = f"People by {what}: {'the most frequent, ' if frequencies.is_cut else ''}as the release tells them"
    caption += intervals
    caption += ", beside the source" if has_truth else ""
    heads = [what, "estimated", "low", "high", *(["in the source"] if has_truth else [])]
    lines = [[line[key] for key in ("name", "value", "low", "high", *(["truth"] if has_truth else []))]
             for line in frequencies.lines]  # fmt: skip
    return write_figure(write_intervals(frequencies.lines, ESTIMATED, TRUE), caption, heads, lines)


def _draw_sizes(sizes: Sizes) -> str:
    caption = f"How many {sizes.what} there are, by the number of rows in them"
    bars = [Bar(line["size"], line["groups"], f"{line['groups']:,}") for line in sizes.lines]
    lines = [[line["size"], line["groups"]] for line in sizes.lines]
    return write_figure(write_bars(bars), caption, ["rows", sizes.what], lines)


def tell_attack(manifest: Manifest, attack: Attack) -> Iterator[str]:
    """Say how far attacks get, promised beside reached."""
    column = " or ".join(words(name) for name in manifest["columns"]["sensitive"])
    leaks = [f"{leak.attack} ({leak.family})" for leak in attack.leaks]
    if leaks:
        yield f"LEAK: the release gives away what its method should hide, by: {', '.join(leaks)}. Do not hand it on."
    best = attack.strongest
    if best is None or best.reached is None:
        yield "Nothing was promised that the attacks tried here could be held against."
    else:
        yield _compare(best, column, attack)
    if LEFT_OUT in attack.notes:
        yield (
            "What an adversary learns from the release as a whole was not tried here, for so many rows take minutes;"
            " it may go beyond this. `sqlanon attack` tries it, and this page takes what it finds."
        )
    elif sampled := [note for note in attack.notes if note.startswith(SAMPLED)]:
        yield f"{sampled[0][0].upper()}{sampled[0][1:]}: it may go beyond this. `sqlanon attack` takes all of them."
    if LEFT_OUT not in attack.notes and not attack.scored:
        believed = best is not None and best.believed
        yield (
            "No guesses were scored, for that takes the source: "
            + (
                "the adversary's own confidence may be too high or too low."
                if believed
                else "an adversary who learns from the release as a whole may get further than this."
            )
        )


def _compare(best: Finding, column: str, attack: Attack) -> str:
    reached = _of_hundred(best.reached or 0.0)
    sentence = {
        "composition": f"other releases of the same people leave {reached} with one possible {column}",
        "background knowledge": f"in the worst group, the best guess at {column} is right for {reached}",
    }.get(best.family, f"the best attack names {column} rightly for {reached}")
    if best.believed:
        sentence = f"by its own confidence, the best attack names {column} rightly for {reached}"
    sentence = sentence[0].upper() + sentence[1:]
    if best.promised is None:
        return f"{sentence}; no confidence was promised. Weigh it before the release is handed on."
    promised = _of_hundred(best.promised)
    if (best.reached or 0.0) <= best.promised + CLEAR:
        further = "further" if (best.reached or 0.0) <= best.promised else "clearly further"
        sentence = f"{sentence}; promised was no more than {promised}."
        return sentence if best.believed else f"{sentence} {_deny(attack, further)}"
    return (
        f"{sentence}; the promise speaks of {promised}. What goes beyond it ({best.family}: {best.attack}) is not"
        " covered by the promise: weigh it before the release is handed on."
    )


def _deny(attack: Attack, further: str) -> str:
    """Say that attacks get no further than the promise, as far as the findings have it so."""
    beyond = [
        finding for finding in attack.findings
        if finding in attack.certain
        or (not finding.headline and finding.promised is not None
            and (finding.reached or 0.0) > finding.promised + CLEAR)
    ]  # fmt: skip
    if not beyond:
        return f"No attack tried here gets {further} than the promise."
    attacks = ", ".join(dict.fromkeys(f"{finding.attack} ({finding.whom})" for finding in beyond))
    return (
        f"From the release alone no attack tried here gets {further} than the promise over all people. Beyond it, for"
        f" some of them or with more knowledge: {attacks}."
    )


def _of_hundred(share: float) -> str:
    return f"{100 * share:.0f} of 100 people" if share >= 0.01 or share == 0 else f"{share:.2%} of the people"


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
        kind, text = ("internal", _INTERNAL) if self.facts.is_internal else ("public", _PUBLIC)
        return f'<p class="view {kind}">{text}</p>'

    def _sections(self) -> Iterator[str]:
        facts = self.facts
        yield _section("In short", f'<div class="lead">{write_paragraphs(self.sentences)}</div>' + _draw_map(facts))
        promise = [[name, self._speak(facts.summary[name])] for name in _TOLD if name in facts.summary]
        tables = (write_paragraphs([title]) + _wide(write_table(heads, rows), title) + write_paragraphs(closing)
                  for title, heads, rows, closing in facts.tables)  # fmt: skip
        yield _section("What is promised", _wide(write_table([], promise), "promise") + "".join(tables))
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
        findings = [finding for finding in facts.attack.findings if finding.family == "composition"]
        yield from (f"{finding.attack}: {finding.whom}." for finding in findings)
        if not findings:
            yield "The releases named beside this one could not be intersected with it; the notes on attacks say why."

    def _write_versions(self) -> str:
        manifest = self.facts.manifest
        names = ("format", "method", "parameters", "engine", "sqlanon", "created")
        lines = [[name, words(plain(manifest[name]))] for name in names if name in manifest]
        figures = ("rows", "bytes", "sha256")  # tables of a session have rows alone
        files = [[name, *(entry.get(part) for part in figures)] for name, entry in manifest["files"].items()]
        return f'<div class="hashes">{write_table([], lines)}{write_table(["file", *figures], files)}</div>'


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>\n"


def _wide(body: str, what: str) -> str:
    """Let what is wider than a phone be moved, by a keyboard as well."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{write_text(what)}">{body}</div>'
