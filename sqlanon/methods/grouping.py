"""Grouping by windows: N rows into floor(N/l) groups of different sensitive values, mixed in blocks.

Anatomy, SPLU-Gen and r-robust publishing begin with these steps; the templates are `sql_templates/methods/grouping/`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.errors import DataError
from sqlanon.plans.plan import Guard, Request, Row, Step

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
    "population",
    "dropped",
    "tally",
    "feasibility",
    "persons",
    "drawn",
    "frequency",
    "shard",
    "positioned",
    "block",
    "numbered",
    "grouped",
)
HASH_PARTS = 4  # a hash of 64 hex digits holds four draws of 15


@dataclass(frozen=True)
class Attribute:
    """One sensitive attribute to group by: groups of at least `size` rows, all with different values.

    column: its published name; internal: its name in our relations (`sensitive`, `sensitive_2` …).
    parameter: what `size` is called in messages (l, gamma). purpose: what its draws are for, unlike any other's.
    carried: the columns that pass through the grouping. draws: one draw a row for each name.
    """

    column: str
    size: int
    parameter: str
    purpose: str
    groups_per_block: int
    carried: tuple[str, ...]
    internal: str = "sensitive"
    draws: tuple[str, ...] = ("draw",)
    suffix: str = ""


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
    return ("row_number",) if request.identity == "number" else ("identity",)


def ties(request: Request) -> tuple[str, ...]:
    """Return the columns that order rows whose draws are equal."""
    return ("hash",) if request.draws == "keyed" and request.identity != "number" else ()


def opening(request: Request) -> tuple[Step, ...]:
    """Return the steps that end in `population`: the rows to publish, under names of our own."""
    roles, source = request.roles, request.source
    named = (
        *zip(roles.quasi, quasi_names(request), strict=True),
        *zip(roles.identifier, identifier_names(request), strict=True),
        *zip(roles.sensitive, sensitive_names(request), strict=True),
    )
    selected = [(source.expression(column), name) for column, name in named]
    if identity_names(request) == ("row_number",):
        selected.append((source.numbering, "row_number"))
    first = Step("shared/source", "view", values={"relation": source.relation, "selected": selected})
    if request.nulls != "drop":
        return (first, Step("methods/grouping/everyone", "view", yields="population"))
    known = {"sensitive_columns": sensitive_names(request)}
    return (
        first,
        Step("methods/grouping/known", "view", yields="population", values=known),
        Step("methods/grouping/dropped", "query", refuse=lambda row: None),
    )


def checked(request: Request, attribute: Attribute) -> tuple[Step, ...]:
    """Return the steps that count the attribute's values and refuse what cannot be grouped."""
    feasible = _feasible(request, attribute)
    limits = _limits(request, attribute)
    counted = {"sensitive_column": attribute.internal}
    known = {"nulls_are_values": request.nulls == "value"}
    return (
        Step("methods/grouping/tally", values=counted, suffix=attribute.suffix),
        Step("shared/feasibility", "query", "", feasible, limits, known, attribute.suffix),
    )


def persons(request: Request) -> tuple[Step, ...]:
    """Return the step that refuses several rows of one person, where there are identifiers."""
    if not request.roles.identifier or request.many_rows_per_person:
        return ()
    several = Guard("repeating_persons > 0", "persons have more than one row, and the guarantee is per row")
    columns = {"identifier_columns": identifier_names(request)}
    return (Step("methods/grouping/persons", "query", "", _one_row_per_person, (several,), columns),)


def identified(request: Request) -> tuple[Step, ...]:
    """Return the step that gives rows their identity text, where draws need one."""
    if identity_names(request) != ("identity",):
        return ()
    values: dict[str, object] = {"identified_columns": (*quasi_names(request), *sensitive_names(request))}
    if request.identity == "identifier":
        values["identifier_columns"] = identifier_names(request)
    else:
        values["row_columns"] = (*quasi_names(request), *identifier_names(request), *sensitive_names(request))
    return (Step(f"methods/grouping/identity_{request.identity}", "view", yields="identified", values=values),)


def drawn(request: Request, attribute: Attribute, value: str = "sensitive", population: str = "") -> tuple[Step, ...]:
    """Return the step that draws for every row, once: `drawn` holds the carried columns, the value, the draws.

    population: the relation of the rows, where it is neither `population` nor `identified`.
    """
    extra = [name for name in attribute.carried if name not in attribute.draws]
    values: dict[str, object] = {"drawn_columns": (*extra, value)}
    template = "methods/grouping/drawn"
    parts = tuple(enumerate(attribute.draws, start=1))
    if request.draws == "random":
        template = "methods/grouping/drawn_at_random"
    else:
        values["row_purpose"] = f"{attribute.purpose}/row/"
    if identity_names(request) == ("row_number",):
        template = "methods/grouping/drawn_by_number"
        rows = HASH_PARTS // len(attribute.draws)
        values["rows_per_hash"] = rows
        values["shared_draws"] = [
            (name, [row * len(attribute.draws) + part for row in range(rows)]) for part, name in parts
        ]
    else:
        values["draws"] = attribute.draws
    if template == "methods/grouping/drawn":
        values["ties"] = ties(request)
    reads = {"identified" if template == "methods/grouping/drawn" else "population": population} if population else {}
    return (Step(template, yields="drawn", values=values, suffix=attribute.suffix, reads=reads),)


def numbered(request: Request, attribute: Attribute, drawn_rows: str = "drawn", tally: str = "") -> tuple[Step, ...]:
    """Return the steps that end in `numbered`: every row's number in its block, the value a `code`.

    drawn_rows, tally: the relations of the rows and of their values' counts, where they are not `drawn` and `tally`.
    """
    ordered = {
        "nulls_are_values": request.nulls == "value",
        "value_purpose": f"{attribute.purpose}/value/",
        "group_size": attribute.size,
        "groups_per_block": attribute.groups_per_block,
    }
    counted = {"tally": tally or f"tally{attribute.suffix}"}
    return (
        Step("methods/grouping/frequency", suffix=attribute.suffix, reads=counted, values=ordered),
        *positioned(request, attribute, drawn_rows),
    )


def positioned(
    request: Request, attribute: Attribute, drawn_rows: str = "drawn", value: str = "sensitive"
) -> tuple[Step, ...]:
    """Return the steps from `frequency` to `numbered`; `value` is the column that `frequency` has a line for."""
    suffix, read = attribute.suffix, {"drawn": drawn_rows}
    placed: dict[str, object] = {"carried": attribute.carried}
    valued = {"value_column": value}
    return (
        Step("methods/grouping/shard", suffix=suffix, reads=read, values=valued),
        Step(
            "methods/grouping/positioned", suffix=suffix, reads=read, values={**placed, **valued, "ties": ties(request)}
        ),
        Step("methods/grouping/block", suffix=suffix, values={"block_purpose": f"{attribute.purpose}/block/"}),
        Step("methods/grouping/numbered", "view", suffix=suffix, values=placed),
    )


def steps(request: Request, attribute: Attribute) -> tuple[Step, ...]:
    """Return the steps of a method with one sensitive attribute, in the order of STEPS."""
    return (
        *opening(request),
        *checked(request, attribute),
        *persons(request),
        *identified(request),
        *drawn(request, attribute),
        *numbered(request, attribute),
        Step("methods/grouping/grouped", values={"carried": attribute.carried}),
    )


def _one_row_per_person(row: Row) -> None:
    if row["repeating_persons"]:
        raise DataError(SEVERAL_ROWS.format(**row))


def _feasible(request: Request, attribute: Attribute) -> Callable[[Row], None]:
    size, parameter = attribute.size, attribute.parameter

    def refuse(row: Row) -> None:
        count, largest = row["row_count"], row["largest_count"]
        column = attribute.column
        if request.nulls == "refuse" and row["null_count"]:
            raise DataError(NO_VALUE.format(null_count=row["null_count"], column=repr(column)))
        if count == 0:
            raise DataError(NO_ROWS)
        if size > count:
            raise DataError(TOO_FEW_ROWS.format(parameter=parameter, size=size, row_count=count))
        if largest > count // size:
            raise DataError(_infeasible(request, attribute, row))

    return refuse


def _limits(request: Request, attribute: Attribute) -> tuple[Guard, ...]:
    size, parameter = attribute.size, attribute.parameter
    """Say what `_feasible` says, without figures, for a script that runs without Python."""
    column = repr(attribute.column)
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


def _infeasible(request: Request, attribute: Attribute, row: Row) -> str:
    size, parameter = attribute.size, attribute.parameter
    count, largest = row["row_count"], row["largest_count"]
    feasible = count // largest
    return (NOT_POSSIBLE + (POSSIBLE_UP_TO if feasible >= 2 else NEVER_POSSIBLE)).format(
        parameter=parameter,
        size=size,
        column=repr(attribute.column),
        value=f" ({row['largest_value']!r})" if request.show_values else "",
        largest_count=largest,
        row_count=count,
        share=f"{largest / count:.1%}",
        allowed=count // size,
        feasible=feasible,
    )
