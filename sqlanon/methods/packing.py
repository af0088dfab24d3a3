"""Quasi values of whole numbers as one number, where they fit: rows are moved and sorted at a fraction of the cost.

    packed = Σ (v_i - least_i) 2^(b_i+1 + … + b_n + g),    b_i = bits of (most_i - least_i + 1),    NULL = 2^b_i - 1,

so that numbers are ordered as rows of quasi values are, NULLs last. The last g bits are for a group's number: QIT is
sorted by packed + group. The ranges are asked of the source first and stand in the relation `layout`; a script, which
cannot ask, has columns. The chapter is `sql_templates/packing.sql.j2`.
"""

from collections.abc import Mapping

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


def quasi_names(request: Request) -> tuple[str, ...]:
    """Return the names of the quasi columns in our relations."""
    return tuple(f"quasi_{number}" for number, _ in enumerate(request.roles.quasi, start=1))


def identifier_names(request: Request) -> tuple[str, ...]:
    """Return the names of the identifier columns in our relations."""
    return tuple(f"identifier_{number}" for number, _ in enumerate(request.roles.identifier, start=1))


def sensitive_names(request: Request) -> tuple[str, ...]:
    """Return the names of the sensitive columns in our relations: the first is the one that is grouped next."""
    return ("sensitive", *(f"sensitive_{number}" for number in range(2, len(request.roles.sensitive) + 1)))


def identity_names(request: Request) -> tuple[str, ...]:
    """Return the column that tells rows apart when they are drawn for."""
    if request.draws == "random":
        return ()
    # under a given key rows are told apart by what they are, so that the storage order decides nothing
    return ("row_number",) if request.identity == "number" else ("identity",)


def tie_names(request: Request) -> tuple[str, ...]:
    """Return the second draw of a row, by which rows whose first ones are equal are told apart alike everywhere."""
    return ("tie",) if request.draws == "keyed" and request.identity != "number" else ()
