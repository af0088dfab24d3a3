"""Compare what a release of uncertain data answers with the true alternatives, value by value of every column."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlanon.errors import AnswerError, ReleaseError
from sqlanon.forms.uncertain.source_rows import SourceRows, read_source_rows
from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.uncertain.session import UncertainSession

REQUIRED = "certain <= true count <= possible, of every value that a column shows"


def count_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of what `compare_counts` runs: a recipient's statements, then the source's counts."""
    session = _open_session(published)
    original, queries = read_source_rows(published, source, types), session.loaded.loading_statements()
    loading = len(queries)  # once for all columns
    for column, internal in _quasi_and_sensitive(published):
        statements = session.statements(_count_values(column))[loading:]
        queries += [*statements, (f"true counts of {column}", _true_count(published, original, internal))]
    return queries


def compare_counts(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Check:
    """Check that the three counts of every value enclose the true ones; `mean_error` is that of `expected`, in rows.

    A release that cannot be read fails. A column whose values are too many to be told apart is left out, with the
    reason. Largest values stand for smaller alternatives: those that the column shows nowhere are counted as
    `unpublished`, and asked of nobody.
    """
    session = _open_session(published)
    original, columns = read_source_rows(published, source, types), dict[str, Any]()
    open_ended = {f"quasi_{place}" for place, _ in described(published.manifest).ordered}
    try:
        for column, internal in _quasi_and_sensitive(published):
            try:
                answered = session.answer(_count_values(column))
            except AnswerError as error:
                columns[column] = f"not compared: {error}"
                continue
            true_counts = published.engine.frame(_true_count(published, original, internal))
            hidden = session.loaded.hidden_rows if internal != "sensitive" else 0  # ST hides nobody
            if original.sql_types[internal] in ("FLOAT", "DOUBLE"):  # 0 has two texts, and is one value
                answered, true_counts = (
                    answered.replace({"value": "-0.0"}, "0.0"),
                    true_counts.replace({"value": "-0.0"}, "0.0"),
                )
            columns[column] = _judge(answered, true_counts, hidden, internal in open_ended)
    except ReleaseError as error:  # the other checks say what is wrong with it
        return Check("counts", REQUIRED, {"unreadable": str(error)}, False)
    finally:
        session.close()
    judged = [figures for figures in columns.values() if isinstance(figures, dict)]
    holds = not any(figures["outside"] for figures in judged) if judged else None
    return Check("counts", REQUIRED, columns, holds)


def _open_session(published: PublishedTables) -> "UncertainSession":
    from sqlanon.estimation.uncertain.session import UncertainSession  # estimation's libraries are slow to import

    return UncertainSession(published.engine, published.tables, published.manifest)


def _quasi_and_sensitive(published: PublishedTables) -> list[tuple[str, str]]:
    columns = published.manifest["columns"]
    quasi = [(name, f"quasi_{place}") for place, name in enumerate(columns["quasi"], start=1)]
    return [*quasi, (columns["sensitive"][0], "sensitive")]


def _count_values(column: str) -> str:
    return f'SELECT CAST({ident(column)} AS VARCHAR) AS "value", COUNT(*) FROM release GROUP BY 1'


def _true_count(published: PublishedTables, original: SourceRows, internal: str) -> str:
    values = {"column": internal, "sql_type": original.sql_types[internal]}
    if original.tuples is None:
        return published.query("forms/uncertain/true_count", {"original": original.rows}, **values)
    # the alternative rows of a tuple are one choice: what several of them give is as likely as they are together
    sql_type = original.sql_types[internal] if internal in original.lists else Sql("")  # of lists
    relations = {"source": original.tuples}
    return published.query("forms/uncertain/true_tuple_count", relations, column=internal, sql_type=sql_type)


def _judge(answered: "pd.DataFrame", true_counts: "pd.DataFrame", hidden: int, open_ended: bool) -> dict[str, Any]:
    """Compare one column's counts; `hidden` rows may have any value, `open_ended`: largest values are shown."""
    both = answered.merge(true_counts, how="outer", on="value", suffixes=("", "_true"), indicator=True)
    unpublished = both["_merge"] == "right_only"
    both = both.drop(columns=["value", "_merge"]).astype(float)
    if open_ended:
        both = both[~unpublished]
    # a value that the release shows nowhere may still be a hidden row's, and is nobody's for certain
    both["possible"] = both["possible"].fillna(float(hidden))
    both = both.fillna(0.0)
    outside = (both["certain"] > both["certain_true"]) | (both["possible_true"] > both["possible"])
    figures: dict[str, Any] = {"values": len(both), "outside": int(outside.sum())}
    figures["mean_error"] = float((both["expected"] - both["expected_true"]).abs().mean()) if len(both) else None
    return figures | ({"unpublished": int(unpublished.sum())} if open_ended else {})
