"""Quasi values of whole numbers as one number, where they fit: rows are moved and sorted at a fraction of the cost.

    packed = Σ (v_i - least_i) 2^(b_i+1 + … + b_n + g),    b_i = bits of (most_i - least_i + 1),    NULL = 2^b_i - 1,

so that numbers are ordered as rows of quasi values are, NULLs last. The last g bits are for a group's number: QIT is
sorted by packed + group. The ranges are asked of the source first and stand in the relation `layout`; a script, which
cannot ask, has columns. The chapter is `sql_templates/packing.sql.j2`.
"""

from collections.abc import Mapping

from sqlanon.methods.internal_names import quasi_names
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Request, Row, Statement
from sqlanon.plans.templates import Sql

PACKED = "packed"
LAYOUT = "layout"
MOST_BITS = 62  # of the 64 of a whole number: no sum of two of them overflows
# whose values a whole number of 64 bits holds
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")

Layout = Mapping[str, int]  # least_n, missing_n, span_n, unit_n and shift_n of each quasi column; groups


def range_query(request: Request) -> tuple[Statement, Row] | None:
    """Return the query of the quasi columns' ranges, and ranges that fit; None where the values stay columns anyhow.

    They do in a script, where a column holds no whole numbers, of people with several rows, and under a ledger, whose
    rows are told apart by their quasi values again and again.
    """
    quasi = request.roles.quasi
    whole = all(request.types.get(name) in WHOLE for name in quasi)
    if not whole or request.sets or request.following is not None:
        return None
    columns = [request.source.expression(name) for name in quasi]
    relation = request.source.relation
    sql = render_query("ranges", {"relation": relation, "columns": columns}, {})
    ends = {f"{end}_{place}": 0 for place, _ in enumerate(quasi, start=1) for end in ("least", "most", "known")}
    return Statement("ranges", sql, "query", Sql("")), {"row_count": 0, "different_rows": 0, **ends}


def layout_of(request: Request) -> Layout | None:
    """Return how the quasi values lie in one number; None where nothing is known of them, or they do not fit."""
    row, places = request.ranges, range(1, len(request.roles.quasi) + 1)
    if not row:
        return None
    ranges = [(int(row[f"least_{place}"] or 0), int(row[f"most_{place}"] or 0)) for place in places]
    bits = [(most - least + 1).bit_length() for least, most in ranges]
    # there are fewer groups than rows
    group_bits = int(row["row_count"]).bit_length()
    # where the ends of a range are as large, their difference may be none of the numbers
    if sum(bits) + group_bits > MOST_BITS or any(max(abs(least), abs(most)) >= 2**MOST_BITS for least, most in ranges):
        return None
    layout = {"groups": 2**group_bits}
    for place, (least, _), width in zip(places, ranges, bits, strict=True):
        behind = sum(bits[place:]) + group_bits
        numbers = {"least": least, "missing": 2**width - 1, "span": 2**width, "unit": 2**behind, "shift": behind}
        layout |= {f"{name}_{place}": number for name, number in numbers.items()}
    return layout


def payload_quasi(request: Request, layout: Layout | None) -> tuple[str, ...]:
    """Return the columns that hold the quasi values of the rows that are drawn for."""
    return quasi_names(request) if layout is None else (PACKED,)
