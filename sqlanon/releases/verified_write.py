"""The only way to make a release: it is written, verified as written, and only then made visible."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.adversary.knowledge import add_posteriors, match_backgrounds
from sqlanon.engines.base import Engine
from sqlanon.errors import VerificationError
from sqlanon.forms import form_of
from sqlanon.models.shapes import shown_path
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import LinkedRows, Source, Statement
from sqlanon.plans.templates import Sql
from sqlanon.releases.manifest_schema import manifest_faults
from sqlanon.releases.targets import Target
from sqlanon.verification.checks import PublishedTables, Report

log = logging.getLogger("sqlanon")
Background = tuple[object, Source, Mapping[str, str]]  # its name, its SQL, its columns with their types


def write_verified(
    engine: Engine,
    target: Target,
    outputs: Iterable[Statement],
    manifest: Manifest,
    against: tuple[Source, Mapping[str, str]] | None = None,
    accept: Callable[[Manifest, Mapping[str, Sql]], None] | None = None,
    backgrounds: Sequence[Background] = (),
    by_its_run: bool = False,
    linked: LinkedRows | None = None,
    before: Callable[[Manifest], None] | None = None,
    expect: Callable[[Manifest, Mapping[str, Sql]], str] | None = None,
) -> tuple[Manifest, dict[str, Sql], Report]:
    """Write `outputs` to `target`, verify what was written, and let it become visible only then.

    against: (Source, types) of the microdata, to compare multisets with; None where it is not at hand.
    accept: looks at the finished manifest and the tables last, and raises where the release is not wanted.
    backgrounds: distributions whose posteriors are reported, and held to 1/r where that is promised.
    by_its_run: whether the outputs are those of a plan that runs here, which nobody else has written.
    linked: what the run knows of its rows, to compare with the source and with what was written. before: what has to
    appear before the release does. expect: says what an attack on the tables is expected to reach.
    Returns the finished manifest, SQL that reads each table, and the report.
    Raises VerificationError where a check fails: nothing becomes visible.
    """
    tables = {}
    for output in outputs:
        log.info("writing %s", output.name)
        tables[output.name] = target.write(output)
    log.info("verifying release")
    # of what several checks ask the answers are kept
    original = against if by_its_run else None
    published = PublishedTables(engine, tables, manifest, answers={}, linked=linked, original=original)
    form = form_of(manifest)
    report = form.verify(published)
    if against is not None:
        report = replace(report, checks=(*report.checks, *form.verify_against(published, *against)))
    if backgrounds:
        limit = published.manifest["parameters"]["r"]
        report = add_posteriors(report, published, match_backgrounds(published, backgrounds), limit)
    # what cannot be proved from the tables alone is not refused: `backgrounds` prove it, where they are at hand
    if report.holds is False:
        raise VerificationError(f"the release failed its own verification and was not published: {report.failed()}")
    # what verification counted, and what was promised for that many rows
    figures = report.figures
    added: dict[str, Any] = {
        "rows": figures["rows"],
        "groups": figures.get("groups"),
        "guarantee": form.guarantee(manifest, figures["rows"]),
        "files": target.describe_files({name: figures[f"{name}_rows"] for name in tables}),
        "verified": report.manifest_entries(tables, form.tells_figures),
    }
    finished = {**manifest, **added}
    finished["files"] |= target.write_companions(finished, expect(finished, tables) if expect else "")
    wrong = next(manifest_faults(finished), None)
    if wrong is not None:  # whoever reads it would refuse it
        raise VerificationError(f"the manifest would say what no release says of its {shown_path(wrong)}")
    if accept is not None:
        accept(finished, tables)
    log.info("committing release")
    if before is not None:
        before(finished)
    target.commit(finished)
    return finished, tables, report
