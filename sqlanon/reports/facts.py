"""The contents of a page about a release, collected from the release and from what lies beside it.

They are how often values occur, and how large groups, boxes or crowds are.
"""

import logging
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.adversary.findings import Attack
from sqlanon.errors import AnswerError, AnswerWarning
from sqlanon.estimation.failures import is_numeric
from sqlanon.forms import has_several
from sqlanon.forms.form import Table
from sqlanon.plain_values import plain
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest, alike_in
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.release import Release
from sqlanon.verification.checks import PublishedTables, Report

log = logging.getLogger("sqlanon")
MOST_SHOWN = 15  # values or combinations
MOST_TRUE = 2000  # at most so many combinations of the source are read for the lookup
MOST_SPLIT = 50  # a quasi column may have at most so many different values to split the frequencies by
MOST_RANGES = 12  # of sizes


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
        return _read_truths(release, asked, *published.find_original(against))


def _read_truths(
    release: Release, asked: Frequencies, source: Source, types: Mapping[str, str]
) -> dict[tuple[str, ...], float]:
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


@dataclass(frozen=True)
class Sizes:
    """How many groups there are of each size; what: the word for them. lines: size (text), groups."""

    what: str
    lines: tuple[dict[str, Any], ...]


def count_sizes(release: Release) -> Sizes:
    """Return the sizes of groups; of boxes; for randomized rows of people who share all their quasi values."""
    what, table, columns = release.form.grouping(release.manifest)
    values = {"columns": columns, "ranges": MOST_RANGES}
    rows = release.engine.rows(render_query("report/facts/class_sizes", values, {"published": release.tables[table]}))
    sizes = [
        " to ".join(f"{size:,}" for size in dict.fromkeys((row["least_size"], row["largest_size"]))) for row in rows
    ]
    groups = [int(row["group_count"]) for row in rows]
    return Sizes(what, tuple({"size": size, "groups": count} for size, count in zip(sizes, groups, strict=True)))


@dataclass(frozen=True)
class Facts:
    """What is known of a release.

    name: that of its directory or schema, empty where it has none. summary: what it is, by topic, in words. columns:
    table, column, type, what it is. is_internal: whether anything here was computed from the source. others: how many
    releases were intersected with it.
    """

    name: str
    manifest: Manifest
    summary: Mapping[str, str]
    tables: Sequence[Table]
    verification: Report
    attack: Attack
    frequencies: Sequence[Frequencies]
    sizes: Sizes
    columns: Sequence[tuple[str, str, str, str]]
    is_internal: bool
    others: int
