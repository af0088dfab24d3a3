"""Add to a release's verification the posteriors of adversaries who know distributions of the sensitive value."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.adversary.background_knowledge import MatchedBackground, examine_backgrounds
from sqlanon.errors import UsageError
from sqlanon.verification.checks import REPORTED, ROUNDING, Check, PublishedTables, Report
from sqlanon.wording import option

NO_BACKGROUND = (
    f"{option('r', flag='-r')} says what no posterior may be above: name with {option('background')} what the adversary"
    " knows"
)
TOO_SMALL = (
    option("r", "{r:g}", flag="-r") + " protects nobody: a posterior of at most 1/r is none; r is a number above 1"
)


def check_r(r: float | None, backgrounds: Sequence[object]) -> None:
    """Refuse an r that protects nobody, and an r without a background to hold against."""
    if r is None:
        return
    if not backgrounds:
        raise UsageError(NO_BACKGROUND)
    if not 1 < r < math.inf:
        raise UsageError(TOO_SMALL.format(r=r))


def add_posteriors(
    report: Report, published: PublishedTables, backgrounds: Sequence[MatchedBackground], r: float | None
) -> Report:
    """Add the check `posterior`, and for each background the posteriors that an adversary reaches with it.

    r: posteriors above 1/r fail the check; without it they are reported, beside what the release promises.
    Raises UsageError where a table is no distribution, DataError where it does not fit the release.
    """
    rows, parameters = report.figures["rows"], published.manifest["parameters"]
    # posteriors are about groups in which each row has one of the group's values
    if not rows or any(check.name == "sizes" and not check.holds for check in report.checks):
        return _add_check(report, r, "not run: the groups of QIT and ST do not fit each other")
    name, limit = limit_of(published, r)
    exposures = examine_backgrounds(published, backgrounds, limit)
    if any(figures["rows"] < rows for figures in exposures):
        return _add_check(report, r, "not run: some rows are in no group")
    promise = f"{'promised' if r is None else 'asked'} 1/{name} = {100 / limit:.4g} %"
    largest = max(figures["largest_posterior"] for figures in exposures)
    added = _add_check(report, r, largest)
    if added.checks[-1].holds and _covers(parameters, exposures, limit):
        # groups of several signatures prove nothing by themselves; their posteriors do
        proved = (replace(check, holds=True) if _is_open(check) else check for check in added.checks)
        added = replace(added, checks=tuple(proved))
    return replace(added, posterior=tuple(exposures), promise=promise)


def limit_of(published: PublishedTables, r: float | None) -> tuple[str, float]:
    """Return what posteriors are seen against, with its name: r, or what the release promises."""
    parameters = published.manifest["parameters"]
    # robust promises 1/r; Anatomy 1/l, which holds against adversaries who know no distribution
    name = "r" if r is not None or "r" in parameters else "l"
    return name, float(parameters[name]) if r is None else r


def _is_open(check: Check) -> bool:
    return check.promised and check.holds is None


def _covers(parameters: Mapping[str, Any], exposures: Sequence[Mapping[str, Any]], limit: float) -> bool:
    """Tell whether posteriors of at most 1/limit under these backgrounds are what the release promises."""
    attribute_sets = {frozenset(figures["attributes"]) for figures in exposures}
    return (
        "r" in parameters
        and limit >= parameters["r"]
        and attribute_sets >= set(map(frozenset, parameters["backgrounds"]))
    )


def _add_check(report: Report, r: float | None, largest: object) -> Report:
    """Add the check; a text says why there is no posterior."""
    required = REPORTED if r is None else f"<= 1/{r:g}"
    holds = largest <= 1 / r + ROUNDING if r is not None and isinstance(largest, float) else None
    check = Check("posterior", required, largest, holds, promised=r is not None)
    return replace(report, checks=(*report.checks, check))
