"""Compare what a release of uncertain data answers with the true alternatives, value by value of every column."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sqlanon.errors import AnswerError, ReleaseError
from sqlanon.estimation.uncertain.session import Session
from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import ident
from sqlanon.verification.checks import Check, Published
from sqlanon.verification.uncertain.originals import Original, original

REQUIRED = "certain <= true count <= possible, of every value that a column shows"


def count_queries(published: Published, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of what `compared` runs: a recipient's statements, and the same over the source."""
    session = Session(published.engine, published.tables, published.manifest)
    true, listed = original(published, source, types), session.loaded.loading_statements()
    for column, internal in _columns(published):
        texts = session.statements(_question(column))[len(session.loaded.loading_statements()) :]
        listed += [*texts, (f"true counts of {column}", _true_count(published, true, internal))]
    return listed


def compared(published: Published, source: Source, types: Mapping[str, str]) -> Check:
    """Check that the three counts of every value enclose the true ones; `mean_error` is that of `expected`, in rows.

    A release that cannot be read fails. A column whose values are too many to be told apart is left out, with the
    reason. Largest values stand for smaller alternatives: those that the column shows nowhere are counted as
    `unpublished`, and asked of nobody.
    """
    session = Session(published.engine, published.tables, published.manifest)
    true, found = original(published, source, types), dict[str, Any]()
    open_ended = {f"quasi_{place}" for place, _ in described(published.manifest).ordered}
    try:
        for column, internal in _columns(published):
            try:
                answered = session.answer(_question(column))
            except AnswerError as error:
                found[column] = f"not compared: {error}"
                continue
            counted = published.engine.frame(_true_count(published, true, internal))
            hidden = session.loaded.hidden_rows if internal != "sensitive" else 0
            found[column] = _judged(answered, counted, hidden, internal in open_ended)
    except ReleaseError as error:  # the other checks say what is wrong with it
        return Check("counts", REQUIRED, {"unreadable": str(error)}, False)
    finally:
        session.close()
    judged = [said for said in found.values() if isinstance(said, dict)]
    holds = not any(said["outside"] for said in judged) if judged else None
    return Check("counts", REQUIRED, found, holds)


def _columns(published: Published) -> list[tuple[str, str]]:
    columns = published.manifest["columns"]
    named = [(name, f"quasi_{place}") for place, name in enumerate(columns["quasi"], start=1)]
    return [*named, (columns["sensitive"][0], "sensitive")]


def _question(column: str) -> str:
    return f'SELECT CAST({ident(column)} AS VARCHAR) AS "value", COUNT(*) FROM release GROUP BY 1'


def _true_count(published: Published, true: Original, internal: str) -> str:
    return published.query("verification/uncertain/true_count", {"original": true.rows}, column=internal)


def _judged(answered: pd.DataFrame, counted: pd.DataFrame, hidden: int, open_ended: bool) -> dict[str, Any]:
    """Compare one column's counts; `hidden` rows may have any value, `open_ended`: largest values are shown."""
    both = answered.merge(counted, how="outer", on="value", suffixes=("", "_true"), indicator=True)
    unshown = both["_merge"] == "right_only"
    both = both.drop(columns=["value", "_merge"]).astype(float)
    if open_ended:
        both = both[~unshown]
    both["possible"] = both["possible"].fillna(float(hidden))
    both = both.fillna(0.0)
    outside = (both["certain"] > both["certain_true"]) | (both["possible_true"] > both["possible"])
    found: dict[str, Any] = {"values": len(both), "outside": int(outside.sum())}
    found["mean_error"] = float((both["expected"] - both["expected_true"]).abs().mean()) if len(both) else None
    return found | ({"unpublished": int(unshown.sum())} if open_ended else {})
