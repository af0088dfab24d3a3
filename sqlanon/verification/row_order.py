"""Physical row order can leak values: prove that every published table is sorted by its published columns alone.

Engines write rows in the order in which they were grouped by sensitive value: if QIT and ST keep it, their rows can be
matched by position.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Check, PublishedTables

# where an engine whose tables lie in parts tells a row's file, and its place in it
PLACE_COLUMNS = {"file_column": "sqlanon_file", "place_column": "sqlanon_position"}


def order_queries(
    published: PublishedTables, sort_columns: Mapping[str, Sequence[str]], all_differ: frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that count misplaced rows of the published tables.

    sort_columns: the columns that each table is sorted by. all_differ: the tables whose lines must all differ.
    """
    queries = []
    for table, columns in sort_columns.items():
        strict, engine = table in all_differ, published.engine
        relations: dict[str, Sql] = {}
        stretches: Sequence[Sql] = ()
        if engine.in_parts:  # the last line of a file meets the first of the next
            relations["published"] = engine.in_stored_order(published.tables[table], whole_files=True)
        else:
            stretches = engine.in_stretches(published.tables[table])
        settings = {"line_columns": columns, "stretches": stretches, "all_differ": strict, **PLACE_COLUMNS}
        sql = published.query("verify/row_order", relations, **settings)
        queries.append((f"order of {table}", sql))
    return queries


def order_check(rows: Mapping[str, Mapping[str, Any]], tables: Sequence[str], required: str) -> Check:
    """Judge the order of the tables by the rows of `order_queries`: inside files, and at the seams between them."""
    misplaced = {f"misplaced rows of {table}": int(rows[f"order of {table}"]["misplaced_rows"]) for table in tables}
    sound = not any(misplaced.values())
    return Check("row_order", required, "sorted" if sound else misplaced, sound)
