"""Run every attack that a form of release knows: promised beside reached."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlanon.attacks import composition, exclusion, learning, order
from sqlanon.attacks.findings import Attack, Finding
from sqlanon.attacks.view import View, refuse_form
from sqlanon.errors import SqlanonError
from sqlanon.releases.release import Release

LEFT_OUT = "orders were not matched and nothing was learned from the release, which takes minutes: attack does both"
log = logging.getLogger("sqlanon")


def attack_release(
    release: Release,
    against: object = None,
    identifier: tuple[str, ...] = (),
    others: Sequence[Release] = (),
    background: object = (),
    quick: bool = False,
) -> Attack:
    """Attack a release; the SQL runs over the published tables, learning is a loop of the driver's.

    against: the source, which scores guesses. identifier: columns that tell its rows apart. others: releases of the
    same people. background: distributions that the adversary knows. quick: leave out what takes minutes on millions of
    rows: order and learning. Raises UsageError and DataError.
    """
    manifest = release.manifest
    refuse_form(manifest)
    view = View(release.engine, release.tables, manifest)
    try:
        truth = view.truth(against, identifier) if against is not None and not quick else None
        found, notes = (_attack_groups if view.is_grouped else _attack_randomized)(
            view, truth, release, others, background, quick
        )
    finally:
        with suppress(SqlanonError):
            view.close()
    if truth is None and not quick:
        notes.append("no source was given: what learning reaches is the adversary's own confidence, which errs upwards")
    return Attack(tuple(found), tuple(notes), scored=truth is not None and not quick)


def _attack_groups(
    view: View, truth: Any, release: Release, others: Sequence[Release], background: object, quick: bool
) -> tuple[list[Finding], list[str]]:
    parameters = view.manifest["parameters"]
    promised = float(view.manifest["guarantee"].get("confidence", 1 / parameters["l"]))
    log.info("excluding values")
    found = exclusion.exclude_values(view, promised, int(parameters["l"]))
    notes = [LEFT_OUT] if quick else []
    found += [] if quick else _guess_groups(view, truth, promised)
    if others:
        log.info("intersecting releases")
        fixed, told = composition.intersect_releases(view, others, promised)
        found, notes = found + fixed, notes + told
    if background:
        found += [_known_distribution(one, promised) for one in release.verify(background=background).posterior]
    return [*found, exclusion.find_presence(view)], notes


def _guess_groups(view: View, truth: Any, promised: float) -> list[Finding]:
    found: list[Finding] = []
    links = None if truth is None else view.links(truth)
    if links is not None:
        log.info("matching orders")
        found += order.match_orders(view, links, promised)
    return found + learning.learn_groups(view, links, promised)


def _attack_randomized(
    view: View, truth: Any, release: Release, others: Sequence[Release], background: object, quick: bool
) -> tuple[list[Finding], list[str]]:
    gamma = view.manifest["parameters"]["gamma"]
    of_column = gamma[view.sensitive] if isinstance(gamma, dict) else gamma
    found = learning.learn_randomized(view, None if quick else truth, 1 / of_column)
    notes = [LEFT_OUT] if quick else []
    if len(view.manifest["columns"]["sensitive"]) > 1:
        notes.append(f"only {view.sensitive} was attacked, the first of the sensitive columns")
    if others:
        pooled, told = composition.pool_releases(view, others, None if quick else truth, 1 / of_column)
        found, notes = found + pooled, notes + told
    if background:
        notes.append("known distributions are looked at for releases of groups only")
    return [*found, exclusion.find_presence(view)], notes


def _known_distribution(posterior: Any, promised: float) -> Finding:
    whom = f"{posterior['rows_above']:,} of {posterior['rows']:,} rows above the promise"
    return Finding("background knowledge", "a known distribution", posterior["largest_posterior"], promised, whom=whom)
