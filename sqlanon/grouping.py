"""Grouping by windows: N rows into floor(N/l) groups of different sensitive values, mixed in blocks.

Anatomy, SPLU-Gen and r-robust publishing begin with these steps; the templates are `sql_templates/grouping/`.
"""

from collections.abc import Callable

from sqlanon.errors import DataError
from sqlanon.plan import Guard, Request, Row, Step

GROUPS_PER_BLOCK = 64
ONE_BLOCK = 2**62  # more groups than any table has: a single block

# what is refused, in one place for the command line and for macros in a database
NO_VALUE = (
    "{null_count} rows have no value in the sensitive column {column}; say --nulls value"
    " (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none"
    " to somebody who knows who was in the table)"
)
NO_ROWS = "the source has no rows to publish"
TOO_FEW_ROWS = "{parameter} = {size} needs at least {size} rows; the source has {row_count}"
NOT_POSSIBLE = (
    "{parameter} = {size} is not possible: the most frequent value of {column}{value}"
    " stands in {largest_count} of {row_count} rows ({share}), and {parameter} = {size} allows {allowed}; "
)
POSSIBLE_UP_TO = "the largest {parameter} that works is {feasible}"
NEVER_POSSIBLE = "no {parameter} of at least 2 works on this column"
SEVERAL_ROWS = (
    "{repeating_persons} persons have more than one row ({row_count} rows of"
    " {person_count} persons): the guarantee is per row, and the groups of one person's"
    " rows intersect; publish one row per person, or say --rows-per-person many"
)

STEPS = (
    "source",
    "tally",
    "feasibility",
    "population",
    "persons",
    "drawn",
    "shard",
    "frequency",
    "positioned",
    "block",
    "grouped",
)


def steps(request: Request, parameter: str, size: int) -> tuple[Step, ...]:
    """Return the steps that end in `grouped` (quasi_1 …, code, group_id, slot).

    `size` is the number of different values per group (l, γ, ⌈r⌉); `parameter` is its name in messages.
    """
    feasible, limits = _feasible(request, parameter, size), _limits(request, parameter, size)
    chosen = {
        "source": (Step("grouping/source", "view"),),
        "tally": (Step("grouping/tally"),),
        "feasibility": (Step("grouping/feasibility", "query", refuse=feasible, guards=limits),),
        "persons": _persons(request),
        "population": _population(request),
        "drawn": _drawn(request),
    }
    return tuple(step for name in STEPS for step in chosen.get(name, (Step(f"grouping/{name}"),)))


def values(request: Request, purpose: str, size: int, groups_per_block: int) -> dict[str, object]:
    """Return the parameters of the grouping templates for one sensitive column."""
    roles, source = request.roles, request.source
    used: dict[str, object] = {
        "relation": source.relation,
        "sensitive_source": source.expression(roles.sensitive[0]),
        "quasi_source": [source.expression(column) for column in roles.quasi],
        "identifier_source": [source.expression(column) for column in roles.identifier],
        "numbering": [source.numbering] if request.identity == "number" and request.draws == "keyed" else [],
        "quasi": list(roles.quasi),
        "nulls_are_values": request.nulls == "value",
        "value_purpose": f"{purpose}/value/",
        "block_purpose": f"{purpose}/block/",
        "group_size": size,
        "groups_per_block": groups_per_block,
        "ties": ["hash"] if request.draws == "keyed" and request.identity != "number" else [],
    }
    if request.draws == "keyed":
        used["row_purpose"] = f"{purpose}/row/"
    if _reads_identifier(request):
        used["identifier"] = list(roles.identifier)
    return used


def _reads_identifier(request: Request) -> bool:
    checks_persons = bool(request.roles.identifier) and not request.many_rows_per_person
    return checks_persons or (request.draws == "keyed" and request.identity != "number")


def _persons(request: Request) -> tuple[Step, ...]:
    if not request.roles.identifier or request.many_rows_per_person:
        return ()
    several = Guard("repeating_persons > 0", "persons have more than one row, and the guarantee is per row")
    return (Step("grouping/persons", "query", refuse=_one_row_per_person, guards=(several,)),)


def _population(request: Request) -> tuple[Step, ...]:
    template = "grouping/known" if request.nulls == "drop" else "grouping/everyone"
    return (Step(template, "view", yields="population"),)


def _drawn(request: Request) -> tuple[Step, ...]:
    if request.draws == "random":
        return (Step("grouping/drawn_at_random", yields="drawn"),)
    if request.identity == "number":
        return (Step("grouping/drawn_by_number", yields="drawn"),)
    return (
        Step(f"grouping/identity_{request.identity}", "view", yields="identified"),
        Step("grouping/drawn"),
    )


def _one_row_per_person(row: Row) -> None:
    if row["repeating_persons"]:
        raise DataError(SEVERAL_ROWS.format(**row))


def _feasible(request: Request, parameter: str, size: int) -> Callable[[Row], None]:
    def refuse(row: Row) -> None:
        count, largest = row["row_count"], row["largest_count"]
        column = request.roles.sensitive[0]
        if request.nulls == "refuse" and row["null_count"]:
            raise DataError(NO_VALUE.format(null_count=row["null_count"], column=repr(column)))
        if count == 0:
            raise DataError(NO_ROWS)
        if size > count:
            raise DataError(TOO_FEW_ROWS.format(parameter=parameter, size=size, row_count=count))
        if largest > count // size:
            raise DataError(_infeasible(request, parameter, size, row))

    return refuse


def _limits(request: Request, parameter: str, size: int) -> tuple[Guard, ...]:
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    column = repr(request.roles.sensitive[0])
    missing = Guard("null_count > 0", f"rows have no value in the sensitive column {column}")
    return (
        *([missing] if request.nulls == "refuse" else []),
        Guard("row_count = 0", NO_ROWS),
        Guard(f"row_count < {size}", f"{parameter} = {size} needs at least {size} rows"),
        Guard(
            f"largest_count > row_count // {size}",
            f"{parameter} = {size} is not possible: a value of {column} stands in more than 1/{size} of the rows",
        ),
    )


def _infeasible(request: Request, parameter: str, size: int, row: Row) -> str:
    count, largest = row["row_count"], row["largest_count"]
    feasible = count // largest
    return (NOT_POSSIBLE + (POSSIBLE_UP_TO if feasible >= 2 else NEVER_POSSIBLE)).format(
        parameter=parameter,
        size=size,
        column=repr(request.roles.sensitive[0]),
        value=f" ({row['largest_value']!r})" if request.show_values else "",
        largest_count=largest,
        row_count=count,
        share=f"{largest / count:.1%}",
        allowed=count // size,
        feasible=feasible,
    )
