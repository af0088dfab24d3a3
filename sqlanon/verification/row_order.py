"""Physical order leaks: prove that every published table is sorted by its published columns alone.

Engines write rows in the order in which they were grouped by sensitive value: where QIT and ST keep it, their rows
can be matched by position.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.verification.checks import Check, PublishedTables

FILE_COLUMN = "sqlanon_file"  # where an engine whose tables lie in parts tells a row's file


def order_queries(
    published: PublishedTables, sort_columns: Mapping[str, Sequence[str]], all_differ: frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that count misplaced rows of the published tables.

    sort_columns: the columns that each table is sorted by. all_differ: the tables whose lines must all differ.
    """
    queries = []
    for table, columns in sort_columns.items():
        template = "verification/row_order/strict_order" if table in all_differ else "verification/row_order/row_order"
        stored = {"published": published.engine.in_stored_order(published.tables[table])}
        queries.append((f"order of {table}", published.query(template, stored, line_columns=columns)))
        if published.engine.in_parts:  # each file is looked at by itself; here the last line of one meets the next's
            seams = {"line_columns": columns, "file_column": FILE_COLUMN, "all_differ": table in all_differ}
            queries.append(
                (f"order of {table} files", published.query("verification/row_order/seams", stored, **seams))
            )
    return queries


def order_check(rows: Mapping[str, Mapping[str, Any]], tables: Sequence[str], required: str) -> Check:
    """Judge the order of the tables by the rows of `order_queries`: inside files, and at the seams between them."""
    misplaced = {
        f"misplaced rows of {table}": int(
            sum(row["misplaced_rows"] for name, row in rows.items() if name.startswith(f"order of {table}"))
        )
        for table in tables
    }
    sound = not any(misplaced.values())
    return Check("row_order", required, "sorted" if sound else misplaced, sound)
