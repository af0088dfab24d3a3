"""Verify an opened release: its files and tables, and where given its source and adversaries.

A recipient who has two releases of one ledger can compare them. Everybody who is in both is in the same group, and a
group keeps its lines in ST, so that both releases tell what one tells. With randomized values everybody who is in both
publishes one value twice. If somebody's quasi values are unique in both releases, the second may still be another
person, so it cannot be proved for one person; but of values that were drawn again at most a share of 1/gamma would
equal those of before.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlanon.adversary import knowledge
from sqlanon.errors import DataError, UsageError, raised_as
from sqlanon.forms import form_of
from sqlanon.forms.form import SINCE, Form
from sqlanon.models.fields import verb
from sqlanon.models.publication import AgainstQuery, Bound, Labels, ScoredBy, Vary
from sqlanon.models.values import PLACE, PLACES, source_against
from sqlanon.plans.coarsening import LOOKED_UP, MAPPING, Coarsening
from sqlanon.plans.manifest import follows
from sqlanon.plans.plan import Source, Statement
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases import contents
from sqlanon.releases.opening import Place
from sqlanon.sql.source import read_files
from sqlanon.verification.checks import REPORTED, Check, PublishedTables, Report
from sqlanon.wording import option

log = logging.getLogger("sqlanon")

LOOK_ALIKES = "look_alikes"  # the name of a check


def report_look_alikes(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[Check]:
    """Report values that people read as one and engines count as several: no group is as diverse as it seems.

    Return a check of how many values of each sensitive column of texts look like another's; none where none does, and
    of another engine than DuckDB, for no other normalizes texts for us.
    """
    if "look_alikes" in published.engine.lacks:
        return []
    columns, alike = published.manifest["columns"]["sensitive"], {}
    for column, name in zip(columns, resolve_names(types, columns), strict=True):
        if types[name] == "VARCHAR":
            value = Sql(f"(select cast({ident(name)} as varchar) as value from {source.relation})")
            sql = published.query("verify/rows/look_alikes", {"original": value})
            if count := int(published.answer(f"{LOOK_ALIKES} of {column}", sql)["values_alike"]):
                alike[column] = f"{count} values look like another"
    return [Check(LOOK_ALIKES, REPORTED, alike, None)] if alike else []


def find_finer(published: PublishedTables) -> Check | None:
    """Return the failed check of a manifest whose columns have finer values than its rules say, or none."""
    parameters, finer = published.manifest["parameters"], dict[str, int]()
    rules, shapes, trees = (parameters.get(name, {}) for name in ("coarsen", "published", "hierarchies"))
    for table in published.tables if rules else ():
        compared, types = [], published.columns(table)
        for name, sql_type in types.items():
            # bounds and alternatives are no values; a label stands for what only the publisher knows
            if rules.get(name, MAPPING) in LOOKED_UP or sql_type.endswith("]"):
                continue
            rule = Coarsening(rules[name])
            try:
                rule.type_of(name, sql_type)
            except UsageError as error:
                return Check("manifest", "rules that are for their columns", str(error), False)
            nodes = sorted({above for _, above in trees.get(name, ())})
            is_set = "set" in shapes.get(name, {})
            compared.append((ident(name), rule.write(ident(name), sql_type), name, is_set, nodes))
        if compared:
            sql = published.query("verify/rows/finer", {"published": published.tables[table]}, compared=compared)
            counts = published.answer(f"coarseness of {table}", sql)
            finer |= {name: int(count) for name, count in counts.items() if count}
    return Check("manifest", "no value finer than it says", {"rows with finer values": finer}, False) if finer else None


def since_query(published: PublishedTables, earlier: PublishedTables) -> str:
    """Return the query that compares the groups that both releases show.

    Raises UsageError where one is not an earlier release of the other's kind.
    """
    now, before = published.manifest, earlier.manifest
    numbers = [manifest["parameters"].get("release") for manifest in (now, before)]
    if not all(type(number) is int for number in numbers):
        raise UsageError(f"{option(SINCE)} compares releases that were published under one ledger")
    if numbers[0] <= numbers[1]:
        raise UsageError(f"{option(SINCE)} names release {numbers[1]}, which this one, {numbers[0]}, does not follow")
    if now["method"] != before["method"] or now["columns"]["sensitive"] != before["columns"]["sensitive"]:
        raise UsageError(f"{option(SINCE)} names a release of another ledger: method or sensitive column differ")
    return form_of(published.manifest).since_query(published, earlier)


def check_since(published: PublishedTables, earlier: PublishedTables) -> Check:
    """Check that every group that both releases show has the same lines in ST, or that values were not drawn again."""
    (row,) = published.engine.rows(since_query(published, earlier))
    return form_of(published.manifest).judge_since(row, published.manifest)


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
    @verb
    def of(
        cls,
        dialect: str,
        against: Annotated[object, PLACE] = None,
        voters: Annotated[object, PLACE] = None,
        background: Annotated[Sequence[object], PLACES] = (),
        r: Bound = None,
        query: AgainstQuery = None,
        coarsen: Labels = None,
        id: ScoredBy = (),
        vary: Vary = None,
    ) -> "Evidence":
        """Take what `Release.verify` is given, for an engine's dialect: paths, one background or a list of them."""
        return cls(source_against(against, query, dialect, coarsen, id, vary), voters, background, r)

    @property
    def named(self) -> list[str]:
        """Return what is named by a text, such as the path of a file."""
        tables = (*read_files(self.against), self.voters, *self.backgrounds)
        return [table for table in tables if isinstance(table, str)]


def verify_release(published: PublishedTables, form: Form, place: Place, evidence: Evidence) -> Report:
    """Check a release with what is at hand.

    Returns a Report that ends with the first of files and columns that fails: nothing else could be read.
    Raises UsageError or DataError for a background that is no distribution or does not fit the release.
    """
    knowledge.check_r(evidence.r, evidence.backgrounds)
    log.info("reading the files")
    checks = [contents.check_files(published.engine, published.manifest, place)]
    if checks[0].holds:  # tables are read only where their files are the publisher's
        checks.append(contents.check_columns(published))
    if not checks[-1].holds:
        return Report(tuple(checks))
    log.info("checking the tables")
    report = form.verify(published)
    # what is known for certain stands first: nothing below makes up for it
    certain_checks = [check for check in report.checks if check.certain]
    figures_check = find_finer(published) or contents.check_manifest_figures(published.manifest, report)
    checks = [*certain_checks, *checks, figures_check]
    checks += [check for check in report.checks if check not in certain_checks]
    compared: list[Check] = []
    if evidence.against is not None:
        log.info("comparing with the source")
        compared = _source_checks(published, form, evidence.against)
    figures = dict(report.figures)
    presence = None
    if evidence.voters is not None:
        log.info("looking up voters")
        with raised_as(DataError, "cannot look voters up by the release's columns", DataError):
            presence = published.engine.frame(_presence_query(published, form, evidence.voters))
        figures["presence"] = knowledge.presence_figures(presence)
    report = Report((*checks, *compared), figures, presence, compared=tuple(compared))
    if not evidence.backgrounds:
        return report
    _require_groups(published, form, "hold against a background")
    backgrounds = knowledge.find_backgrounds(published, evidence.backgrounds)
    return knowledge.add_posteriors(report, published, backgrounds, evidence.r)


def _source_checks(published: PublishedTables, form: Form, against: object) -> list[Check]:
    source = published.find_original(against)
    return [*form.verify_against(published, *source), *report_look_alikes(published, *source)]


def verification_statements(published: PublishedTables, form: Form, evidence: Evidence) -> list[tuple[str, str]]:
    """Return the names and texts of the statements that `verify_release` would run, in order."""
    knowledge.check_r(evidence.r, evidence.backgrounds)
    script = dict[str, str]()
    written = replace(published, script=script)
    form.verify(written)
    find_finer(written)
    if evidence.against is not None:
        _source_checks(written, form, evidence.against)
    if evidence.voters is not None:
        script[_presence_query(published, form, evidence.voters)] = "presence"
    statements = [Statement(name, sql, "query") for sql, name in script.items()]
    if evidence.backgrounds:
        _require_groups(published, form, "hold against a background")
        statements += knowledge.posterior_queries(
            published, evidence.backgrounds, knowledge.limit_of(published, evidence.r)[1]
        )
    return [(statement.name, published.engine.text(statement)) for statement in statements]


def _presence_query(published: PublishedTables, form: Form, voters: object) -> str:
    if form.has_several(published.manifest):
        raise UsageError(
            "voters are looked up in a release of one sensitive column: of several, each has a confidence of its own"
        )
    if form.presence is None:
        mark = form.lacks["voters"]
        raise UsageError(f"a release of {published.manifest['method']} {mark.why} to look voters up in")
    return form.presence(published, voters)


def _require_groups(published: PublishedTables, form: Form, purpose: str) -> None:
    if follows(published.manifest):
        raise UsageError(
            f"a release that follows others has groups whose members have left: their quasi values are not known, and"
            f" nothing whole is there to {purpose}; take the first release of its ledger"
        )
    if len(published.manifest["columns"]["sensitive"]) > 1 and "group" in published.manifest["columns"]:
        raise UsageError(f"a release of groups with several sensitive columns cannot be used to {purpose} yet")
    if mark := form.lacks.get("background"):
        raise UsageError(f"a release of {published.manifest['method']} {mark.why} to {purpose}")
