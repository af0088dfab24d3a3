"""Several releases of randomized values: who is alone with the quasi values shows what is published most often."""

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.attacks import learning
from sqlanon.attacks.composition import tell_others
from sqlanon.attacks.exact_views import shown_quasi
from sqlanon.attacks.findings import Finding
from sqlanon.attacks.view import View
from sqlanon.plans.templates import Sql
from sqlanon.releases.release import Release


def pool_releases(
    view: View, others: Sequence[Release], truth: Sql | None, promised: float | None
) -> tuple[list[Finding], list[str]]:
    """Name for everybody the value that releases of randomized values publish most often; scored where truth is there.

    Values that were drawn again and again show the own one more often than any other.
    """
    pooled, used, notes = _labelled(view, others)
    if used == 1:
        return [], notes
    row = view.row("pooled_figures", {"pooled": pooled, "combination": view.combinations()})
    notes.append(
        f"{row['redrawn']:,} of {row['people']:,} people who are alone with their quasi values in several releases"
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
    return [replace(finding, family="composition") for finding in judged], notes


def _labelled(view: View, others: Sequence[Release]) -> tuple[Sql, int, list[str]]:
    """Return what people publish in all releases that are about them, how many these are, and notes on the others."""
    relations = {"value": view.values(), "combination": view.combinations()}
    pooled = view.keep(
        "labelled", "labelled_pair", {**relations, "coded_person": view.coded_people()}, codes=view.codes
    )
    notes, used = list[str](), 1
    for number, other in enumerate(others, start=2):
        columns = other.manifest["columns"]
        same = set(view.quasi) <= set(columns["quasi"]) and view.sensitive in columns["sensitive"]
        if "data" not in other.tables or not same:
            notes.append(f"release {number} has no randomized values over the same columns; it is left out")
            continue
        stored = {"stored_data": other.tables["data"]}
        quasi = shown_quasi(other.published_tables, "data", view.quasi)
        other_labelled = view.keep(f"told_{number}", "published_person", stored, quasi=quasi, sensitive=view.sensitive)
        if words := tell_others(view, other_labelled, number, view.names):
            notes.append(words)
            continue
        added = {**relations, "pooled": pooled, "other": other_labelled}
        pooled, used = view.keep(f"pooled_{number}", "pooled_pair", added, quasi=view.names), used + 1
    return pooled, used, notes
