"""What a publisher should know before publishing, in sentences; counts, never values."""

import itertools
from collections.abc import Sequence
from typing import Any

from sqlanon.risks.relations import Classes
from sqlanon.risks.suggestion import NEARLY_UNIQUE

DETERMINED = 0.95  # share of the rows whose sensitive value a column tells, from which on it is said
SHARED = 0.05  # share of the rows that must share their value of a column with others before it can be said


def note_risks(
    classes: Classes,
    figures: dict[str, Any],
    uniqueness: Sequence[dict[str, Any]],
    feasible: Sequence[dict[str, Any]],
) -> list[str]:
    """Return what stands out: several rows of a person, near-identifiers, columns that give a sensitive value away.

    uniqueness: a line per quasi column, in their order, before any others.
    """
    return [
        *_persons(figures),
        *_near_identifiers(classes.question.quasi, uniqueness, figures["rows"]),
        *_missing(feasible),
        *_determinations(classes, figures["rows"], feasible),
    ]


def _persons(figures: dict[str, Any]) -> list[str]:
    if figures.get("repeating_persons"):
        return [
            f"{figures['repeating_persons']:,} of {figures['person_count']:,} persons have several rows, up to"
            f" {figures['most_rows']:,}: a class of k rows may be fewer than k persons"
        ]
    return []


def _near_identifiers(quasi: Sequence[str], uniqueness: Sequence[dict[str, Any]], rows: int) -> list[str]:
    return [
        f"{name} alone singles out {line['unique_rows']:,} of {rows:,} rows: it identifies, and should not be"
        " published as a quasi column"
        for name, line in zip(quasi, uniqueness, strict=False)
        if rows > 1 and line["unique_rows"] >= NEARLY_UNIQUE * rows
    ]


def _missing(feasible: Sequence[dict[str, Any]]) -> list[str]:
    notes = []
    for line in feasible:
        if line["values"] == 1:
            notes.append(f"{line['column']} has one value only: everybody's is known")
        elif line["largest_l"] is None:
            notes.append(
                f"no l works for {line['column']}: its most frequent value stands in {line['largest_share']:.1%} of the"
                " rows, where 50% leave room for l = 2"
            )
        if line["nulls"]:
            notes.append(f"{line['nulls']:,} rows have no {line['column']}: NULL counts as a value here")
    return notes


def _determinations(classes: Classes, rows: int, feasible: Sequence[dict[str, Any]]) -> list[str]:
    """Say which quasi column, or pair, tells a sensitive value: groups hide nothing from who knows the rule."""
    notes = []
    for line in feasible:
        if line["values"] < 2 or not _may_be_determined(classes, line["column"], rows):
            continue
        columns: list[tuple[str, ...]] = [(name,) for name in classes.question.quasi]
        found = {known: share for known in columns if (share := _determined(classes, line, known, rows))}
        # a pair of which one column suffices tells nothing more
        alone = {name for known in found for name in known}
        pairs = itertools.combinations([name for name in classes.question.quasi if name not in alone], 2)
        found |= {known: share for known in pairs if (share := _determined(classes, line, known, rows))}
        for known, share in found.items():
            named, how = " and ".join(known), "determines" if len(known) == 1 else "together determine"
            exactly = "" if share == 1 else f" in {share:.1%} of the rows"
            leave = "leave one of the two out" if len(known) == 1 else "leave one of the three out"
            notes.append(
                f"{named} {how}{exactly} {line['column']}: whoever knows the rule and {named} knows it, whatever is"
                f" published beside {named}; {leave}"
            )
    return notes


def _determined(classes: Classes, line: dict[str, Any], known: Sequence[str], rows: int) -> float:
    """Return of which share of the rows the columns tell the sensitive value, 0 where that is not said."""
    given = {"class_value": classes.values_of(line["column"])}
    found: dict[str, Any] = classes.row("determination", given, columns=[classes.names[name] for name in known])
    shared, told = found["shared_rows"], found["determined_rows"]
    if shared < SHARED * rows or told < DETERMINED * shared:
        return 0.0
    # where one value is that frequent anyway, a column that tells it tells nothing
    if told <= line["largest_share"] * shared * (1 + (1 - DETERMINED)) and told < shared:
        return 0.0
    return float(told / shared)


def _may_be_determined(classes: Classes, column: str, rows: int) -> bool:
    """Tell whether all quasi columns together tell as many rows their value as one that determines it would."""
    given = {"class": classes.of(), "class_distance": classes.distances_of(column)}
    # shares are rounded: a hundredth of a row in a million is left to them
    found: dict[str, Any] = classes.row("told_rows", given)
    return bool(found["told_rows"] >= DETERMINED * rows * (1 - 1e-8))
