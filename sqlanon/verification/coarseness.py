"""Look whether quasi values are as coarse as the manifest says; bounds of boxes and uncertain cells are passed over."""

from collections.abc import Mapping, Sequence

from sqlanon.errors import UsageError
from sqlanon.plans.coarsening import MAPPING, Coarsening
from sqlanon.plans.templates import ident
from sqlanon.verification.checks import Check, PublishedTables


def _coarse_columns(published: PublishedTables) -> Mapping[str, Sequence[str]]:
    """Return the columns of each table that hold single values of a coarser column."""
    rules = published.manifest["parameters"].get("coarsen", {})
    columns = {table: published.columns(table) for table in published.tables} if rules else {}
    return {
        table: names
        for table, types in columns.items()
        if (
            names := [
                name
                for name, kind in types.items()
                # a label stands for what only the publisher knows
                if rules.get(name, MAPPING) != MAPPING and not kind.endswith("]")
            ]
        )
    }


def queries(published: PublishedTables) -> list[tuple[str, str]]:
    """Return the name and text of a query for each table: how many rows have a finer value, column by column.

    Raises UsageError where a column's type is none for its rule.
    """
    texts = []
    for table, names in _coarse_columns(published).items():
        types, compared = published.columns(table), []
        for place, name in enumerate(names, 1):
            rule = Coarsening(published.manifest["parameters"]["coarsen"][name])
            rule.type_of(name, types[name])
            compared.append((ident(name), rule.write(ident(name), types[name]), f"finer_{place}"))
        relations = {"published": published.tables[table]}
        sql = published.query("verification/coarseness/finer", relations, compared=compared)
        texts.append((f"coarseness of {table}", sql))
    return texts


def find_finer(published: PublishedTables) -> Check | None:
    """Return the failed check of a manifest whose columns are finer than it says, or none."""
    try:
        rows = [published.answer(sql) for _, sql in queries(published)]
    except UsageError as error:
        return Check("manifest", "rules that are for their columns", str(error), False)
    counts = [count for row in rows for count in row.values()]
    columns = [name for names in _coarse_columns(published).values() for name in names]
    finer = {name: int(count) for name, count in zip(columns, counts, strict=True) if count}
    return Check("manifest", "no value finer than it says", {"rows with finer values": finer}, False) if finer else None
