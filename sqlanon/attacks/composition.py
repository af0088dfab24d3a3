"""Intersect releases of the same people: the values that each leaves possible."""

from collections.abc import Sequence

from sqlanon.adversary.findings import Finding
from sqlanon.adversary.view import View
from sqlanon.forms import has_several
from sqlanon.plans.manifest import one_column
from sqlanon.plans.templates import Sql
from sqlanon.releases.release import Release
from sqlanon.verification.checks import PublishedTables

MOVED = (
    "release {number} and this one show people who moved to another group because their value changed: their two groups"
    " need not share a value, and what looks fixed of them is not"
)
SETS_LEFT = (
    "people have several values each: who has more than one is never fixed to one, so that releases may tell the values"
    " of more people than are counted"
)
LEAST_SHARED = 0.5  # of the people whom another release must hold to be about the same


# Several releases of randomized values: of a person with unique quasi values, the value published most often.
def pool_releases(
    view: View, others: Sequence[Release], truth: Sql | None, promised: float | None
) -> tuple[list[Finding], list[str]]:
    """Name for everybody the value that releases of randomized values publish most often; scored where truth is there.

    Values that were drawn again and again show the own one more often than any other.
    """
    pooled, used, notes = _labelled(view, others)
    if used == 1:
        return [], notes
    row = view.row("adversary/releases/pooled_figures", {"pooled": pooled})
    notes.append(
        f"{row['redrawn']:,} of {row['people']:,} people who are alone with their quasi values in several releases"
        " publish several values: drawn again, or others with these quasi values"
    )
    scored = None if truth is None else view.row("adversary/releases/pooled_score", {"pooled": pooled, "truth": truth})
    if scored is None or not scored["people"]:
        return [], notes
    right, people = float(scored["right_people"]), int(scored["people"])
    attack = f"{used} releases, the value published most often"
    return [
        Finding(
            "composition", attack, right / people, promised, whom=view.words_of(right, people), headline=True,
            counted=True,
        )
    ], notes  # fmt: skip


def _labelled(view: View, others: Sequence[Release]) -> tuple[Sql, int, list[str]]:
    """Return what people publish in all releases that are about them, how many these are, and notes on the others."""
    pooled, notes, used = view.labelled(), list[str](), 1
    for number, other in enumerate(others, start=2):
        columns = other.manifest["columns"]
        same = set(view.quasi) <= set(columns["quasi"]) and view.sensitive in columns["sensitive"]
        if not other.form.view.randomized or not same:
            notes.append(f"release {number} has no randomized values over the same columns; it is left out")
            continue
        other_labelled = other.form.view.show_people(view, other.published_tables, f"told_{number}")
        if words := tell_others(view, other_labelled, number, view.names):
            notes.append(words)
            continue
        added = {"pooled": pooled, "other": other_labelled}
        pooled = view.keep(f"pooled_{number}", "adversary/releases/pooled_pair", added, quasi=view.names)
        used += 1
    return pooled, used, notes


def intersect_releases(
    view: View, others: Sequence[Release], promised: float | None
) -> tuple[list[Finding], list[str]]:
    """Return how many people are fixed to one value by all releases together, and notes on those left out."""
    notes: list[str] = []
    candidates, used = view.find_candidates(view, view.published, "candidate"), 1
    for number, other in enumerate(others, start=2):
        if reason := _unlike(view, other):
            notes.append(f"release {number} {reason}; it is left out")
            continue
        if "move" in (view.manifest["parameters"].get("changed"), other.manifest["parameters"].get("changed")):
            notes.append(MOVED.format(number=number))
        tables = other.published_tables
        if has_several(other.manifest):
            tables = PublishedTables(other.engine, *one_column(other.tables, other.manifest, view.sensitive))
        other_candidates = other.form.view.find_candidates(view, tables, f"told_{number}")
        if words := tell_others(view, other_candidates, number, ["combination"]):
            notes.append(words)
            continue
        candidates = view.keep(
            f"left_{number}", "adversary/releases/intersection", {"candidate": candidates, "other": other_candidates}
        )
        used += 1
    if used == 1:
        return [], notes
    if view.several:
        notes.append(SETS_LEFT)
    row = view.row("adversary/releases/candidate_figures", {"candidate": candidates})
    if row["lost_people"]:
        notes.append(
            f"{row['lost_people']:,} people have no value that all releases allow: their values changed, or they are"
            " others with the same quasi values"
        )
    whom = (
        f"{row['fixed_people']:,} of {row['people']:,} people are fixed to one value;"
        f" {float(row['mean_candidates']):.1f} values are left on average"
    )
    reached = row["fixed_people"] / row["people"]
    return [
        Finding(
            "composition", f"{used} releases intersected", reached, promised, whom=whom, headline=True, counted=True
        )
    ], notes


def tell_others(view: View, other: Sql, number: int, keys: Sequence[str]) -> str:
    """Say that another release is about others, as far as the columns `keys` tell; empty where it is not."""
    row = view.row("adversary/view/shared_people", {"other": other}, keys=list(keys))
    if row["shared_people"] >= LEAST_SHARED * row["people"]:
        return ""
    return (
        f"release {number} holds {row['shared_people']:,} of {row['people']:,} people, as quasi values tell: it is"
        " about others, and is not scored"
    )


def _unlike(view: View, other: Release) -> str:
    """Say why another release cannot be intersected with this one; empty where it can."""
    columns = other.manifest["columns"]
    if not other.form.view.intersects or not set(view.manifest["columns"]["quasi"]) <= set(columns["quasi"]):
        return "has no groups over the same quasi columns"
    if view.sensitive not in columns["sensitive"]:
        return "is about another sensitive column"
    if view.several_alternatives and not other.form.view.shows_people:
        return "has boxes, and what this one shows of uncertain cells lies in none"
    return ""
