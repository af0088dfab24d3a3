"""Intersect releases of the same people: the values that each leaves possible."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.attacks.findings import Finding
from sqlanon.attacks.view import View
from sqlanon.plans.templates import Sql
from sqlanon.releases.release import Release

LEAST_SHARED = 0.5  # of the people whom another release must hold to be about the same


def intersect_releases(view: View, others: Sequence[Release], promised: float) -> tuple[list[Finding], list[str]]:
    """Return how many people are fixed to one value by all releases together, and notes on those left out."""
    notes: list[str] = []
    candidates, used = _candidates(view, view.tables, view.manifest["columns"], "candidate"), 1
    for number, other in enumerate(others, start=2):
        columns = other.manifest["columns"]
        if "st" not in other.tables or not set(view.quasi) <= set(columns["quasi"]):
            notes.append(f"release {number} has no groups over the same quasi columns; it is left out")
            continue
        if columns["sensitive"][0] != view.sensitive:
            notes.append(f"release {number} is about another sensitive column; it is left out")
            continue
        told = _candidates(view, other.tables, columns, f"told_{number}")
        met = view.row("met_figures", {"person": view.people(), "other": told}, quasi=view.names)
        if met["met_people"] < LEAST_SHARED * met["people"]:
            notes.append(
                f"release {number} holds {met['met_people']:,} of {met['people']:,} people, as quasi values tell: it is"
                " about others, and is not scored"
            )
            continue
        given = {"candidate": candidates, "other": told}
        candidates, used = view.keep(f"left_{number}", "intersection", given, quasi=view.names), used + 1
    if used == 1:
        return [], notes
    found = view.row("candidate_figures", {"candidate": candidates, "person": view.people()}, quasi=view.names)
    if found["lost_people"]:
        notes.append(
            f"{found['lost_people']:,} people have no value that all releases allow: their values changed, or they are"
            " others with the same quasi values"
        )
    whom = (
        f"{found['fixed_people']:,} of {found['people']:,} people are fixed to one value;"
        f" {float(found['mean_candidates']):.1f} values are left on average"
    )
    reached = found["fixed_people"] / found["people"]
    return [Finding("composition", f"{used} releases intersected", reached, promised, whom=whom, headline=True)], notes


def _candidates(view: View, tables: Mapping[str, Sql], columns: Mapping[str, Any], name: str) -> Sql:
    stored = {"stored_qit": tables["qit"], "stored_st": tables["st"]}
    return view.keep(
        name, "candidate", stored, quasi=list(view.quasi.items()), sensitive=columns["sensitive"][0],
        group_column=columns["group"],
    )  # fmt: skip
