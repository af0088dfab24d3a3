"""Verify an opened release: its files, its tables, and where they are at hand its source and adversaries."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.adversary import background_knowledge, background_report, voter_list
from sqlanon.errors import DataError, UsageError
from sqlanon.forms import has_several
from sqlanon.forms.form import Form
from sqlanon.forms.uncertain.verification import ONE_VALUE
from sqlanon.plans.manifest import follows
from sqlanon.plans.statement import Statement
from sqlanon.releases import file_checks
from sqlanon.releases.targets import Place
from sqlanon.sql.sources.queried_source import read_files
from sqlanon.verification.checks import Check, PublishedTables, Report
from sqlanon.verification.coarseness import find_finer
from sqlanon.verification.coarseness import queries as coarseness_queries
from sqlanon.verification.look_alikes import NAME, look_alike_queries, report_look_alikes

log = logging.getLogger("sqlanon")


@dataclass(frozen=True)
class Evidence:
    """What a verification may use beside the release: each a table, view, file, glob, or relation-like object.

    against: the microdata. voters: people with quasi values. backgrounds: distributions that an adversary knows;
    r: no posterior of theirs may be above 1/r (None: they are reported).
    """

    against: object = None
    voters: object = None
    backgrounds: Sequence[object] = ()
    r: float | None = None

    @classmethod
    def of(cls, against: object, voters: object, background: object, r: float | None) -> "Evidence":
        """Take what a caller gives: paths, and one background or a list of them."""
        backgrounds = background if isinstance(background, list | tuple) else [background]
        return cls(_as_text(against), _as_text(voters), [_as_text(table) for table in backgrounds], r)

    @property
    def named(self) -> list[str]:
        """Return what is named by a text, such as the path of a file."""
        tables = (*read_files(self.against), self.voters, *self.backgrounds)
        return [table for table in tables if isinstance(table, str)]


def _as_text(table: object) -> object:
    """Return a path as the text by which engines find its file."""
    return os.fspath(table) if isinstance(table, os.PathLike) else table


def verify_release(published: PublishedTables, form: Form, place: Place, evidence: Evidence) -> Report:
    """Check a release with what is at hand.

    Returns a Report that ends with the first of files and columns that fails: nothing else could be read.
    Raises UsageError or DataError for a background that is no distribution or does not fit the release.
    """
    background_report.check_r(evidence.r, evidence.backgrounds)
    log.info("reading the files")
    checks = [file_checks.check_files(published.engine, published.manifest, place)]
    if checks[0].holds:  # tables are read only where their files are the publisher's
        checks.append(file_checks.check_columns(published))
    if not checks[-1].holds:
        return Report(tuple(checks))
    log.info("checking the tables")
    report = form.verification.verify(published)
    # what is known for certain stands first: nothing below makes up for it
    certain_checks = [check for check in report.checks if check.name == ONE_VALUE]
    figures_check = find_finer(published) or file_checks.check_manifest_figures(published.manifest, report)
    if figures_check.holds:
        checks[0] = file_checks.check_texts(published.manifest, place) or checks[0]
    checks = [*certain_checks, *checks, figures_check]
    checks += [check for check in report.checks if check not in certain_checks]
    if evidence.against is not None:
        log.info("comparing with the source")
        checks += _source_checks(published, form, evidence.against)
    figures = dict(report.figures)
    presence = None
    if evidence.voters is not None:
        log.info("looking up voters")
        _, sql = _presence_query(published, form, evidence.voters)
        try:
            presence = published.engine.frame(sql)
        except DataError as error:
            raise DataError(f"cannot look voters up by the release's columns: {error}") from None
        figures["presence"] = voter_list.presence_figures(presence)
    report = Report(tuple(checks), figures, presence)
    if not evidence.backgrounds:
        return report
    _require_groups(published, form, "hold against a background")
    backgrounds = background_knowledge.find_backgrounds(published, evidence.backgrounds)
    return background_report.add_posteriors(report, published, backgrounds, evidence.r)


def _source_checks(published: PublishedTables, form: Form, against: object) -> list[Check]:
    source = published.find_original(against)
    checks = [*form.verification.verify_against(published, *source), *report_look_alikes(published, *source)]
    return [*checks, form.compared(published, *source)] if form.compared else checks


def verification_statements(published: PublishedTables, form: Form, evidence: Evidence) -> list[tuple[str, str]]:
    """Return the names and texts of the statements that `verify_release` would run, in order."""
    background_report.check_r(evidence.r, evidence.backgrounds)
    queries = [*form.verification.queries(published), *coarseness_queries(published)]
    if evidence.against is not None:
        source = published.find_original(evidence.against)
        queries += form.verification.against_queries(published, *source)
        queries += [(f"{NAME} of {column}", sql) for column, sql in look_alike_queries(published, *source)]
        queries += form.compared_queries(published, *source) if form.compared_queries else []
    if evidence.voters is not None:
        queries.append(_presence_query(published, form, evidence.voters))
    statements = [Statement(name, sql, "query") for name, sql in queries]
    if evidence.backgrounds:
        _require_groups(published, form, "hold against a background")
        statements += background_knowledge.posterior_queries(published, evidence.backgrounds)
    return [(statement.name, published.engine.text(statement)) for statement in statements]


def _presence_query(published: PublishedTables, form: Form, voters: object) -> tuple[str, str]:
    if form.presence is None and has_several(published.manifest):
        raise UsageError(
            "voters are looked up in a release of one sensitive column: of several, each has a confidence of its own"
        )
    if form.presence is None:
        raise UsageError(
            f"a release of {published.manifest['method']} has no groups of exact values to look voters up in"
        )
    return form.presence(published, voters)


def _require_groups(published: PublishedTables, form: Form, purpose: str) -> None:
    if follows(published.manifest):
        raise UsageError(
            f"a release that follows others has groups whose members have left: their quasi values are not known, and"
            f" nothing whole is there to {purpose}; take the first release of its ledger"
        )
    if len(published.manifest["columns"]["sensitive"]) > 1 and "group" in published.manifest["columns"]:
        raise UsageError(f"a release of groups with several sensitive columns cannot be used to {purpose} yet")
    if not form.has_groups:
        raise UsageError(f"a release of {published.manifest['method']} has no groups of exact values to {purpose}")
