"""The contents of a page about a release, collected from the release and from what lies beside it.

They are how often values occur, how large groups, boxes or crowds are, and what `compare` wrote: errors by candidate,
workload and band of selectivity.
"""

import io
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.findings import Attack
from sqlanon.attacks.attack_release import attack_release
from sqlanon.bounded_files import read_bytes
from sqlanon.comparison.comparison import ORDER
from sqlanon.comparison.files import TABLES
from sqlanon.errors import AnswerWarning, SourceError
from sqlanon.forms import form_of
from sqlanon.forms.form import Table
from sqlanon.methods import METHODS
from sqlanon.plain_values import plain, records
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import ident
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.release import Release
from sqlanon.verification.checks import PublishedTables, Report
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd


log = logging.getLogger("sqlanon")
MOST_SHOWN = 15  # values or combinations
MOST_TRUE = 2000  # at most so many combinations of the source are read for the lookup
MOST_SPLIT = 50  # a quasi column may have at most so many different values to split the frequencies by
MOST_RANGES = 12  # of sizes
MOST_LINES = 10_000  # of a comparison
_NEEDED = ("method", "parameter", "workload", "selectivity")


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
    quasi = manifest["columns"]["quasi"]
    published = release.tables[release.form.grouping(manifest)[1]]
    counted = ", ".join(
        f"count(distinct {ident(column)}) as quasi_{number}" for number, column in enumerate(quasi, start=1)
    )
    (row,) = release.engine.rows(f"select {counted} from {published}")
    able = [(int(count), column) for column, count in zip(quasi, row.values(), strict=True) if 2 <= count <= MOST_SPLIT]
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
    rows = release.engine.rows(render_query("report/true_counts", values, {}))
    keys = [name for _, name in selected]
    return {tuple(str(plain(row[key])) for key in keys): int(row["row_count"]) for row in rows}


@dataclass(frozen=True)
class Sizes:
    """How many groups there are of each size; what: the word for them. lines: size (text), groups."""

    what: str
    lines: tuple[dict[str, Any], ...]


def count_sizes(release: Release) -> Sizes:
    """Return the sizes of groups; of boxes; for randomized rows of people who share all their quasi values."""
    what, table, columns = release.form.grouping(release.manifest)
    values = {"columns": columns, "ranges": MOST_RANGES}
    rows = release.engine.rows(render_query("report/class_sizes", values, {"published": release.tables[table]}))
    return Sizes(what, tuple({"size": _range(row), "groups": int(row["group_count"])} for row in rows))


def _range(row: dict[str, Any]) -> str:
    least, largest = row["least_size"], row["largest_size"]
    return f"{least:,}" if least == largest else f"{least:,} to {largest:,}"


@dataclass(frozen=True)
class Facts:
    """What is known of a release.

    name: that of its directory or schema, empty where it has none. summary: what it is, by topic, in words. columns:
    table, column, type, what it is. compared: lines of a comparison of methods. candidates: what each cost
    and what attacks reached on it. is_internal: whether anything here was
    computed from the source. others: how many releases were intersected with it.
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
    compared: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]]
    is_internal: bool
    others: int


def gather(
    release: Release,
    against: object = None,
    identifier: tuple[str, ...] = (),
    others: Sequence[Release] = (),
    compared: Sequence[Mapping[str, Any]] = (),
    attack: Attack | None = None,
    candidates: Sequence[Mapping[str, Any]] = (),
) -> Facts:
    """Verify, attack and ask a release.

    attack: what was found before. Raises UsageError and DataError as these do.
    """
    manifest, name = release.manifest, release.directory.name if release.directory else release.place.schema or ""
    log.info("verifying the release")
    verification = release.verify(against)
    if attack is None:
        attack = attack_release(release, against, identifier, others)
    log.info("counting values and groups")
    columns = {table: release.published_tables.columns(table) for table in release.tables}
    form = form_of(manifest)
    return Facts(
        name=name,
        manifest=manifest,
        summary=form.summary(manifest, name or "these tables"),
        tables=form.tables(manifest),
        verification=verification,
        attack=attack,
        frequencies=count_values(release, against),
        sizes=count_sizes(release),
        columns=list(describe_columns(manifest, columns, lambda column: column)),
        compared=compared,
        candidates=candidates,
        is_internal=against is not None or bool(compared) or attack.scored,
        others=len(others),
    )


def read_comparison(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the lines of a comparison, their median relative error as `error`.

    Raises SourceError for a folder that holds none.
    """
    import pandas as pd

    path = Path(folder) / f"{TABLES[0]}.csv"
    refused = f"no comparison in {str(folder)!r}; `compare` writes one with its {option('out')}"
    try:
        frame = pd.read_csv(io.BytesIO(read_bytes(path)), nrows=MOST_LINES)
        lines = frame[list(_NEEDED)].assign(error=frame["median_relative_error"].astype(float))
    except (OSError, ValueError, KeyError):
        raise SourceError(refused) from None
    if lines.empty:
        raise SourceError(refused)
    return records(lines)


def read_candidates(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return what was attacked of a comparison, a line per candidate; none of one that earlier versions wrote.

    `knowing` and `target`, the share up to which a release was to resist, are None where nothing was said of them.
    """
    import numpy as np
    import pandas as pd

    path = Path(folder) / f"{TABLES[2]}.csv"
    if not path.is_file():
        return []
    try:
        frame = pd.read_csv(io.BytesIO(read_bytes(path)), nrows=MOST_LINES, keep_default_na=False, na_values=[""])
        shares = frame[["reached", "promised", "error"]].astype(float)
        optional = frame.reindex(columns=["knowing", "target"])
        known = optional["knowing"].astype(object).where(optional["knowing"].notna(), None)
        target = pd.to_numeric(optional["target"]).where(lambda share: (share > 0) & (share <= 1))
        texts = frame[["method", "parameter"]].astype(str).assign(knowing=known, target=target)
        lines = records(texts.join(shares)[shares.apply(np.isfinite).all(axis=1)])
    except (OSError, ValueError, KeyError):
        raise SourceError(f"{str(path)!r} holds no candidates as `compare` writes them") from None
    return [line for line in lines if all(0 <= line[name] <= 1 for name in ("reached", "promised"))]


def candidate_of(manifest: Manifest) -> str:
    """Return the candidate that a release is, as charts name it."""
    strength = METHODS[manifest["method"]].strength
    name = strength.parameter if strength is not None else None
    value = manifest["parameters"].get(name)
    if isinstance(value, Mapping):
        value = next(iter(value.values()), None)
    return "" if name is None or value is None else f"{manifest['method']}, {name} = {value:g}"


def by_workload(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return candidate, band and median error of each line that has one, by workload."""
    workloads: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(line["error"], float) and line["selectivity"] in ORDER:
            workloads.setdefault(str(line["workload"]), []).append({
                "candidate": f"{line['method']}, {line['parameter']}" if line["parameter"] else str(line["method"]),
                "band": line["selectivity"],
                "error": line["error"],
            })  # fmt: skip
    return workloads
