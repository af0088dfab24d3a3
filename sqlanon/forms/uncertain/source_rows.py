"""The source of a release of uncertain data, read as it was published: every attribute a list of alternatives.

How its cells were written (lists, braces, tuple-ors) stands in the manifest: it is no secret.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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

    rows: quasi_1 …, sensitive, label (where one is published); quasi_1_alone … of columns without lists. sql_types:
    internal name → type of one alternative. tuples: the alternative rows with their tie, before they are folded, None
    where rows are no alternatives of others; lists: the columns whose cells hold lists in them.
    """

    rows: Sql
    sql_types: Mapping[str, Sql]
    labels: tuple[str, ...]
    tuples: Sql | None = None
    lists: tuple[str, ...] = ()

    def split_places(self, places: Iterable[int]) -> dict[str, list[int]]:
        """Return which quasi columns, by place, are certain in every row, which others are texts, and the others."""
        places_by_kind: dict[str, list[int]] = {"certain": [], "texts": [], "others": []}
        for place in places:
            name = f"quasi_{place}"
            uncertain = "texts" if self.sql_types[name].upper() == "VARCHAR" else "others"
            places_by_kind["certain" if self.is_certain(name) else uncertain].append(place)
        return places_by_kind

    def is_certain(self, name: str) -> bool:
        """Tell whether a column holds single values in every row, which `rows` then has as NAME_alone as well."""
        # folding makes lists of all columns
        return self.tuples is None and name not in self.lists


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
        "shared/source",
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


def _split_braces(published: PublishedTables, rows: Sql, names: list[str], braced: Mapping[str, str]) -> Sql:
    """Read texts in braces as lists of alternatives; the other columns pass as they are."""
    passed = [name for name in (*names, "row_number") if name not in braced]
    cast = [(name, Sql(f"{sql_type}[]")) for name, sql_type in braced.items()]
    return published.subquery("shared/listed", {"source": rows}, passed_columns=passed, text_columns=cast)


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
        rows = published.subquery("shared/folded", {"source": rows}, **roles)
        listed, scalars = [*listed, *scalars], []  # folding makes lists of all of them
    return published.subquery(
        "forms/uncertain/listed_row",
        {"source": rows},
        passed=labels,
        lists=listed,
        scalars=[(name, f"{name}_alone") for name in scalars],
    )


def _braced_types(manifest: Manifest, columns: Described, sql_types: Mapping[str, str]) -> dict[str, str]:
    """Return the text columns whose cells may stand in braces, with the type of one alternative."""
    if manifest["parameters"].get("alternatives") != "braces":
        return {}
    # a value of a hierarchy is one of its nodes, whatever the column's type was: a text
    item_types = {name: columns.types[name] if name not in columns.hierarchies else "VARCHAR" for name in columns.quasi}
    return {name: item_types.get(name, "VARCHAR") for name, sql_type in sql_types.items() if sql_type == "VARCHAR"}
