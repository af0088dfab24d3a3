"""Groups in which the order of a quasi column goes with the order of the values: who is oldest has the last of them.

Where groups were drawn, a group's last person and another of the same value, out of another group, could have changed
places. So the d of the query's groups have each its own fair sign, and Efron's bound for such sums holds exactly:

    Pr(|Σ d| >= t √(Σ d²)) <= 2 exp(-t²/2),

whatever values and columns have to do with each other, and however few the groups are.

A release that follows others has groups of several times, and people of another time are no stand-ins. Groups are
numbered in the order of their times: of blocks of neighbours by number, all but one block less than there were times
are of one time each. As nobody knows which, those that would show the most are left out, as many as may be mixed.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.plans.manifest import follows, manifest_text
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables
from sqlanon.verification.multisets import WEIGHT, align_columns

NAME = "rank_alignment"
LEVEL = 1e-6  # how often a sound release may fail, all its columns and orders together
# the orders that sensitive values come in: as they sort, and by how frequent they are
ORDERS = {"sorted": "{value} asc nulls last", "by frequency": "count(*) desc nulls last, {value} asc nulls last"}
_FOLDER = "verification/rank_alignment"
_VALUE = "sensitive_value"
_BLOCKS = 4  # for each release that groups may be of: three quarters of them count
_MOST_BLOCKS = 4096


def alignment_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that sum up d, one for each order of the values."""
    columns = published.manifest["columns"]
    quasi, (sensitive,) = columns["quasi"], columns["sensitive"]
    people = align_columns(published, "qit", quasi, source, types, ident(columns["group"]))
    names = people.names
    spelled = resolve_names(list(types), [*quasi, sensitive])
    read = [f"{source.expression(one)} as {name}" for one, name in zip(spelled, [*names, _VALUE], strict=True)]
    original = Sql(f"(select {', '.join(read)} from {source.relation})")
    classes: list[str] = []
    if "backgrounds" in published.manifest["parameters"]:
        from sqlanon.verification import class_qit_st  # most releases are of one class

        classes = class_qit_st.signature(published.manifest)
    given = {"published": people.published, "original": original}
    compared = {
        "quasi_names": names,
        "class_names": [name for name, column in zip(names, quasi, strict=True) if column in classes],
    }
    named = {
        "quasi_names": names,
        "sensitive_name": _VALUE,
        "group_name": WEIGHT,
        # who numbers groups must not choose whom they are compared with: the manifest names the digests of their files
        "salt": hashlib.sha256(manifest_text(published.manifest).encode()).hexdigest(),
    }
    queries = []
    for how, order in ORDERS.items():
        ranked = Sql(order.format(value=_VALUE))
        person = published.subquery(f"{_FOLDER}/person", given, **named, ranked=ranked)
        sql = published.query(f"{_FOLDER}/alignment", {"blocked_person": _block(published, person)}, **compared)
        queries.append((f"alignment, values {how}", sql))
    return queries


def _block(published: PublishedTables, person: Sql) -> Sql:
    """Return the persons with their half and block."""
    if _times(published) == 1:
        return published.subquery(f"{_FOLDER}/one_block", {"person": person})
    blocks = min(_BLOCKS * _times(published), _MOST_BLOCKS)
    return published.subquery(f"{_FOLDER}/blocks", {"person": person}, blocks=blocks)


def check_alignment(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Check:
    """Check that no quasi column's order within the groups goes with the values'; None where it was not run."""
    quasi = published.manifest["columns"]["quasi"]
    required = f"people of a group not in order of values (level {LEVEL:g})"
    if published.manifest["parameters"].get("changed") == "keep" and follows(published.manifest):
        return Check(NAME, required, "not run: some are shown with values that they no longer have", None, True)
    mixed = _times(published) - 1
    least, blocks, most = dict.fromkeys(quasi, 1.0), set[int](), 0
    for _, sql in alignment_queries(published, source, types):
        halves: dict[int, list[Mapping[str, Any]]] = {}
        for row in published.engine.rows(sql):
            halves.setdefault(int(row["half"]), []).append(row)
            blocks.add(int(row["block"]))
        most = max([most, *(_count_informative(rows, len(quasi)) for rows in halves.values())])
        for number, column in enumerate(quasi, start=1):
            found = (_bound(rows, number, mixed) for rows in halves.values())
            least[column] = min(least[column], *found, 1.0)
    if not blocks:
        return Check(NAME, required, "nobody is unique on the quasi columns: cannot be told", None)
    if len(blocks) <= mixed:
        told = f"not run: groups may have been drawn at {mixed + 1} times, too many for so few"
        return Check(NAME, required, told, None, True)
    tests = 2 * len(ORDERS) * len(quasi)  # a column, an order of the values, a half of the groups
    chances = {column: min(1.0, chance * tests) for column, chance in least.items()}
    aligned = {column: chance for column, chance in chances.items() if chance < LEVEL}
    if not aligned and 2 * math.exp(-most / 2) * tests >= LEVEL:
        return Check(NAME, required, "cannot be told: groups that could show an order are too few", None)
    return Check(NAME, required, aligned or "as chance has it", not aligned)


def _times(published: PublishedTables) -> int:
    """Return at how many times the groups may have been drawn: the release's number in its ledger."""
    return int(published.manifest["parameters"].get("release", 1))


def _count_informative(rows: Sequence[Mapping[str, Any]], columns: int) -> int:
    """Return in how many groups an order would show, for the column that tells most: there d is 2, and d² is 4.

    If each of n such groups were in order, t would be √n: with fewer than the level asks for, nothing could be found.
    """
    return max(sum(int(row[f"square_{number}"]) for row in rows) for number in range(1, columns + 1)) // 4


def _bound(rows: Sequence[Mapping[str, Any]], number: int, mixed: int) -> float:
    """Return 2 exp(-t²/2) for t = |Σ d| / √(Σ d²), without the `mixed` blocks that add the most to |Σ d|."""
    sums = sorted(int(row[f"sum_{number}"]) for row in rows)
    squares = sum(int(row[f"square_{number}"]) for row in rows)
    above = sum(sums) - sum(one for one in sums[len(sums) - min(mixed, len(sums)) :] if one > 0)
    below = sum(sums) - sum(one for one in sums[:mixed] if one < 0)
    total = max(above, -below, 0)
    return min(1.0, 2 * math.exp(-(total**2) / (2 * squares))) if squares else 1.0
