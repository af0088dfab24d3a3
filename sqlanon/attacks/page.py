"""The page about a release: facts from it and from what lies beside it, charts, and what it comes to in sentences."""

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from sqlanon.adversary.findings import Attack
from sqlanon.atomic_files import write_atomically
from sqlanon.attacks.attack_release import attack_release
from sqlanon.charts import Bar, write_bars, write_figure, write_intervals
from sqlanon.errors import AnswerError, AnswerWarning
from sqlanon.estimation.failures import is_numeric
from sqlanon.forms import form_of, has_several
from sqlanon.forms.form import Form, Table
from sqlanon.models.fields import verb
from sqlanon.plain_values import plain, words
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest, alike_in
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.prose import as_made, write
from sqlanon.read_places import check_new_file
from sqlanon.releases.companions import describe_columns
from sqlanon.releases.release import Release
from sqlanon.text_tables import write_table
from sqlanon.verdicts import Section, Verdict, write_summary
from sqlanon.verification.checks import PublishedTables, Report
from sqlanon.version import VERSION
from sqlanon.wording import option, spoken

log = logging.getLogger("sqlanon")

MOST_SHOWN = 15  # values or combinations
MOST_TRUE = 2000  # at most so many combinations of the source are read for the lookup
MOST_SPLIT = 50  # a quasi column may have at most so many different values to split the frequencies by
MOST_RANGES = 12  # of sizes
ENDINGS = (".html", ".htm")
ESTIMATED, TRUE = "as the release tells it", "in the source"
_VERSIONS = ("format", "method", "parameters", "engine", "sqlanon", "created")
_SHOWN = ("against", "promised", "not promised", "published", "method", "dropped rows", "uncertain", "suppressed")


@dataclass(frozen=True)
class Frequencies:
    """Estimated counts of the most frequent values of `columns`; of these only where a number is large, or its means.

    number: a sensitive column, or nothing. least: what it is at least; None where its mean was asked. lines: name,
    value, low, high, truth (None where it is not known). is_cut: whether there are rarer ones.
    """

    columns: tuple[str, ...]
    number: str = ""
    least: Any = None
    lines: tuple[dict[str, Any], ...] = ()
    is_cut: bool = False

    @property
    def is_mean(self) -> bool:
        """Tell whether lines are means of the number, and no counts."""
        return bool(self.number) and self.least is None


def count_values(release: Release, against: object) -> list[Frequencies]:
    """Return the frequencies of every sensitive column, and what is asked by a quasi column that has few values.

    That is how often the first sensitive column's values occur; of a number with many values also how many people are
    in its upper quarter, and its mean.
    """
    sensitive = release.manifest["columns"]["sensitive"]
    asked = [_estimate(release, Frequencies((name,)), against) for name in sensitive]
    split, number = _splitting_column(release), sensitive[0]
    if split is None:
        return asked
    asked.append(_estimate(release, Frequencies((split, number)), against))
    types = [release.published_tables.columns(table).get(number, "") for table in release.tables]
    if asked[0].is_cut and any(map(is_numeric, types)) and not has_several(release.manifest):
        with suppress(AnswerError):  # of infinite numbers
            quarter = plain(_answer(release, f"SELECT QUANTILE_DISC({ident(number)}, 0.75) FROM release")[0][0])
            asked += [_estimate(release, Frequencies((split,), number, least), against) for least in (quarter, None)]
    return asked


def _splitting_column(release: Release) -> str | None:
    """Return the quasi column with fewest values; one by which groups were not made, for by these answers are exact."""
    manifest = release.manifest
    if not release.form.keeps_quasi:
        return None
    quasi = manifest["columns"]["quasi"]
    alike = alike_in(manifest)
    published = release.tables[release.form.grouping(manifest)[1]]
    counted = ", ".join(
        f"count(distinct {ident(column)}) as quasi_{number}" for number, column in enumerate(quasi, start=1)
    )
    (row,) = release.engine.rows(f"select {counted} from {published}")
    able = [(int(count), column) for column, count in zip(quasi, row.values(), strict=True) if 2 <= count <= MOST_SPLIT]
    return min(able, key=lambda pair: (pair[1] in alike, pair[0]), default=(0, None))[1]


def _answer(release: Release, query: str) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnswerWarning)  # of bounds, which the page calls so
        return list(release.estimate(query).itertuples(index=False, name=None))


def _estimate(release: Release, asked: Frequencies, against: object) -> Frequencies:
    names, number = asked.columns, asked.number
    keys = ", ".join(map(ident, names))
    people, mean = (ident(free_name(name, list(names))) for name in ("people", "mean"))
    figures = f"COUNT(*) AS {people}" if not asked.is_mean else f"AVG({ident(number)}) AS {mean}"
    where = "" if asked.least is None else f" WHERE {ident(number)} >= {asked.least}"
    order = keys if asked.is_mean else f"{people} DESC, {keys}"
    query = f"SELECT {keys}, {figures} FROM release{where} GROUP BY {keys} ORDER BY {order}"
    truths = {} if against is None else _find_truths(release, asked, against)
    lines = [_line(row, len(names), truths) for row in _answer(release, f"{query} LIMIT {MOST_SHOWN + 1}")]
    return replace(asked, lines=tuple(lines[:MOST_SHOWN]), is_cut=len(lines) > MOST_SHOWN)


def _line(row: Sequence[Any], keys: int, truths: dict[tuple[str, ...], float]) -> dict[str, Any]:
    """Return one line of an answer: value, standard error, low, high; or of uncertain rows certain, possible, expected.

    Where nothing that is read is uncertain it is expected alone. A count below 0 is none.
    """
    labels, figures = plain(row[:keys]), plain(row[keys:])
    places = {1: (0, 0, 0), 3: (2, 0, 1), 4: (0, 2, 3)}[len(figures)]
    value, low, high = (figures[place] for place in places)
    return {
        "name": " · ".join("NULL" if label is None else str(label) for label in labels),
        "value": value,
        "low": low,
        "high": high,
        "truth": truths.get(tuple(map(str, labels))),
    }


def _find_truths(release: Release, asked: Frequencies, against: object) -> dict[tuple[str, ...], float]:
    with closing(PublishedTables(release.engine, release.tables, release.manifest)) as published:
        source, types = published.find_original(against)
        columns = resolve_names(types, [*asked.columns, *([asked.number] if asked.number else [])])
        if any(types[name] == "NESTED" for name in columns):
            return {}
        keys = [f"value_{number}" for number, _ in enumerate(columns, start=1)]
        # of people with several values each value counts once a person
        selected = source.select(
            [f"{source.expression(column)} as {key}" for column, key in zip(columns, keys, strict=True)]
        )
        names = keys[: len(asked.columns)]
        values = {
            "relation": Sql(f"{selected} as told"),
            "names": names,
            "number": keys[-1],
            "is_mean": asked.is_mean,
            "least": "" if asked.least is None else asked.least,
            "most": MOST_TRUE,
        }
        rows = release.engine.rows(render_query("report/facts/true_figures", values, {}))
        return {tuple(str(plain(row[key])) for key in names): plain(row["figure"]) for row in rows}


def count_sizes(release: Release) -> list[tuple[str, int]]:
    """Return how many groups there are of each size; of boxes; for randomized rows of people who share quasi values."""
    _, table, columns = release.form.grouping(release.manifest)
    values = {"columns": columns, "ranges": MOST_RANGES}
    rows = release.engine.rows(render_query("report/facts/class_sizes", values, {"published": release.tables[table]}))
    sizes = (
        " to ".join(f"{size:,}" for size in dict.fromkeys((row["least_size"], row["largest_size"]))) for row in rows
    )
    sizes = (
        " to ".join(f"{size:,}" for size in dict.fromkeys((row["least_size"], row["largest_size"]))) for row in rows
    )
    return [(size, int(row["group_count"])) for size, row in zip(sizes, rows, strict=True)]


@dataclass(frozen=True)
class Facts:
    """What is known of a release.

    name: that of its directory or schema, empty where it has none. summary: what it is, by topic, in words. sizes: of
    groups, in words, with how many there are. columns: table, column, type, what it is. is_internal: whether anything
    here was computed from the source. others: how many releases were intersected with it.
    """

    name: str
    manifest: Manifest
    summary: Mapping[str, str]
    tables: Sequence[Table]
    verification: Report
    attack: Attack
    frequencies: Sequence[Frequencies]
    sizes: Sequence[tuple[str, int]]
    columns: Sequence[tuple[str, str, str, str]]
    is_internal: bool
    others: int


def _draw_frequencies(frequencies: Frequencies, form: Form) -> str:
    what = " and ".join(frequencies.columns)
    has_truth = any(line["truth"] is not None for line in frequencies.lines)
    is_exact = all(line["low"] == line["value"] == line["high"] for line in frequencies.lines)
    first = "the first, " if frequencies.is_mean else "the most frequent, "
    caption = f"{_name_figure(frequencies)} by {what}: {first if frequencies.is_cut else ''}as the release tells it"
    caption += " exactly" if is_exact and form.keeps_quasi else form.intervals
    caption += ", beside the source" if has_truth else ""
    heads = [what, "estimated", "low", "high", *(["in the source"] if has_truth else [])]
    lines = [[line[key] for key in ("name", "value", "low", "high", *(["truth"] if has_truth else []))]
             for line in frequencies.lines]  # fmt: skip
    # the scale begins at 0: what reaches below it is told in the table alone
    is_below = any((line[end] or 0) < 0 for line in frequencies.lines for end in ("value", "low", "truth"))
    drawn = "" if frequencies.is_mean and is_below else write_intervals(frequencies.lines, ESTIMATED, TRUE)
    return write_figure(drawn, caption, heads, lines)


def _name_figure(frequencies: Frequencies) -> str:
    """Return what it is whose figures the lines of frequencies tell."""
    if frequencies.is_mean:
        return f"Average of {frequencies.number}"
    if frequencies.least is not None:
        return f"People with {frequencies.number} of {words(frequencies.least)} or more (the upper quarter)"
    return "People"


def _draw_questions(asked: Sequence[Frequencies]) -> str:
    """Return questions about many people and about few, each with what the release answers and what the source does.

    Of a number with many values nobody asks for a single one.
    """
    lines = [
        {**line, "name": _ask(frequencies, line["name"])}
        for frequencies in ([each for each in asked if each.least is not None] or asked)
        for line in (frequencies.lines[:1] + frequencies.lines[1:][-1:])
    ]
    caption = "Questions about many people and about few: what the release answers"
    has_truth = any(line["truth"] is not None for line in lines)
    return write_figure(write_intervals(lines, ESTIMATED, TRUE), caption + (", and the source" if has_truth else ""))


def _ask(frequencies: Frequencies, name: str) -> str:
    number = "" if frequencies.least is None else f" and {frequencies.number} of {words(frequencies.least)} or more"
    return f"How many people have {' · '.join(frequencies.columns)} = {name}{number}?"


@dataclass(frozen=True, repr=False)
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
        promised = f"Promised: {self._speak(self.facts.summary['promised'])}."
        return [promised, self.facts.verification.sentence, *self._attacked]

    @property
    def _attacked(self) -> list[str]:
        return self.facts.attack.sentences(" or ".join(map(words, self.facts.manifest["columns"]["sensitive"])))

    @property
    def verdict(self) -> Verdict:
        """Return the worse one of what is proved and of what attacks reach, and why."""
        proved, attacked = self.facts.verification.verdict, self.facts.attack.verdict
        said = " ".join([proved.words, *self._attacked])
        return Verdict(said, min(proved.colour, attacked.colour, key=["red", "amber", "", "green"].index))

    @cached_property
    def html(self) -> str:
        """Return the page."""
        log.info("drawing")
        facts, manifest, asked = self.facts, self.facts.manifest, self.facts.frequencies
        form = form_of(manifest)
        parts = ("rows", "bytes", "sha256")  # tables of a session have rows alone
        groups = form.grouping(manifest)[0]
        caption = f"How many {groups} there are, by the number of rows in them"
        bars = [Bar(size, count, f"{count:,}") for size, count in facts.sizes]
        drawn = [
            _draw_questions(asked),
            # of a number with many values nobody asks for a single one first
            *(_draw_frequencies(each, form) for each in sorted(asked, key=lambda each: not each.number)),
            write_figure(write_bars(bars), caption, ["rows", groups], facts.sizes),
        ]
        found, *attacks = facts.attack.sections()
        checks, *figures = facts.verification.sections()
        versions = [[name, words(plain(manifest[name]))] for name in _VERSIONS if name in manifest]
        files = [[name, *(entry.get(part) for part in parts)] for name, entry in manifest["files"].items()]
        folded = [
            *attacks,
            replace(checks, heading="What was verified", folded=True),
            *figures,
            Section("Columns", write_table(["table", "column", "type", "what it is"], facts.columns)),
            Section(
                "Versions and hashes",
                write_table([], versions) + write_table(["file", "rows", "bytes", "sha256"], files),
            ),
        ]
        values = {
            "facts": facts,
            "verdict": as_made(self.verdict.html()),
            "boxes": self._boxes(),
            "found": as_made(found.html(2)),
            "folded": [as_made(section.html()) for section in folded],
            "promise": [[name, self._speak(facts.summary[name])] for name in _SHOWN if name in facts.summary],
            "figures": [as_made(figure) for figure in drawn],
            "bars": form.bars,
            "intersections": [finding for finding in facts.attack.findings if finding.family == "composition"],
            "version": VERSION,
            "style": as_made((Path(__file__).parent / "style.css").read_text(encoding="utf-8")),
        }
        return write("attacks/page.html", values)

    def _boxes(self) -> list[tuple[str, str]]:
        """Return the figures that are asked for first, each with what it is."""
        manifest, attack = self.facts.manifest, self.facts.attack
        dropped, best, vital = manifest["dropped_rows"], attack.strongest, attack.vital
        boxes = [(f"{manifest['rows']:,}", "rows are published")]
        if dropped:
            boxes.append((f"{dropped:,}", "rows are left out"))
        if best is not None and best.promised is not None:
            boxes.append((f"{best.promised:.1%}", "certainty at most, is promised"))
        if best is not None and best.reached is not None:
            what = "is the most that an attack reaches" if attack.scored else "is expected from the release alone"
            boxes.append((f"{best.reached:.1%}", what))
        if vital is not None:
            boxes.append((f"{vital.people:,} of {vital.of:,}", f"people are told, {vital.claimed:.0%} sure"))
        return boxes

    def __repr__(self) -> str:
        """Say in a few lines what the page comes to."""
        return write_summary(self.verdict, "the page: .html, .write(path)")

    @verb
    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the page, whole or not at all; of the internal view its owner alone can read it.

        path: ends in .html or .htm. overwrite: whether a file that stands there is replaced. Raises TargetError for
        another ending, for what is there already, and where nothing can be written.
        """
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


def make_page(
    release: Release, against: object = None, identifier: tuple[str, ...] = (), others: Sequence[Release] = ()
) -> Page:
    """Return the page about a release; with the source it is internal.

    Raises what verification, attacks and answers raise.
    """
    manifest, name = release.manifest, release.directory.name if release.directory else release.place.schema or ""
    log.info("verifying the release")
    verification = release.verify(against)
    attacked = attack_release(release, against, identifier, others)
    log.info("counting values and groups")
    columns = {table: release.published_tables.columns(table) for table in release.tables}
    form = form_of(manifest)
    return Page(
        Facts(
            name=name,
            manifest=manifest,
            summary=form.summary(manifest, name or "these tables"),
            tables=form.tables(manifest),
            verification=verification,
            attack=attacked,
            frequencies=count_values(release, against),
            sizes=count_sizes(release),
            columns=list(describe_columns(manifest, columns, lambda column: column)),
            is_internal=against is not None,
            others=len(others),
        )
    )
