"""Compare published columns with the source's as multisets: how often each combination of values occurs.

A run that compares its own tables reads each side once: sums of row hashes tell whether two sides have the same rows,
in any order, and only if they differ are rows counted. A run may trust these hashes, because nobody stands between it
and its own tables. Whoever verifies somebody else's release always counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.methods.packing import WHOLE
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables

WEIGHT = "line_weight"  # how many rows of the source a published line stands for
SAME_ROWS = {"added_rows": 0, "missing_rows": 0}
# columns of whole numbers, each with a number that it never holds and NULL is hashed as; None where it may hold any
WholeColumns = Mapping[str, int | None]


@dataclass(frozen=True)
class AlignedColumns:
    """Two relations with the same columns `names`: published and original values of one type.

    whole: the columns of whole numbers, where these are known.
    """

    published: Sql
    original: Sql
    names: tuple[str, ...]
    whole: WholeColumns = field(default_factory=dict)


def align_columns(
    published: PublishedTables,
    table: str,
    columns: Sequence[str],
    source: Source,
    types: Mapping[str, str],
    weight: Sql | None = None,
) -> AlignedColumns:
    """Return published columns and the source's of the same names, both under names of our own and of one type.

    types: the source's columns with their types. weight: an expression over a published line, as column WEIGHT.
    """
    original_names = resolve_names(types, columns)
    sql_types = published.columns(table)
    names = tuple(f"value_{number}" for number in range(1, len(columns) + 1))
    original = [f"{source.expression(column)} as {name}" for column, name in zip(original_names, names, strict=True)]
    # read as the source's type: a value that publishing rounded differs from the original then
    values = [
        f"{ident(column)} as {name}"
        if sql_types[column] == types[in_source]
        else f"cast({ident(column)} as {types[in_source]}) as {name}"
        for column, in_source, name in zip(columns, original_names, names, strict=True)
    ]
    weighed = [] if weight is None else [f"{weight} as {WEIGHT}"]
    return AlignedColumns(
        Sql(f"(select {', '.join([*values, *weighed])} from {published.tables[table]})"),
        source.select(original, facts=table != "qit"),
        names,
    )


def compare_columns(
    published: PublishedTables,
    name: str,
    table: str,
    columns: Sequence[str],
    weight: Sql,
    source: Source,
    types: Mapping[str, str],
) -> Row:
    """Return how many rows were added to published columns, and how many are missing there; name: of the check."""
    return count_others(published, name, align_columns(published, table, columns, source, types, weight))


def count_others(published: PublishedTables, name: str, aligned: AlignedColumns) -> Row:
    """Return how many rows the published side, whose lines have a weight, has beside the original, and how many less.

    name: of the check.
    """
    multiset = {"name": "multiset", "names": aligned.names, "weight": ident(WEIGHT)}
    sides = {"published": aligned.published, "original": aligned.original}
    return published.answer(name, against(published, multisets=[{**multiset, **sides}])["multiset"])


def against(published: PublishedTables, **asked: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return the queries that compare a release with its source, by name: multisets, owners, bounds, covers."""
    return published.sections("verify/against", **{"multisets": (), "owners": (), "bounds": (), "covers": (), **asked})


def compare_multisets(published: PublishedTables, name: str, aligned: AlignedColumns) -> Row:
    """Return the same; of a run's own tables rows are counted only where sums of their hashes differ."""
    if published.original is not None:
        sums = add_up(published, aligned.published, [aligned.names], aligned.whole, ident(WEIGHT))
        if sums == add_up(published, aligned.original, [aligned.names], aligned.whole):
            return SAME_ROWS
    return count_others(published, name, aligned)


def whole_columns(types: Mapping[str, str]) -> dict[str, int | None]:
    """Return the columns of whole numbers among those of these types."""
    kinds = {name: sql_type.upper() for name, sql_type in types.items()}
    return {name: None if kind == "BIGINT" else 2**32 for name, kind in kinds.items() if kind in WHOLE}


def add_up(
    published: PublishedTables,
    rows: Sql,
    choices: Sequence[Sequence[str]],
    whole: WholeColumns,
    weight: Sql | None = None,
) -> list[Any]:
    """Return how many rows there are, and what their hashes come to by each choice of columns.

    weight: how many rows a line stands for, where it is not one.
    """
    row = published.answer("fingerprint", write_fingerprint_query(rows, choices, whole, weight))
    numbers = range(1, len(choices) + 1)
    return [int(row["row_count"]), *((int(row[f"high_{number}"]), int(row[f"low_{number}"])) for number in numbers)]


def write_fingerprint_query(
    rows: Sql, choices: Sequence[Sequence[str]], whole: WholeColumns, weight: Sql | None = None
) -> str:
    """Return the query of `add_up`, for any relation."""
    hashed = [[_hashed_column(name, whole) for name in choice] for choice in choices]
    return render_query("verify/rows/fingerprint", {"choices": hashed, "weight": weight}, {"line": rows})


def _hashed_column(name: str, whole: WholeColumns) -> Sql:
    if name not in whole:
        return ident(name)
    number, absent = f"cast({ident(name)} as bigint)", whole[name]
    return Sql(number if absent is None else f"coalesce({number}, {absent})")


def multiset_check(name: str, row: Mapping[str, Any], dropped: int) -> Check:
    """Judge a comparison of multisets: nothing was added, and as many rows are missing as were dropped."""
    holds = row["added_rows"] == 0 and row["missing_rows"] == dropped
    return Check(name, {"added_rows": 0, "missing_rows": dropped}, dict(row), holds)
