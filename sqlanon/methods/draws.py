"""Which draws a row gets: from a hash of its own, or from one that it shares with its neighbours.

Draws order rows that have the same sensitive value. Under a given key a row's draw is a part of the hash of its
identity, on every engine. Under a fresh key it is a part of whichever hash the engine computes fastest; no two rows get
the same part of one hash.
"""

from collections.abc import Sequence

from sqlanon.methods.internal_names import identity_names, tie_names
from sqlanon.plans.plan import Request
from sqlanon.plans.templates import Sql, ident, literal

DRAWN_BY_NUMBER = "methods/grouping/drawn_by_number"
PARTS = 4  # of a hash's 64 digits, 16 for a digest of 64 bits
BYTE_HASHES = 8  # of 64 bytes, which lie in one value: a row takes eight of its 512


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
        bytes_taken = {"part_draws": taken, "row_draws": (), "hash_numbers": range(BYTE_HASHES), "rows_per_hash": 64}
        return DRAWN_BY_NUMBER, "population", bytes_taken, counts
    if request.traits.shares_hashes:
        digests = {name: [(f"{name}_{part}", _part(part, end)) for part in range(PARTS)] for name, end in _ends(names)}
        taken_by_row = [(name, _draws_of(columns, are_sorted)) for name, columns in digests.items()]
        rows_per_hash = 2 * PARTS if are_sorted else PARTS
        digits_taken = {"row_draws": taken_by_row, "hash_numbers": (), "rows_per_hash": rows_per_hash}
        return DRAWN_BY_NUMBER, "population", {"part_draws": list(digests.items()), **digits_taken}, "population"
    identity, parts = Sql("cast(valued.row_number as varchar)"), [(name, _part(n)) for n, name in enumerate(names)]
    return "methods/grouping/drawn", "population", {"identity": identity, "digit_draws": (), "part_draws": parts}, ""


def _part(number: int, end: str = "") -> Sql:
    """Return the text of one part of a hash."""
    return Sql(f"substr(hash, {16 * number + 1}, 16){end}")


def _draws_of(digests: Sequence[tuple[str, Sql]], are_sorted: bool) -> list[Sql]:
    """Return the draws of 60 bits of the rows that share a hash, from the columns of its digests of 64.

    are_sorted: two rows share a digest, and either has half of it in its draw's first 32 bits.
    """
    halves = ("{} >> 4", "({} & 4294967295) << 28") if are_sorted else ("{} >> 4",)
    return [Sql(half.format(f"parted.{ident(column)}")) for column, _ in digests for half in halves]


def _ends(draws: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what stands behind a row's part of a hash for each draw: nothing for the first, then the draw's name."""
    return [(name, f" || {literal(name)}" if number else "") for number, name in enumerate(draws)]
