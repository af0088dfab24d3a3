"""Physical row order can leak values: prove that every published table is sorted by its published columns alone.

Engines write rows in the order in which they were grouped by sensitive value: if QIT and ST keep it, their rows can be
matched by position.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Check, PublishedTables

# where an engine whose tables lie in parts tells a row's file, and its place in it
PLACE_COLUMNS = {"file_column": "sqlanon_file", "place_column": "sqlanon_position"}


def check_order(
    published: PublishedTables,
    sort_columns: Mapping[str, Sequence[str]],
    required: str,
    all_differ: Collection[str] = (),
) -> tuple[Check, dict[str, int]]:
    """Check the order of the published tables, inside files and at the seams between them; return their rows, too.

    sort_columns: the columns that each table is sorted by. all_differ: the tables whose lines must all differ. The
    rows of each table are called `TABLE_rows`.
    """
    misplaced, rows = {}, {}
    for table, columns in sort_columns.items():
        engine, relations = published.engine, dict[str, Sql]()
        stretches: Sequence[Sql] = ()
        if engine.in_parts:  # the last line of a file meets the first of the next
            relations["published"] = engine.in_stored_order(published.tables[table])
        else:
            stretches = engine.in_stretches(published.tables[table])
        settings = {"line_columns": columns, "stretches": stretches, "all_differ": table in all_differ, **PLACE_COLUMNS}
        row = published.answer(f"order of {table}", published.query("verify/row_order", relations, **settings))
        misplaced[f"misplaced rows of {table}"] = int(row["misplaced_rows"])
        rows[f"{table}_rows"] = int(row["row_count"])
    sound = not any(misplaced.values())
    return Check("row_order", required, "sorted" if sound else misplaced, sound), rows
