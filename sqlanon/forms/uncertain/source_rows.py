"""The source of a release of uncertain data, read as it was published: every attribute a list of alternatives.

How its cells were written (lists, braces, tuple-ors) stands in the manifest: it is no secret. Beside it, what the
release answers is compared with the true alternatives, value by value of every column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import AnswerError, ReleaseError
from sqlanon.estimation.temporary_tables import listed
from sqlanon.methods.uncertain.read_manifest import Described, described
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.cells.uncertain import UncertainSession

LABEL, TIE = "label", "tie"


@dataclass(frozen=True)
class SourceRows:
    """A source's rows with lists of alternatives under internal names, and the types that the source gives them.

    rows: quasi_1 …, sensitive, label (where one is published). sql_types: internal name → type of one alternative.
    tuples: the alternative rows with their tie, before they are folded, None where rows are no alternatives of others;
    lists: the columns whose cells hold lists in them.
    """

    rows: Sql
    sql_types: Mapping[str, Sql]
    labels: tuple[str, ...]
    tuples: Sql | None = None
    lists: tuple[str, ...] = ()


def read_source_rows(published: PublishedTables, source: Source, types: Mapping[str, str]) -> SourceRows:
    """Read a source as its release's manifest describes it.

    types: the source's columns with their types. Raises UsageError where it lacks a column, ReleaseError where it
    holds what the release cannot have been made from.
    """
    manifest = published.manifest
    columns, described_columns = manifest["columns"], described(manifest)
    internal = {name: f"quasi_{number}" for number, name in enumerate(described_columns.quasi, start=1)}
    internal[columns["sensitive"][0]] = "sensitive"
    tie = manifest["parameters"].get("alternative_of")
    labels = {columns[LABEL]: LABEL} if LABEL in columns else {}
    # pairs, not a mapping: a label may be the tie as well
    pairs = [*internal.items(), *labels.items(), *([(tie, TIE)] if isinstance(tie, str) else [])]
    names = [name for name, _ in pairs]
    spelled = dict(zip(names, resolve_names(list(types), names), strict=True))
    braced = _braced_types(manifest, described_columns, {name: types[spelled[name]] for name in internal})
    sql_types = {name: braced.get(name, source.lists.get(spelled[name], types[spelled[name]])) for name in internal}
    nested = [name for name, sql_type in sql_types.items() if sql_type == "NESTED"]
    if nested:
        raise ReleaseError(f"the source's column {nested[0]!r} holds nested values, which the release does not have")
    rows = published.subquery(
        "source",
        relation=source.relation,
        selected=[
            *((source.expression(spelled[name]), ours) for name, ours in pairs),
            (Sql("row_number() over ()"), "row_number"),
        ],
    )
    lists = [internal[name] for name in internal if name in braced or spelled[name] in source.lists]
    if braced:
        rows = _split_braces(published, rows, [ours for _, ours in pairs], {internal[n]: braced[n] for n in braced})
    scalars = [ours for ours in internal.values() if ours not in lists]
    tied, label_names = isinstance(tie, str), tuple(labels.values())
    typed = {internal[name]: Sql(sql_type) for name, sql_type in sql_types.items()}
    folded = _fold_ties(published, rows, label_names, {name: typed[name] for name in lists}, scalars, tied)
    return SourceRows(folded, typed, label_names, rows if tied else None, tuple(lists))


def write_true_rows(published: PublishedTables, original: SourceRows, nodes: Sql, labels: Sequence[str]) -> Sql:
    """Return what QIT should show of a source's rows; nodes: of the hierarchies; labels: what stands beside it."""
    columns, relations = described(published.manifest), {"original": original.rows, "tree_node": nodes}
    true_node = "forms/uncertain/source/true_node"
    largest = [place for place, _ in columns.ordered if original.sql_types[f"quasi_{place}"] != "VARCHAR"]
    places = range(1, len(columns.quasi) + 1)
    return published.subquery(
        "forms/uncertain/source/true_row",
        relations,
        labels=labels,
        trees=columns.trees,
        nodes=[published.subquery(true_node, relations, number=place) for place in columns.trees],
        largest=largest,
        single=[place for place in places if place not in {*largest, *columns.trees}],
    )


def _split_braces(published: PublishedTables, rows: Sql, names: list[str], braced: Mapping[str, str]) -> Sql:
    """Read texts in braces as lists of alternatives; the other columns pass as they are."""
    passed = [name for name in (*names, "row_number") if name not in braced]
    cast = [(name, Sql(f"{sql_type}[]")) for name, sql_type in braced.items()]
    return published.subquery("uncertain/listed", {"source": rows}, passed_columns=passed, text_columns=cast)


def _fold_ties(
    published: PublishedTables,
    rows: Sql,
    labels: tuple[str, ...],
    lists: Mapping[str, Sql],
    scalars: list[str],
    tied: bool,
) -> Sql:
    """Make one row of alternative rows that a tie joins, and a list of every cell that is none.

    lists: the columns that hold lists, with the type of their items.
    """
    listed = list(lists)
    if tied:
        roles = {"single_columns": labels, "scalar_columns": scalars, "list_columns": list(lists.items())}
        rows = published.subquery("uncertain/folded", {"source": rows}, **roles)
        listed, scalars = [*listed, *scalars], []  # folding makes lists of all of them
    return published.subquery(
        "forms/uncertain/source/listed_row",
        {"source": rows},
        passed=labels,
        lists=listed,
        scalars=scalars,
    )


def _braced_types(manifest: Manifest, columns: Described, sql_types: Mapping[str, str]) -> dict[str, str]:
    """Return the text columns whose cells may stand in braces, with the type of one alternative."""
    if manifest["parameters"].get("alternatives") != "braces":
        return {}
    # a value of a hierarchy is one of its nodes, whatever the column's type was: a text
    item_types = {name: columns.types[name] if name not in columns.hierarchies else "VARCHAR" for name in columns.quasi}
    return {name: item_types.get(name, "VARCHAR") for name, sql_type in sql_types.items() if sql_type == "VARCHAR"}


REQUIRED = "certain <= true count <= possible, of every value that a column shows"


def count_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of what `compare_counts` adds up: a recipient's counts, then the source's."""
    session = _open_session(published)
    original, queries = read_source_rows(published, source, types), listed(session.loaded.loading_steps())
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
            bounds = {name for name in ("certain", "possible") if name not in answered}  # of what is certain
            answered = answered.assign(**dict.fromkeys(bounds, answered["expected"]))
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
    from sqlanon.estimation.cells.uncertain import UncertainSession  # estimation's libraries are slow to import

    return UncertainSession(published.engine, published.tables, published.manifest)


def _quasi_and_sensitive(published: PublishedTables) -> list[tuple[str, str]]:
    columns = published.manifest["columns"]
    quasi = [(name, f"quasi_{place}") for place, name in enumerate(columns["quasi"], start=1)]
    return [*quasi, (columns["sensitive"][0], "sensitive")]


def _count_values(column: str) -> str:
    return f'SELECT CAST({ident(column)} AS VARCHAR) AS "value", COUNT(*) FROM release GROUP BY 1'


def _true_count(published: PublishedTables, original: SourceRows, internal: str) -> str:
    # the alternative rows of a tuple are one choice: what several of them give is as likely as they are together
    tied = original.tuples is not None
    sql_type = Sql("") if tied and internal not in original.lists else original.sql_types[internal]  # of lists
    relations = {"rows": original.rows if original.tuples is None else original.tuples}
    return published.query(
        "forms/uncertain/source/true_count", relations, column=internal, sql_type=sql_type, tied=tied
    )


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
