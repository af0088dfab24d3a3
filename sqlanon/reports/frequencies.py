"""How often values occur: estimated from the release, and in the source where it is given."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import AnswerWarning
from sqlanon.plain_values import plain
from sqlanon.plans.build import render_query
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import ident
from sqlanon.releases.release import Release
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN = 15  # values or combinations
MOST_TRUE = 2000  # combinations of the source among which those shown are looked up
MOST_SPLIT = 50  # different values of a quasi column by which people are told apart


@dataclass(frozen=True)
class Frequencies:
    """Estimated counts of the most frequent values of `columns`.

    lines: name, value, low, high, truth (None where it is not known). is_cut: whether there are rarer ones.
    """

    columns: tuple[str, ...]
    lines: tuple[dict[str, Any], ...]
    is_cut: bool


def count_values(release: Release, against: object) -> list[Frequencies]:
    """Return the frequencies of every sensitive column, and of the first one by the quasi column with fewest values."""
    columns = release.manifest["columns"]
    column_sets: list[tuple[str, ...]] = [(name,) for name in columns["sensitive"]]
    split = _splitting_column(release)
    if split is not None:
        column_sets.append((split, columns["sensitive"][0]))
    return [_estimate(release, names, against) for names in column_sets]


def _splitting_column(release: Release) -> str | None:
    manifest = release.manifest
    if not release.form.keeps_quasi:
        return None
    pairs = [(column, f"quasi_{number}") for number, column in enumerate(manifest["columns"]["quasi"], start=1)]
    published = release.tables[release.form.grouping(manifest)[1]]
    sql = render_query("reports/distinct_values", {"named": pairs}, {"published": published})
    (counts,) = release.engine.rows(sql)
    able = [(int(counts[name]), column) for column, name in pairs if 2 <= counts[name] <= MOST_SPLIT]
    return min(able, key=lambda pair: pair[0])[1] if able else None


def _estimate(release: Release, names: Sequence[str], against: object) -> Frequencies:
    keys = ", ".join(map(ident, names))
    count = ident(free_name("people", list(names)))
    query = f"SELECT {keys}, COUNT(*) AS {count} FROM release GROUP BY {keys} ORDER BY {count} DESC, {keys}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnswerWarning)  # of bounds, which the page calls so
        answer = release.estimate(f"{query} LIMIT {MOST_SHOWN + 1}")
    truths = {} if against is None else _count_truly(release, names, against)
    lines = [_line(row, len(names), truths) for row in _rows(answer)]
    return Frequencies(tuple(names), tuple(lines[:MOST_SHOWN]), len(lines) > MOST_SHOWN)


def _rows(answer: "pd.DataFrame") -> list[list[Any]]:
    return [[plain(value) for value in row] for row in answer.itertuples(index=False, name=None)]


def _line(row: Sequence[Any], keys: int, truths: dict[tuple[str, ...], int]) -> dict[str, Any]:
    """Return one line of an answer: value, standard error, low, high; or of uncertain rows certain, possible, expected.

    A count below 0 is none.
    """
    labels, figures = row[:keys], row[keys:]
    value, low, high = (figures[2], figures[0], figures[1]) if len(figures) == 3 else (figures[0], *figures[2:4])
    return {
        "name": " · ".join("NULL" if label is None else str(label) for label in labels),
        "value": value,
        "low": low,
        "high": high,
        "truth": truths.get(tuple(map(str, labels))),
    }


def _count_truly(release: Release, names: Sequence[str], against: object) -> dict[tuple[str, ...], int]:
    source, types = PublishedTables(release.engine, release.tables, release.manifest).find_original(against)
    columns = resolve_names(list(types), names)
    if any(types[name] == "NESTED" for name in columns):
        return {}
    selected = [(source.expression(name), f"value_{number}") for number, name in enumerate(columns, start=1)]
    values = {"relation": source.relation, "selected": selected, "most": MOST_TRUE}
    rows = release.engine.rows(render_query("reports/true_counts", values, {}))
    keys = [name for _, name in selected]
    return {tuple(str(plain(row[key])) for key in keys): int(row["row_count"]) for row in rows}
