"""The source of a release of uncertain data, read as it was published: every attribute a list of alternatives.

How its cells were written (lists, braces, tuple-ors) stands in the manifest: it is no secret.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.errors import ReleaseError
from sqlanon.methods.uncertain.read_manifest import Described, described
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables

LABEL, TIE = "label", "tie"


@dataclass(frozen=True)
class SourceRows:
    """A source's rows with lists of alternatives under internal names, and the types that the source gives them.

    rows: quasi_1 …, sensitive, label (where one is published). sql_types: internal name → type of one alternative.
    """

    rows: Sql
    sql_types: Mapping[str, Sql]
    labels: tuple[str, ...]


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
    spelled = dict(zip(names, resolve_names(types, names), strict=True))
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
    return SourceRows(folded, typed, label_names)


def write_true_rows(published: PublishedTables, original: SourceRows, labels: Sequence[str]) -> Sql:
    """Return what QIT should show of a source's rows; labels: what stands beside it."""
    columns, relations = described(published.manifest), {"original": original.rows}
    true_node = "forms/uncertain/source/true_node"
    nodes = {
        f"true_node_{place}": published.subquery(true_node, relations, number=place, hierarchy=tree)
        for place, tree in columns.trees.items()
    }
    largest = [place for place, _ in columns.ordered if original.sql_types[f"quasi_{place}"] != "VARCHAR"]
    places = range(1, len(columns.quasi) + 1)
    return published.subquery(
        "forms/uncertain/source/true_row",
        relations | nodes,
        labels=labels,
        trees=list(columns.trees),
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


def unfold_marks(published: PublishedTables, columns: Described) -> Sql:
    """Return QIT with its marks unfolded: a column of counts per quasi attribute."""
    names = published.manifest["columns"]
    roles = {f"{role}_column": names[role] for role in ("group", "qiid", "alternatives")}
    labels = [names["label"]] if "label" in names else []
    values = {"quasi": columns.fields, "hidden": list(columns.hidden), "labels": labels}
    return published.subquery("uncertain/unfolded", {}, **values, **roles)


def read_sets(published: PublishedTables) -> Sql:
    """Return the lines of ST with their alternatives in one list, to stand where a relation does."""
    columns: Mapping[str, Any] = published.manifest["columns"]
    roles = {"values": columns["values"], "group_column": columns["group"], "count_column": columns["count"]}
    return published.subquery("uncertain/set_line", **roles)


def is_single(published: PublishedTables) -> bool:
    """Tell whether ST has one sensitive column, so that each of its lines is one value."""
    return len(published.manifest["columns"]["values"]) == 1


def weigh_groups(published: PublishedTables, columns: Described) -> Sql:
    """Return the groups of ST as diversity sees them, with the weights of their values."""
    values = {"weights": list(columns.weights), "single": is_single(published)}
    return published.subquery("forms/uncertain/source/weighed_group", {"set_line": read_sets(published)}, **values)


def write_nodes(published: PublishedTables, columns: Described) -> dict[str, Sql]:
    """Return the nodes of each hierarchy as constants, by what queries call them: `node_1` of the first column …"""
    tables = {place: {**tree.table, "optional": []} for place, tree in columns.trees.items()}  # paths are not read
    node = "forms/uncertain/source/node"
    return {f"node_{place}": published.subquery(node, table=table) for place, table in tables.items()}
