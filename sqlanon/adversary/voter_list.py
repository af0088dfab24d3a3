"""Presence: what an adversary with a list of people learns from a release of groups, or of boxes.

The answer has one line for all voters whose quasi values are equal: its columns are published ones, so that a list with
names, or with the sensitive column, shows nothing more than what the release does.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.engines.coarser_source import refuse_endless
from sqlanon.errors import UsageError
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.roles import free_name, resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = ("matching_rows", "voters_alike", "presence", "confidence", "risk")


def read_voters(published: PublishedTables, voters: object, sql_types: Mapping[str, str]) -> tuple[Sql, list[Sql]]:
    """Find a voter list; return its SQL, and what reads its quasi values as the release shows them.

    A file's values are taken as they are written, for a column of F alone would be read as one of BOOLEAN, and codes
    without their leading zeros. sql_types: the types of the columns that voters are looked up by. Raises UsageError
    where a column's type is such that nobody would be found.
    """
    rules, readings = published.manifest["parameters"].get("coarsen", {}), []
    source, types = published.engine.find_source(voters, as_text=True)
    for name, (column, sql_type) in zip(resolve_names(types, list(sql_types)), sql_types.items(), strict=True):
        voter_type = types[name]
        if (voter_type == "BOOLEAN" != sql_type) or (
            sql_type == "BOOLEAN" and voter_type not in ("BOOLEAN", "VARCHAR")
        ):
            raise UsageError(
                f"the voters' column {name!r} is of type {voter_type}, and {column!r} of the release is of {sql_type}:"
                f" nobody would be found; hand over a CSV file, whose values are read as {sql_type}, or a column of"
                " that type"
            )
        if sql_type == "DATE":  # which no answer can hold in Python
            refuse_endless(published.engine, source.relation, name, Sql(f"cast({ident(name)} as date)"))
        reading = Sql(f"cast({ident(name)} as {sql_type})")
        readings.append(Coarsening(rules[column]).write(reading, sql_type) if column in rules else reading)
    return source.relation, readings


def presence_query(published: PublishedTables, voters: object) -> str:
    """Return the query that counts a voter list together with a release."""
    columns, published_types = published.manifest["columns"], published.columns("qit")
    sql_types = {column: published_types[column] for column in columns["quasi"]}
    relation, quasi = read_voters(published, voters, sql_types)
    return published.query(
        "adversary/voter_list/presence",
        {"voters": relation},
        voter_quasi=quasi,
        group_column=columns["group"],
        count_column=columns["count"],
        **name_answers(columns["quasi"]),
    )


def name_answers(quasi: Sequence[str], *more: str) -> dict[str, Any]:
    """Return the names of an answer's columns: where the user's have one of ours, it gives way."""
    return {"quasi": quasi, **{f"{answer}_column": free_name(answer, quasi) for answer in (*more, *ANSWERS)}}


def boxes_query(published: PublishedTables, boxed: Sequence[str], sensitive: str) -> str:
    """Write the query for a release's boxes: box (a number), shown_1 … (the columns `boxed`), row_count, confidence."""
    return published.query("adversary/voter_list/box", {}, boxed=list(boxed), sensitive=sensitive)


def presence_figures(frame: "pd.DataFrame") -> dict[str, Any]:
    """Summarize a voter list: how many voters, how many surely present, mean and largest risk of a voter."""
    if frame.empty:
        return {"voters": 0, "surely_present": 0, "mean_risk": None, "largest_risk": None}
    _, alike, presence, _, risk = (frame.iloc[:, place] for place in range(-len(ANSWERS), 0))
    voters = int(alike.sum())
    return {
        "voters": voters,
        "surely_present": int(alike[presence >= 1].sum()),
        # fsum: the order in which an engine returns the lines does not show in the last digit
        "mean_risk": float(math.fsum(alike * risk) / voters),
        "largest_risk": float(risk.max()),
    }
