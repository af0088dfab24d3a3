"""What a publisher should know before publishing, in sentences; counts, never values."""

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
    """Say which quasi column tells a sensitive value: groups hide nothing from an adversary who knows the rule."""
    notes = []
    for line in feasible:
        if not _may_be_determined(classes, line["column"], rows):
            continue
        for name in classes.question.quasi:
            given = {"class_value": classes.values_of(line["column"])}
            found: dict[str, Any] = classes.row("determination", given, column=classes.names[name])
            shared, told = found["shared_rows"], found["determined_rows"]
            # where one value is that frequent anyway, a column that tells it tells nothing
            if line["values"] < 2 or shared < SHARED * rows or told < DETERMINED * shared:
                continue
            if told <= line["largest_share"] * shared * (1 + (1 - DETERMINED)) and told < shared:
                continue
            how = "determines" if told == shared else f"determines in {told / shared:.1%} of the rows"
            notes.append(
                f"{name} {how} {line['column']}: whoever knows the rule and {name} knows it, whatever is published"
                f" beside {name}; leave one of the two out"
            )
    return notes


def _may_be_determined(classes: Classes, column: str, rows: int) -> bool:
    """Tell whether all quasi columns together tell as many rows their value as one that determines it would."""
    given = {"class": classes.of(), "class_distance": classes.distances_of(column)}
    # shares are rounded: a hundredth of a row in a million is left to them
    found: dict[str, Any] = classes.row("told_rows", given)
    return bool(found["told_rows"] >= DETERMINED * rows * (1 - 1e-8))
