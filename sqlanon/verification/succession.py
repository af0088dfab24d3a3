"""Two releases of one ledger: what a recipient who has both can check alone.

Whoever is shown twice is shown in the same group, and a group keeps its lines in ST, so that both tell what one tells.
With randomized values whoever is shown twice publishes one value twice. Who is alone with the quasi values in both
releases may be another person the second time, so that nobody can prove it; but of values that were drawn again at most
a share of 1/gamma would be those of before.
"""

import math
from typing import Any

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
    if "data" in published.tables:
        shared = [name for name in columns["quasi"] if name in before["quasi"]]
        if not shared:
            raise UsageError(f"{option(NAME)} names a release that has no quasi column in common with this one")
        return published.query(
            "verification/succession/shared_rows",
            {"earlier_data": earlier.tables["data"]},
            named_columns=[(name, f"quasi_{number}") for number, name in enumerate(shared, start=1)],
            sensitive=columns["sensitive"][0],
        )
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
    """Check that every group that both releases show has the same lines in ST, or that values were not drawn again."""
    (row,) = published.engine.rows(since_query(published, earlier))
    if "data" in published.tables:
        return _check_kept(row, min(published.manifest["parameters"]["gamma"].values()))
    return Check(NAME, "every group in both has the same lines in ST", row, not row["changed_groups"])


def _check_kept(row: dict[str, Any], gamma: int) -> Check:
    """Tell whether more people publish what they published before than would if values had been drawn again.

    None where that cannot be told: where they are few, and where as many do not, for they may be other people.
    """
    alone, same = int(row["alone_in_both"]), int(row["same_value"])
    # two draws agree with probability at most 1/gamma: 4 standard errors, and 1 for small numbers, above that
    chance = alone / gamma + 4 * math.sqrt(alone / gamma * (1 - 1 / gamma)) + 1
    required = f"the same value of more than {chance:,.1f}, which values drawn again do not reach"
    return Check(NAME, required, {"alone_in_both": alone, "same_value": same}, True if same > chance else None)


def _refuse_others(now: Manifest, earlier: Manifest) -> None:
    numbers = [manifest["parameters"].get("release") for manifest in (now, earlier)]
    if not all(type(number) is int for number in numbers):
        raise UsageError(f"{option('since')} compares releases that were published under one ledger")
    if numbers[0] <= numbers[1]:
        raise UsageError(f"{option('since')} names release {numbers[1]}, which this one, {numbers[0]}, does not follow")
    randomized = all("gamma" in manifest["parameters"] for manifest in (now, earlier))
    if not randomized and not {"group", "count"} <= set(earlier["columns"]) & set(now["columns"]):
        raise UsageError(f"{option('since')} compares groups, and releases of {now['method']} have none")
    if now["method"] != earlier["method"] or now["columns"]["sensitive"] != earlier["columns"]["sensitive"]:
        raise UsageError(f"{option('since')} names a release of another ledger: method or sensitive column differ")
