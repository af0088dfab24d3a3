"""Several releases of the same people: what all of them leave possible, or publish most often."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.attacks import learning
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
        if words := _about_others(view, told, number):
            notes.append(words)
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


def _about_others(view: View, told: Sql, number: int) -> str:
    met = view.row("met_figures", {"person": view.people(), "other": told}, quasi=view.names)
    if met["met_people"] >= LEAST_SHARED * met["people"]:
        return ""
    return (
        f"release {number} holds {met['met_people']:,} of {met['people']:,} people, as quasi values tell: it is about"
        " others, and is not scored"
    )


def pool_releases(
    view: View, others: Sequence[Release], truth: Sql | None, promised: float
) -> tuple[list[Finding], list[str]]:
    """Name for everybody the value that releases of randomized values publish most often; scored where truth is there.

    Values that were drawn again and again show the own one more often than any other.
    """
    pooled, used, notes = _labelled(view, others)
    if used == 1:
        return [], notes
    found = view.row("pooled_figures", {"pooled": pooled, "combination": view.combinations()})
    notes.append(
        f"{found['redrawn']:,} of {found['people']:,} people who are alone with their quasi values in several releases"
        " publish several values: drawn again, or others with these quasi values"
    )
    if truth is None:
        return [], notes
    combinations = {"combination": view.combinations()}
    best = view.keep("pooled_best", "best", {"weighed": pooled}, told_by="combination")
    alone = view.keep("pooled_alone", "unique_best", combinations | {"best": best})
    links = view.keep("unique_link", "unique_link", combinations | {"truth": truth})
    attack = f"{used} releases, the value published most often"
    judged = learning.judge(view, alone, links, "combination", attack, promised)[:1]
    return [replace(one, family="composition") for one in judged], notes


def _labelled(view: View, others: Sequence[Release]) -> tuple[Sql, int, list[str]]:
    """Return what people publish in all releases that are about them, how many these are, and notes on the others."""
    given = {"value": view.values(), "combination": view.combinations()}
    pooled = view.keep("labelled", "labelled_pair", {**given, "coded_person": view.coded_people()}, codes=view.codes)
    notes, used = list[str](), 1
    for number, other in enumerate(others, start=2):
        columns = other.manifest["columns"]
        same = set(view.quasi) <= set(columns["quasi"]) and view.sensitive in columns["sensitive"]
        if "data" not in other.tables or not same:
            notes.append(f"release {number} has no randomized values over the same columns; it is left out")
            continue
        stored = {"stored_data": other.tables["data"]}
        told = view.keep(
            f"told_{number}", "published_person", stored, quasi=list(view.quasi.items()), sensitive=view.sensitive
        )
        if words := _about_others(view, told, number):
            notes.append(words)
            continue
        added = {**given, "pooled": pooled, "other": told}
        pooled, used = view.keep(f"pooled_{number}", "pooled_pair", added, quasi=view.names), used + 1
    return pooled, used, notes


def _candidates(view: View, tables: Mapping[str, Sql], columns: Mapping[str, Any], name: str) -> Sql:
    stored = {"stored_qit": tables["qit"], "stored_st": tables["st"]}
    return view.keep(
        name, "candidate", stored, quasi=list(view.quasi.items()), sensitive=columns["sensitive"][0],
        group_column=columns["group"],
    )  # fmt: skip
