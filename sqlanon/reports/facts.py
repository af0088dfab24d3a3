"""Everything that a page about a release tells, gathered from the release and from what stands beside it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.adversary.findings import Attack
from sqlanon.attacks.attack_release import attack_release
from sqlanon.attacks.sample import Sample, draws_groups
from sqlanon.forms import form_of
from sqlanon.forms.form import Table
from sqlanon.plans.manifest import Manifest
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.release import Release
from sqlanon.reports.frequencies import Frequencies, count_values
from sqlanon.reports.sizes import Sizes, count_sizes
from sqlanon.verification.checks import Report

LARGE = 200_000  # rows from which on a page has learning's findings of a sample of so many
log = logging.getLogger("sqlanon")


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
    sample: int | None = None,
) -> Facts:
    """Verify, attack and ask a release.

    attack: what was found before. sample: how many rows learning looks at. Raises UsageError and DataError as these do.
    """
    manifest, name = release.manifest, release.directory.name if release.directory else release.place.schema or ""
    log.info("verifying the release")
    verification = release.verify(against)
    if attack is None:
        # no sample is drawn of what is not in groups, and where each small statement costs seconds it would not help
        is_large, draws = manifest["rows"] > LARGE, draws_groups(release.form) and release.engine.in_process
        quick = sample is None and is_large and not draws
        rows = LARGE if sample is None and is_large and draws else sample
        looked_at = None if rows is None else Sample(rows)
        attack = attack_release(release, against, identifier, others, quick=quick, sample=looked_at)
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
