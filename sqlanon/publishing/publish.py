"""Publish: run the method's plan, verify what was written, and let the release appear.

If another release is at the target already, whoever kept it will have two releases of the same people: that is said,
too.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.given_away import look_at_source
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import PrivacyWarning, TargetError
from sqlanon.interruption import has_appeared, visible_or_not
from sqlanon.key import Key
from sqlanon.plans.manifest import Manifest, alike_in, new_manifest
from sqlanon.plans.plan import Plan, Source, Statement
from sqlanon.plans.roles import resolve_roles
from sqlanon.plans.templates import Sql
from sqlanon.publishing import kept_files
from sqlanon.publishing.plan_text import plan_text
from sqlanon.publishing.release_request import ReleaseRequest, in_step, prepared
from sqlanon.publishing.thresholds import require
from sqlanon.read_places import MANIFEST, refuse_read, refuse_read_directory
from sqlanon.releases.opening import manifest_at
from sqlanon.releases.release import Release, open_release
from sqlanon.releases.targets import DirectoryTarget, SchemaTarget, SessionTarget, Target
from sqlanon.releases.verified_write import write_verified
from sqlanon.sql.source import read_files
from sqlanon.verification.checks import Report
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.findings import Attack

log = logging.getLogger("sqlanon")
NOT_PUBLISHED = "not published: "  # begins the note that names columns without a role
PREDICTABLE = (
    "the engine's random() can be predicted from published values by a determined adversary; keyed draws (the default)"
    " cannot"
)


def _follows(before: Manifest | None, now: Manifest) -> list[str]:
    """Say what it means that a release stood at the target."""
    if before is None:
        return []
    if all("sha256" in file for file in now["files"].values()) and before["files"] == now["files"]:
        return ["the target held this very release already"]
    if "release" in now["parameters"]:  # what they tell together is what the ledger is for
        return []
    return [
        f"the target held an earlier release ({before['rows']} rows; now {now['rows']}): this is a second release of"
        " the same people, and releases intersect. Whoever kept the earlier one learns more from both than either"
        f" promises. Releases that are published under one ledger ({option('ledger', 'FILE')}) tell no more together"
    ]


def publish(asked: ReleaseRequest, engine: Engine, expect: bool = False, **parameters: Any) -> Release:
    """Publish to a directory, a schema, or the session; return the release.

    expect: say in README.md what an attack on the release itself reaches, which takes a second; where the engine is
    another process its people are not fetched. parameters: the method's own, in place of those that were asked for.
    Raises UsageError for requests that no data could meet, DataError for those that this data cannot, or where it
    misses a threshold.
    """
    if asked.draws == "random":
        warnings.warn(PREDICTABLE, PrivacyWarning, stacklevel=2)
    asked = replace(asked, parameters={**asked.parameters, **parameters})
    late, expected, out, into = list[str](), list[str](), asked.place.directory, asked.place.schema

    def attack(manifest: Manifest, tables: Mapping[str, Sql]) -> str:
        from sqlanon.attacks.attack_release import expect_attack

        with noting_faults(late, stands=True):
            log.info("attacking release")
            expected.append(expect_attack(Release(engine, tables, manifest)))
        return "".join(expected)

    with noting_faults(late), visible_or_not(), ExitStack() as stack:
        plan, against, ledger = stack.enter_context(prepared(asked, engine, fresh_prefix()))
        source, types = against
        roles = resolve_roles(types, asked.quasi, asked.sensitive, asked.identifier)
        _refuse_own_source(asked, plan)
        # before anything runs: of two runs to one target the second is refused at once
        target = stack.enter_context(closing(target_of(engine, out, into, asked.overwrite)))
        before = manifest_at(asked.place, engine) if asked.overwrite else None
        files = kept_files.chosen(asked, plan)
        # one snapshot for the plan and the comparison with the source: a row that comes in between would fail it
        appears_later = stack.enter_context(engine.snapshot())
        if ledger is not None:
            ledger.take_rows()
        plan = plan.with_ranges(engine.rows)
        reports = stack.enter_context(run_plan(plan, engine, asked.key or Key.fresh(), files.write_report))
        publication = plan.published(reports)
        if ledger is not None:
            ledger.count(reports)
        manifest = new_manifest(plan.method, publication, engine.name, {}, plan.dropped_rows(reports))
        with files.saved_tables(engine), in_step(target, ledger, plan) as appear:
            outputs, backgrounds, judge = publication.outputs, _known(plan, engine), _judge(asked, engine)
            manifest, tables, report = write_verified(
                engine, target, outputs=outputs, manifest=manifest, against=against, accept=judge,
                backgrounds=backgrounds, by_its_run=True, linked=publication.linked,
                before=appear, expect=attack if expect and engine.in_process else None,
            )  # fmt: skip
        if not appears_later:
            has_appeared()
        with noting_faults(late, stands=True):
            hides = asked.nulls == "drop", size_of(manifest)
            # what the people of a group are alike in tells none of them from another
            quasi = [name for name in roles.quasi if name not in alike_in(manifest)]
            told = look_at_source(engine, source, types, quasi, roles.sensitive, *hides)
            late += [f"warning: {each.note}" for each in told if each.note]
    # a directory is opened as its recipient will, from the files
    release = open_release(out) if out is not None else Release(engine, tables, manifest, asked.place)
    with noting_faults(late):
        release.sql, release.learned = plan_text(plan, engine), dict(publication.learned)
        release.expected = "".join(expected)
        release.notes = source.note_columns(roles.all)
        release.notes += [*_notes(asked, manifest, types, into, engine), *_exposed(report), *plan.notes(reports)]
    release.notes += late
    with noting_faults(release.notes):
        release.notes += [*_follows(before, manifest), *(ledger.notes if ledger is not None else ())]
    return release


def look_at_attacks(release: Release) -> None:
    """Note what an attack is expected to reach, unless that was looked at as the release was written.

    Where the engine is another process its people are not fetched.
    """
    from sqlanon.attacks.attack_release import expect_attack

    if not release.expected and release.engine.in_process:
        with noting_faults(release.notes, stands=True):
            release.expected = expect_attack(release)


@contextmanager
def noting_faults(notes: list[str], stands: bool = False) -> Iterator[None]:
    """Note what fails once a release has appeared: it stands, whatever cannot be said of it.

    stands: or where it will, unless something else fails.
    """
    try:
        yield
    except Exception as error:
        if not stands and not has_appeared():
            raise
        said = str(error).replace("; nothing was published", "") or type(error).__name__
        notes.append(f"the release has been published and stands; what is told of it is not whole: {said}")


def _judge(asked: ReleaseRequest, engine: Engine) -> Callable[[Manifest, Mapping[str, Sql]], None]:
    """Return what looks at a release that is written and not visible yet; it is attacked only where that is asked."""

    def judge(manifest: Manifest, tables: Mapping[str, Sql]) -> None:
        def attack() -> "Attack":
            from sqlanon.attacks.attack_release import attack_release

            log.info("attacking release")
            return attack_release(Release(engine, tables, manifest), asked.original, asked.identifier)

        require(asked.require, manifest, attack)

    return judge


def size_of(manifest: Manifest) -> int:
    """Return among how many values somebody's own one hides, as far as a manifest says."""
    parameters = manifest["parameters"]
    named = next((parameters[name] for name in ("l", "r", "gamma", "k") if parameters.get(name)), 0)
    return max(2, int(max(named.values()) if isinstance(named, dict) else named))


def _refuse_own_source(asked: ReleaseRequest, plan: Plan) -> None:
    """Refuse a directory whose files the next run would read as its source."""
    if (out := asked.place.directory) is not None:
        names = [f"{output.name}.parquet" for output in plan.outputs]
        refuse_read_directory(out, [MANIFEST, *names], (asked.source, *asked.files, *plan.read))
    if asked.ledger is not None:
        refuse_read(Path(asked.ledger.path), read_files(asked.source))


def _exposed(report: Report) -> list[str]:
    """Tell the publisher alone what the backgrounds come to: it is a function of what they hold."""
    largest = [line["largest_posterior"] for line in report.posterior]
    return [f"the largest posterior of who knows these backgrounds is {max(largest):.1%}"] if largest else []


def _known(plan: Plan, engine: Engine) -> list[tuple[str, Source, Mapping[str, str]]]:
    """Return the distributions that the finished release is looked at with: name, source, types of the columns."""
    backgrounds: list[tuple[str, Source, Mapping[str, str]]] = []
    for number, background in enumerate(plan.known, start=1):
        if isinstance(background, Statement):
            backgrounds.append(
                (f"background {number}", Source(Sql(f"(\n{background.sql}\n)")), engine.columns(background.sql))
            )
        elif background.source is not None:
            backgrounds.append((f"background {number}", background.source, background.types))
    return backgrounds


def target_of(engine: Engine, out: str | Path | None, into: str | None, overwrite: bool) -> Target:
    """Return where the release goes; raise TargetError where the engine cannot publish there."""
    place = "directory" if out is not None else "schema" if into is not None else "session"
    if mark := engine.lacks.get(place):
        instead = option("into", "SCHEMA") if "directory" in engine.lacks else option("out", "DIR")
        raise TargetError(f"{engine.dialect} {mark.why}; say {instead}")
    if out is not None:
        return DirectoryTarget(engine, out, overwrite)
    if into is not None:
        return SchemaTarget(engine, into, overwrite)
    return SessionTarget(engine, fresh_prefix())


def _notes(
    asked: ReleaseRequest, manifest: Manifest, types: Mapping[str, str], into: str | None, engine: Engine
) -> list[str]:
    """Say what a publisher has to know about what just happened."""
    columns = manifest["columns"]
    label = [columns["label"]] if "label" in columns else []
    published = {name.lower() for name in (*columns["quasi"], *columns["sensitive"], *label)}
    left_out = [column for column in types if column.lower() not in published]
    notes = []
    if left_out:
        notes.append(f"{NOT_PUBLISHED}{', '.join(left_out)}")
    if asked.ledger is not None:
        notes.append(
            "keep the key and the ledger as secret as the source, and both of them: without either nobody of this"
            " release is known again, and another release of these people intersects with it"
        )
    elif asked.key is not None and asked.key.given:
        notes.append(
            "keep the key as secret as the source: whoever has it can undo the release. Publishing these people again,"
            " with this key on changed data or with another key, gives a second release that intersects with this one"
        )
    if into is not None:
        access = "the database file, which holds" if engine.in_process else "a login to the server, which also holds"
        notes.append(f"hand on a copy of the schema {into!r}, never {access} the microdata")
    return notes
