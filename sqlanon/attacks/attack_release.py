"""Run every attack that applies to a form of release, and set what is reached beside what was promised.

One attack matches rows and values by their physical order: it succeeds where a database wrote them unsorted.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlanon.adversary.findings import DIGITS, SAMPLED, WORST, Attack, Finding, is_beyond_chance
from sqlanon.adversary.learned import TAKEN, learn
from sqlanon.adversary.view import View
from sqlanon.attacks import composition
from sqlanon.errors import SqlanonError
from sqlanon.forms import has_several
from sqlanon.plans.manifest import Manifest, one_column
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.release import Release

AS_THEY_LIE, BY_VALUE = {"as they lie": "line_number"}, {"by value": "value_number"}
VALUE_ORDERS = {**AS_THEY_LIE, **BY_VALUE, "by frequency": "total"}
MOST_ROWS = 200_000  # of which orders are matched, and from which is learned: of more, whole groups are drawn
QUICK_ROWS = 6_000  # from which is learned right after publishing, which may not take long
NO_SOURCE = (
    "no source was given: what learning reaches is the adversary's own confidence, which may be too high or too low"
)
NOBODY_ALONE = (
    "nobody is alone with their quasi values, so that nobody can be looked up: what is reached was not scored, it is"
    " what taking a published value promises"
)
FREQUENT = "the most frequent value of each group, named for all in it"
KEPT = "the published value is taken where it is not drawn as often as everywhere"
SETS = (
    "people have several values each: one of them is named, and orders are not matched, for no value has a place of its"
    " own"
)
NOBODY_SHOWN = "every row is hidden: no quasi value is published by which anybody could be looked up"
NO_PEOPLE = (
    "no source was given, and boxes show nobody: orders, learning and composition need people whose quasi values are"
    " known, from a source or, for composition, from a release of groups that is attacked together with this one"
)
log = logging.getLogger("sqlanon")


class Match(NamedTuple):
    """One alignment of people and values: how many people it is right of, and how many without any order."""

    how: str
    right: float
    usual: float


def _match_orders(view: View, links: Sql, promised: float | None) -> list[Finding]:
    """Take the value at a person's place in the group, people and values in several orders, forward and backward.

    The order in which rows lie leaks where it tells more than the same rows sorted by what they show, and a group's
    number where places shifted by it are right more often than by chance. The order of a quasi column tells what the
    column tells, which is no leak of the order, and an attack all the same.
    """
    people = int(view.people_figures["people"])
    matches = _lying(view, links) if view.numbered else _lying_in_boxes(view, links)
    lying = max(matches, key=lambda match: match.right - match.usual)
    by_column = max(_by_column(view, links), key=lambda match: match.right)
    leak = is_beyond_chance(lying.right / people, lying.usual / people, people)
    return [
        Finding(
            "order", best.how, best.right / people, promised, best.usual / people, view.words_of(best.right, people),
            leak=leak if best is lying else None, headline=leak or best is by_column, counted=best is by_column,
        )
        for best in (lying, by_column)
    ]  # fmt: skip


def _lying(view: View, links: Sql) -> Iterator[Match]:
    """Take people as they lie in QIT, beside people sorted by what they show."""
    lying, chance = _align(view, links, ["person_number"], VALUE_ORDERS)
    sorted_counts, _ = _align(view, links, view.names, VALUE_ORDERS)
    for how, right in lying.items():
        usual = chance if "shifted" in how else max(sorted_counts[how], chance)
        yield Match(f"people as they lie, values {how}", right, usual)


def _lying_in_boxes(view: View, links: Sql) -> Iterator[Match]:
    """Take values as they lie beside people as the source has them, and by each column, beside sorted values."""
    orders = {"as the source has them": "person_number", **{f"by {name}": ours for name, ours in view.quasi.items()}}
    for people, column in orders.items():
        lying, chance = _align(view, links, [column], AS_THEY_LIE)
        sorted_counts, _ = _align(view, links, [column], BY_VALUE)
        for how in ("forward", "backward"):
            usual = max(sorted_counts[f"by value, {how}"], chance)
            yield Match(f"people {people}, values as they lie, {how}", lying[f"as they lie, {how}"], usual)


def _by_column(view: View, links: Sql) -> Iterator[Match]:
    """Take people by each quasi column, beside values as they sort; places shifted by a group's number are a leak."""
    for name, ours in view.quasi.items():
        right, chance = _align(view, links, [ours], BY_VALUE)
        for how, count in right.items():
            if "shifted" not in how:
                yield Match(f"people by {name}, values {how}", count, chance)


def _align(view: View, links: Sql, columns: list[str], values: Mapping[str, str]) -> tuple[dict[str, float], float]:
    """Return how many people each alignment is right of, and how many chance is."""
    seated = {"seated_person": view.seated_people()}
    name = f"placed_by_{'_'.join(columns)}"
    placed = view.keep(name, "adversary/view/placed_person", seated, order_columns=columns)
    right: dict[str, float] = {}
    chance = 0.0
    for name, column in values.items():
        figures = view.row(
            "adversary/view/aligned_figures", {"placed_person": placed, "slot": view.slots(column), "link": links}
        )
        chance = round(float(figures.pop("by_chance")), DIGITS)
        right |= {f"{name}, {how}": round(float(count), DIGITS) for how, count in figures.items()}
    return right, chance


def exclude_values(view: View) -> list[Finding]:
    """Return the largest confidence of an adversary who can exclude j values of a group: top / (size - the j next)."""
    promise = view.promise.excluding
    exclusions = [(excluded, f"excluding_{excluded}") for excluded in range(len(promise))]
    figures = view.row("adversary/view/excluded_figures", {"holding": view.promised_holdings()}, exclusions=exclusions)
    findings = []
    for (excluded, name), promised in zip(exclusions, promise, strict=True):
        if figures[name] is None:  # the promise may speak of no group at all
            continue
        attack, whom, reached = "a group's most frequent value is named", WORST, float(figures[name])
        if excluded:
            attack = f"{excluded} value{'s' if excluded > 1 else ''} excluded"
            whom = f"{WORST}, by who can exclude so many values"
        # different values also limit the confidence of an adversary who can exclude some of them
        judged = promised is not None and not (excluded and view.even)
        leak = reached > (promised or 0.0) + 1e-9 if judged else None
        findings.append(
            Finding("background knowledge", attack, reached, promised, whom=whom, leak=leak, headline=not excluded)
        )
    return findings


def _know_sizes(view: View, truth: Sql, promised: float | None) -> list[Finding]:
    """Return how sure of a value is who knows how many values somebody has; nothing where nobody is alone."""
    figures = view.row("adversary/view/known_sizes", {"truth": truth, "combination": view.count_everybody()})
    if not figures["people"]:
        return []
    whom = f"in the worst group; {float(figures['mean_share']):.1%} in the mean of {figures['people']:,} people"
    attack = "how many values somebody has is known"
    return [Finding("background knowledge", attack, float(figures["largest_share"]), promised, whom=whom)]


@dataclass(frozen=True)
class Asked:
    """What an adversary has beside a release, and what is looked at, as `attack_release` is told."""

    release: Release
    against: object
    identifier: tuple[str, ...]
    others: Sequence[Release]
    background: object
    telling: bool
    orders: bool
    quick_rows: int | None


def expect_attack(release: Release) -> str:
    """Say what an attack reaches as far as anybody can tell who has the release alone, from few of its rows.

    Of a release of groups, groups are taken by their numbers, which were drawn.
    """
    rows = QUICK_ROWS // len(release.manifest["columns"]["sensitive"])
    sampled = int(release.manifest["rows"]) > rows
    attack = attack_release(release, telling=False, orders=False, quick_rows=rows if sampled else None)
    guarantee = release.manifest["guarantee"]
    return attack.expectation(sampled, guarantee.get("confidence") or guarantee.get("posterior") or 0.0)


def attack_release(
    release: Release,
    against: object = None,
    identifier: tuple[str, ...] = (),
    others: Sequence[Release] = (),
    background: object = (),
    telling: bool = True,
    orders: bool = True,
    quick_rows: int | None = None,
) -> Attack:
    """Attack a release; the SQL runs over the published tables, learning is a loop of the driver's.

    against: the source, which scores guesses. identifier: columns that tell its rows apart. others: releases of the
    same people. background: distributions that the adversary knows. telling: find out which quasi columns give most
    away, which no other figure needs. orders: whether orders are matched. quick_rows: from how many rows is learned at
    most where that is to be quick; who learns from fewer names fewer. Raises UsageError and DataError.
    """
    asked = Asked(release, against, identifier, others, background, telling, orders, quick_rows)
    if len(release.manifest["columns"]["sensitive"]) == 1:
        return _attack(asked, release.tables, release.manifest)
    whole, columns = Attack(()), release.manifest["columns"]
    # for whoever looks at it alone each column is a release; who is in the table is the same for all
    for column in columns["sensitive"]:
        if has_several(release.manifest):
            attack = _attack(asked, *one_column(release.tables, release.manifest, column))
        else:  # the first of several randomized columns is the one that is attacked
            first = [column, *(name for name in columns["sensitive"] if name != column)]
            attack = _attack(asked, release.tables, {**release.manifest, "columns": {**columns, "sensitive": first}})
        shared = [finding for finding in attack.findings if finding.family == "presence"]
        findings = [replace(each, attack=f"{column}: {each.attack}") for each in attack.findings if each not in shared]
        before = (finding for finding in whole.findings if finding.family != "presence")
        whole = Attack(
            (*before, *findings, *shared), tuple(dict.fromkeys((*whole.notes, *attack.notes))), attack.scored,
            (*whole.sure, *(replace(each, about=column) for each in attack.sure)),
            (*whole.told, *(replace(each, about=column) for each in attack.told)),
        )  # fmt: skip
    return whole


def _attack(asked: Asked, tables: Mapping[str, Sql], manifest: Manifest) -> Attack:
    release = asked.release
    view = release.form.view(release.engine, tables, manifest)
    if asked.quick_rows and not view.lacks_groups:
        group, step = ident(manifest["columns"]["group"]), -(-int(manifest["rows"]) // asked.quick_rows)
        view.drawn = Sql(f"(select distinct {group} as group_id from {tables['qit']} where {group} % {step} = 0)")
    # of so many rows some of its groups stand for all
    drawn_later = view.drawn is None and not view.lacks_groups and int(manifest["rows"]) > MOST_ROWS
    part = release.form.view(release.engine, tables, manifest) if drawn_later else view
    # manifests name values by their texts, which were written in UTC
    with release.engine.snapshot() if release.form.nested else nullcontext():
        try:
            drawn = draw_groups(view, part) if part is not view else ""
            truth = None if asked.against is None else part.read_source(asked.against, asked.identifier)
            learned = Attack(())
            if (truth is not None or view.shows_people) and part.people_figures["people"]:
                log.info("learning from the release")
                learned = learn(part, truth, view.promise.plain, asked.telling, asked.quick_rows)
            attack = _attack_randomized if view.randomized else _attack_groups
            findings, notes = attack(asked, view, part, truth, learned.findings)
        finally:
            for each in {view, part}:
                with suppress(SqlanonError):
                    each.close()
    notes += [note for note in (drawn, *learned.notes) if note]
    if truth is None:
        notes.append(NO_SOURCE if view.shows_people else NO_PEOPLE)
    return Attack(tuple(findings), tuple(notes), truth is not None, learned.sure, learned.told)


def draw_groups(view: View, part: View) -> str:
    """Let `part`, another view of a release, see some of its groups only; return what is to be said of it."""
    rows = int(view.manifest["rows"])
    (row,) = view.engine.rows(f"select count(distinct group_id) as groups from {view.lines()}")
    most = max(1, -(-row["groups"] * MOST_ROWS // rows))
    relations, parameters = {"line": view.lines()}, {"seed": "1", "most": int(most)}
    part.drawn = view.keep("drawn_group", "adversary/view/drawn_group", relations, **parameters)
    return (
        f"{SAMPLED}: {most:,} of {row['groups']:,} whole groups, about {MOST_ROWS:,} of {rows:,} rows, drawn; intervals"
        " are of the sample's error alone, and who learns from all rows reaches more"
    )


def _attack_groups(
    asked: Asked, view: View, part: View, truth: Sql | None, learned: Sequence[Finding]
) -> tuple[list[Finding], list[str]]:
    promised = view.promise.plain
    log.info("excluding values")
    findings = [*exclude_values(view), *view.find_unpromised()]
    notes = [f"promised: {view.promise.why}"] if view.promise.why else []
    if view.shows_people and not view.people_figures["people"]:
        return findings, [*notes, NOBODY_SHOWN]
    if not view.even:  # right are as many people as hold it, whoever they are
        reached, named = float(view.value_figures["most_frequent_inside"]), FREQUENT
        findings.append(Finding("learning", named, reached, promised, whom="everybody", headline=True, counted=True))
    if view.several:
        notes.append(SETS)
        findings += [] if truth is None else _know_sizes(part, truth, promised)
    elif asked.orders and truth is not None and (part is view or part.people_figures["people"]):
        log.info("matching orders")
        findings += _match_orders(part, part.links(truth), promised)
    findings += learned
    if asked.others and (truth is not None or view.shows_people):
        log.info("intersecting releases")
        fixed, composition_notes = composition.intersect_releases(view, asked.others, promised)
        findings, notes = findings + fixed, notes + composition_notes
    if asked.background and view.exact_groups:
        for known in asked.release.verify(background=asked.background).posterior:
            whom = f"{known['rows_above']:,} of {known['rows']:,} rows above the promise"
            reached, attack = known["largest_posterior"], "a known distribution"
            findings.append(Finding("background knowledge", attack, reached, promised, whom=whom))
    elif asked.background:
        notes.append("known distributions are looked at for releases of groups with certain values only")
    return [*findings, *view.find_presence()], notes


def _attack_randomized(
    asked: Asked, view: View, part: View, truth: Sql | None, learned: Sequence[Finding]
) -> tuple[list[Finding], list[str]]:
    promised = view.promise.plain
    findings = list(learned)
    if not any(finding.headline for finding in findings):
        findings.append(Finding("learning", TAKEN, promised, promised, whom="everybody", headline=True))
    # values that are kept more often in some part are the adversary's wherever that is known
    for words, share in view.find_kept(asked.against).items() if asked.against is not None else ():
        findings.append(Finding("learning", KEPT, share, promised, whom=words, leak=True, headline=True))
    notes = [NOBODY_ALONE] if truth is not None and not learned else []
    if asked.others:
        pooled, pooled_notes = composition.pool_releases(view, asked.others, truth, promised)
        findings, notes = findings + pooled, notes + pooled_notes
    if asked.background:
        notes.append("known distributions are looked at for releases of groups only")
    return [*findings, *view.find_presence()], notes
