"""Which draws a row gets: from a hash of its own, or from one that it shares with its neighbours.

Draws order rows that have the same sensitive value. Under a given key a row's draw is a part of the hash of its
identity, on every engine. Under a fresh key it is a part of whichever hash the engine computes fastest; no two rows get
the same part of one hash.
"""

from sqlanon.methods.internal_names import identity_names, tie_names
from sqlanon.plans.plan import Request
from sqlanon.plans.templates import Sql, literal

DRAWN_BY_NUMBER = "methods/grouping/drawn_by_number"
DIGITS = 64  # of a hash, in parts of 16 for a row; of 8 where a sort by 32 bits alone reads the draw
BYTE_HASHES = 8  # of 64 bytes, which lie in one value: a row takes eight of its 512


def are_of_one_engine(request: Request) -> bool:
    """Tell whether draws are of a fresh key, and neighbours may share a hash: no other engine draws the same."""
    return request.traits.shares_hashes and identity_names(request) == ("row_number",)


def which_draws(
    request: Request, names: tuple[str, ...], counts: str, are_sorted: bool = False
) -> tuple[str, str, dict[str, object], str]:
    """Return the template that draws, the relation that it draws for, its values, and what tells the rows' numbers.

    names: those of a row's draws. counts: a relation that counts the rows that take part, where there is one.
    are_sorted: whether nothing but a sort by their first 32 bits reads the draws.
    """
    # the engine's own generator needs no identity
    if request.draws == "random":
        return "methods/grouping/drawn_at_random", "population", {"draws": names}, ""
    if identity_names(request) != ("row_number",):
        identity, digits = Sql("valued.identity"), (*names, *tie_names(request))
        return (
            "methods/grouping/drawn",
            "identified",
            {"identity": identity, "digit_draws": digits, "part_draws": ()},
            "",
        )
    # rows left out would leave gaps between the numbers
    if request.traits.wide_hashes and counts and request.nulls != "drop":
        taken = [(name, [(name, Sql(f"part{end}"))]) for name, end in _ends(names)]
        bytes_taken: dict[str, object] = {"part_draws": taken, "hash_numbers": range(BYTE_HASHES), "rows_per_hash": 64}
        return DRAWN_BY_NUMBER, "population", bytes_taken, counts
    if request.traits.shares_hashes:
        width = 8 if are_sorted else 16
        rows = range(DIGITS // width)
        shared = [(name, [(f"{name}_{row}", _part(row, end, width)) for row in rows]) for name, end in _ends(names)]
        digits_taken: dict[str, object] = {"part_draws": shared, "hash_numbers": (), "rows_per_hash": len(rows)}
        return DRAWN_BY_NUMBER, "population", digits_taken, "population"
    identity, parts = Sql("cast(valued.row_number as varchar)"), [(name, _part(n)) for n, name in enumerate(names)]
    return "methods/grouping/drawn", "population", {"identity": identity, "digit_draws": (), "part_draws": parts}, ""


def _part(number: int, end: str = "", width: int = 16) -> Sql:
    """Return the text of one part of a hash, as many digits wide."""
    return Sql(f"substr(hash, {width * number + 1}, {width}){end}")


def _ends(draws: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what stands behind a row's part of a hash for each draw: nothing for the first, then the draw's name."""
    return [(name, f" || {literal(name)}" if number else "") for number, name in enumerate(draws)]
