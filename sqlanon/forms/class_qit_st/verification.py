"""Verify a release whose groups were made class by class: what a partition proves, and the posterior it allows.

A class holds the rows of one signature, which no background tells apart. In a group of one class the posterior of a
value is its share of the group (Wong et al. 2010), so the tables alone prove that none is above 1/r.
"""

from sqlanon.forms.class_qit_st import joins_signatures
from sqlanon.forms.qit_st import verification as qit_st
from sqlanon.plans.manifest import signature_of
from sqlanon.verification.checks import ROUNDING, Check, PublishedTables, Report

verify_against = qit_st.verify_against
MIXED = "{mixed_groups} groups mix signatures: verify with --background"


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: as a partition, and that its groups are of one class each."""
    report, answers = qit_st.prove(published, signature_of(published.manifest))
    classes = answers["classes"]
    parameters, r = published.manifest["parameters"], published.manifest["parameters"]["r"]
    largest, mixed = classes["largest_posterior"], bool(classes["mixed_groups"])
    # without a group of one signature there is nothing to say, unless all are mixed
    holds: bool | None = mixed if largest is None else largest * r <= 1 + ROUNDING
    if holds and mixed:  # classes of several signatures, and a repair: what they make is proved by posteriors
        holds = None if parameters.get("repair") or joins_signatures(published.manifest) else False
    outcome = MIXED.format(**classes) if mixed else largest
    check = Check("classes", f"one signature a group, so no posterior above 1/{r:g}", outcome, holds, promised=True)
    return Report((*report.checks, check), {**report.figures, "signatures": classes["class_count"]})
