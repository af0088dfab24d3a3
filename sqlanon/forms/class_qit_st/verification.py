"""Verify a release whose groups were made class by class: what a partition proves, and the posterior it allows.

A class holds the rows of one signature, which no background tells apart. In a group of one class the posterior of a
value is its share of the group (Wong et al. 2010), so the tables alone prove that none is above 1/r.
"""

import math
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.forms.qit_st import verification as qit_st
from sqlanon.methods.robust.design import CLASSES
from sqlanon.plans.manifest import Manifest, signature_of
from sqlanon.verification.checks import ROUNDING, Check, PublishedTables, Report

SEVERAL = qit_st.SEVERAL
check_types = qit_st.check_types
published_columns = qit_st.published_columns
verify_against = qit_st.verify_against

MIXED = "{mixed_groups} groups mix signatures: verify with --background"


def check_manifest(manifest: Manifest, where: str) -> None:
    """Refuse a manifest without an r above 1, or whose backgrounds are no sets of published quasi columns."""
    qit_st.check_manifest(manifest, where)
    parameters = manifest["parameters"]
    if not parameters.get("r", math.inf) <= parameters["l"]:
        raise ReleaseError(f"the manifest of {where} does not say an r above 1 and at most its l")
    if "backgrounds" not in parameters:
        raise ReleaseError(f"the manifest of {where} does not name its backgrounds' columns")


def _classes(manifest: Manifest) -> object:
    """Return what rows of one class have in common: their signature, or only its distribution."""
    return manifest["parameters"].get("classes", CLASSES[0])


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: as a partition, and that its groups are of one class each."""
    report, answers = qit_st.prove(published, signature_of(published.manifest))
    classes = answers["classes"]
    parameters, r = published.manifest["parameters"], published.manifest["parameters"]["r"]
    largest, mixed = classes["largest_posterior"], bool(classes["mixed_groups"])
    # without a group of one signature there is nothing to say, unless all are mixed
    holds: bool | None = mixed if largest is None else largest * r <= 1 + ROUNDING
    if holds and mixed:  # classes of several signatures, and a repair: what they make is proved by posteriors
        holds = None if parameters.get("repair") or _classes(published.manifest) == CLASSES[1] else False
    outcome = MIXED.format(**classes) if mixed else largest
    check = Check("classes", f"one signature a group, so no posterior above 1/{r:g}", outcome, holds, promised=True)
    return Report((*report.checks, check), {**report.figures, "signatures": classes["class_count"]})


def guarantee(manifest: Manifest, rows: int) -> dict[str, Any]:
    """Return what is promised, as numbers; where groups of 0.2.0 mix classes it may be the paper's condition."""
    parameters = manifest["parameters"]
    if parameters.get("guarantee") == "delta" and (parameters.get("repair") or _classes(manifest) == CLASSES[1]):
        return {"r": parameters["r"], "condition": "delta"}
    return {"r": parameters["r"], "posterior": 1 / parameters["r"]}
