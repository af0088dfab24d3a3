"""Two releases of one ledger: what a recipient who has both can check alone.

Whoever is shown twice is shown in the same group, and a group keeps its lines in ST, so that both tell what one tells.
"""

from sqlanon.errors import UsageError
from sqlanon.plans.manifest import Manifest
from sqlanon.verification.checks import Check, PublishedTables
from sqlanon.wording import option

NAME = "since"


def since_query(published: PublishedTables, earlier: PublishedTables) -> str:
    """Return the query that compares the groups that both releases show.

    Raises UsageError where one is not an earlier release of the other's kind.
    """
    _refuse_others(published.manifest, earlier.manifest)
    columns, before = published.manifest["columns"], earlier.manifest["columns"]
    return published.query(
        "verification/succession/shared_groups",
        {"earlier_st": earlier.tables["st"]},
        group_column=columns["group"],
        sensitive=columns["sensitive"][0],
        count_column=columns["count"],
        earlier_group_column=before["group"],
        earlier_count_column=before["count"],
    )


def check_since(published: PublishedTables, earlier: PublishedTables) -> Check:
    """Check that every group that both releases show has the same lines in ST."""
    (found,) = published.engine.rows(since_query(published, earlier))
    return Check(NAME, "every group in both has the same lines in ST", found, not found["changed_groups"])


def _refuse_others(now: Manifest, earlier: Manifest) -> None:
    numbers = [manifest["parameters"].get("release") for manifest in (now, earlier)]
    if not all(type(number) is int for number in numbers):
        raise UsageError(f"{option('since')} compares releases that were published under one ledger")
    if numbers[0] <= numbers[1]:
        raise UsageError(f"{option('since')} names release {numbers[1]}, which this one, {numbers[0]}, does not follow")
    if not {"group", "count"} <= set(earlier["columns"]) & set(now["columns"]):
        raise UsageError(f"{option('since')} compares groups, and releases of {now['method']} have none")
    if now["method"] != earlier["method"] or now["columns"]["sensitive"] != earlier["columns"]["sensitive"]:
        raise UsageError(f"{option('since')} names a release of another ledger: method or sensitive column differ")
