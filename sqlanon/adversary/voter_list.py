"""Presence: what an adversary with a list of people learns from a release of groups."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UsageError
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    import pandas as pd


def presence_query(published: PublishedTables, voters: Source, types: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and text of the query that joins a voter list with a release."""
    columns = published.manifest["columns"]
    names = resolve_names(list(types), columns["quasi"])
    kinds = published.columns("qit")
    quasi = [
        Sql(f"cast({ident(name)} as {kinds[column]})") for name, column in zip(names, columns["quasi"], strict=True)
    ]
    # the answer repeats the list's own columns, beside which these stand
    added = {"matching_rows", "voters_alike", "presence", "confidence", "risk"}
    clash = [name for name in types if name.lower() in added]
    if clash:
        raise UsageError(f"the voter list has a column {clash[0]!r}, which the answer adds; rename it")
    sql = published.query(
        "adversary/voter_list/presence",
        {"voters": voters.relation},
        quasi=columns["quasi"],
        voter_columns=list(types),
        voter_quasi=quasi,
        group_column=columns["group"],
        count_column=columns["count"],
    )
    return "presence", sql


def find_presence(published: PublishedTables, voters: Source, types: Mapping[str, str]) -> "pd.DataFrame":
    """Join a voter list with a release: per voter presence, confidence and their product."""
    return published.engine.frame(presence_query(published, voters, types)[1])


def presence_figures(frame: "pd.DataFrame") -> dict[str, Any]:
    """Summarize a voter list: how many, how many surely present, mean and largest risk."""
    if frame.empty:
        return {"voters": 0, "surely_present": 0, "mean_risk": None, "largest_risk": None}
    return {
        "voters": len(frame),
        "surely_present": int((frame["presence"] >= 1).sum()),
        # fsum: the order in which an engine returns the voters does not show in the last digit
        "mean_risk": float(math.fsum(frame["risk"]) / len(frame)),
        "largest_risk": float(frame["risk"].max()),
    }
