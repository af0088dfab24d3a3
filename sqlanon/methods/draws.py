"""Which draws a row gets: of what hash, or part of one, of how many rows.

A draw orders rows whose sensitive value is the same. Under a given key it is a part of the hash of what the row is, on
every engine; of a fresh key whatever an engine makes cheapest of a hash that no two rows share a part of.
"""

from sqlanon.methods.internal_names import identity_names, tie_names
from sqlanon.plans.plan import Request
from sqlanon.plans.templates import Sql, literal

HASH_PARTS = 4  # a hash of 64 hex digits holds four draws of 15
HASH_ROWS = 8  # a hash of 64 bytes serves so many rows
ROWS_PER_VALUE = 64  # so many rows' bytes lie in one value: it is joined with them, and hashed and copied as a whole


def are_of_one_engine(request: Request) -> bool:
    """Tell whether draws are of a fresh key and need not be another engine's."""
    return request.traits.own_draws and identity_names(request) == ("row_number",)


def which_draws(request: Request, names: tuple[str, ...], counted: bool) -> tuple[str, str, dict[str, object]]:
    """Return the template that draws, the relation that it draws for, and what it has to be told.

    names: those of a row's draws. counted: whether a relation counts the rows that take part.
    """
    # the engine's own generator needs no identity
    if request.draws == "random":
        return "methods/grouping/drawn_at_random", "population", {"draws": names}
    if identity_names(request) != ("row_number",):
        return "methods/grouping/drawn", "identified", {"draws": (*names, *tie_names(request))}
    if request.traits.wide_hashes and counted and request.nulls != "drop":  # rows left out would leave gaps
        numbers = range(ROWS_PER_VALUE // HASH_ROWS)
        return (
            "methods/grouping/drawn_by_bytes",
            "population",
            {"byte_draws": _byte_draws(names), "hash_numbers": numbers},
        )
    if not request.traits.shares_hashes:
        return "methods/grouping/drawn_by_hash", "population", {"hashed_draws": _hashed_draws(names)}
    if are_of_one_engine(request):
        return "methods/grouping/drawn_by_part", "population", {"part_draws": _part_draws(names)}
    return "methods/grouping/drawn_by_number", "population", _shared_draws(names)


def _byte_draws(draws: tuple[str, ...]) -> list[tuple[str, Sql]]:
    """Return what is digested for each draw of a row: its bytes, and behind them a further draw's name."""
    return [(name, Sql(f"part{end}")) for name, end in zip(draws, _ends(draws), strict=True)]


def _ends(draws: tuple[str, ...]) -> list[str]:
    """Return what stands behind a row's part of a hash for each draw: nothing for the first, then the draw's name."""
    return ["", *(f" || {literal(name)}" for name in draws[1:])]


def _hashed_draws(draws: tuple[str, ...]) -> list[tuple[str, Sql]]:
    """Return which part of a row's hash is whose draw: all of it where there is one, else a quarter for each."""
    if len(draws) == 1:
        return [(draws[0], Sql("hash"))]
    return [(name, Sql(f"substr(hash, {16 * place + 1}, 16)")) for place, name in enumerate(draws)]


def _part_draws(draws: tuple[str, ...]) -> list[tuple[str, list[tuple[str, Sql]]]]:
    """Return what is digested for each draw of the rows that share a hash: a row's part, and behind it the further
    draw's name."""
    parts = [f"substr(hash, {16 * row + 1}, 16)" for row in range(HASH_PARTS)]
    return [
        (name, [(f"{name}_{row}", Sql(part + end)) for row, part in enumerate(parts)])
        for name, end in zip(draws, _ends(draws), strict=True)
    ]


def _shared_draws(draws: tuple[str, ...]) -> dict[str, object]:
    """Return which part of a hash is whose draw: one hash of several rows costs a fraction of one for each."""
    rows = HASH_PARTS // len(draws)
    parts = [(name, [row * len(draws) + part for row in range(rows)]) for part, name in enumerate(draws, start=1)]
    return {"rows_per_hash": rows, "shared_draws": parts}
