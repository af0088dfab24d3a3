"""What a verification is made of: checks, a report, and the queries that every kind of release shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source, Step, build
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident

WEIGHT = "line_weight"  # how many rows of the source a published line stands for
REPORTED = "reported"  # what is required where nothing is judged
FILE_COLUMN = "sqlanon_file"  # where an engine whose tables lie in parts tells a row's file


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what is required, what was found, whether it holds (None: not run)."""

    name: str
    required: object
    found: object
    holds: bool | None


@dataclass(frozen=True)
class Report:
    """Every check of one verification, the figures beside them; if asked, the voters' presence and posteriors.

    posterior: for each background what `adversary.examine` found; promise: the words for what it is seen against.
    """

    checks: tuple[Check, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    presence: pd.DataFrame | None = None
    posterior: tuple[Mapping[str, Any], ...] = ()
    promise: str = ""

    @property
    def holds(self) -> bool:
        """Return whether no check failed."""
        return all(check.holds is not False for check in self.checks)

    def failed(self) -> str:
        """Return the failed checks in words."""
        return "; ".join(
            f"{check.name}: required {check.required}, found {check.found}"
            for check in self.checks
            if check.holds is False
        )


@dataclass(frozen=True)
class Published:
    """The tables of a release as they stand, and what its manifest says of them."""

    engine: Engine
    tables: Mapping[str, Sql]
    manifest: Manifest

    def query(self, template: str, given: Mapping[str, Sql], **values: object) -> str:
        """Render one query over the published tables."""
        step = Step(template, "query")
        (statement,) = build((step,), values, "", {**self.tables, **given})
        return statement.sql  # type: ignore[union-attr]

    def row(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> dict[str, Any]:
        """Run a query of one row over the published tables."""
        (row,) = self.engine.rows(self.query(template, given or {}, **values))
        return row


def order_queries(
    published: Published, shown: Mapping[str, Sequence[str]], all_differ: frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that look at the order of the published tables.

    shown: the columns of each table that its order goes by. all_differ: the tables whose lines must all differ.
    """
    listed = []
    for name, line in shown.items():
        template = "verification/checks/strict_order" if name in all_differ else "verification/checks/row_order"
        stored = {"published": published.engine.in_stored_order(published.tables[name])}
        listed.append((f"order of {name}", published.query(template, stored, line_columns=line)))
        if published.engine.in_parts:
            asked = {"line_columns": line, "file_column": FILE_COLUMN, "all_differ": name in all_differ}
            listed.append((f"order of {name} files", published.query("verification/checks/seams", stored, **asked)))
    return listed


def order_check(found: Mapping[str, Mapping[str, Any]], tables: Sequence[str], required: str) -> Check:
    """Judge the order of the tables: inside files, and at the seams between them."""
    misplaced = {
        f"misplaced rows of {table}": int(
            sum(row["misplaced_rows"] for name, row in found.items() if name.startswith(f"order of {table}"))
        )
        for table in tables
    }
    sound = not any(misplaced.values())
    return Check("row_order", required, "sorted" if sound else misplaced, sound)


def multiset_query(
    published: Published,
    table: str,
    shown: Sequence[str],
    weight: Sql,
    source: Source,
    types: Mapping[str, str],
) -> str:
    """Return the query that compares published columns with the source's, as multisets.

    Where the types differ, published values are read as the source's type: what was rounded is not the same.
    """
    compared = compared_columns(published, table, shown, source, types, weight)
    return published.query(
        "verification/checks/multiset",
        {"published": compared.published, "original": compared.original},
        value_names=compared.names,
        weight=ident(WEIGHT),
    )


def multiset_check(name: str, found: Mapping[str, Any], dropped: int) -> Check:
    """Judge a comparison of multisets: nothing added, and missing what was dropped."""
    holds = found["added_rows"] == 0 and found["missing_rows"] == dropped
    return Check(name, {"added_rows": 0, "missing_rows": dropped}, dict(found), holds)


@dataclass(frozen=True)
class Compared:
    """Two relations with the same columns `names`: published and original values of one type."""

    published: Sql
    original: Sql
    names: tuple[str, ...]


def compared_columns(
    published: Published,
    table: str,
    shown: Sequence[str],
    source: Source,
    types: Mapping[str, str],
    weight: Sql | None = None,
) -> Compared:
    """Return published columns and the source's beside them, under names of our own and no others."""
    columns = resolve_names(list(types), shown)
    kinds = published.engine.columns(f"select * from {published.tables[table]}")
    names = tuple(f"value_{number}" for number in range(1, len(columns) + 1))
    original = [f"{source.expression(column)} as {name}" for column, name in zip(columns, names, strict=True)]
    read = [
        f"{ident(asked)} as {name}"
        if kinds[asked] == types[column]
        else f"cast({ident(asked)} as {types[column]}) as {name}"
        for asked, column, name in zip(shown, columns, names, strict=True)
    ]
    counted = [] if weight is None else [f"{weight} as {WEIGHT}"]
    return Compared(
        Sql(f"(select {', '.join([*read, *counted])} from {published.tables[table]})"),
        Sql(f"(select {', '.join(original)} from {source.relation})"),
        names,
    )
