"""What macros of DuckDB have in common: a table and columns named by text, refusals, the key, the groups.

The algorithm is that of the chapters; `sql_templates/macros/` has what only macros need. A macro does not know a
table's columns beforehand, so it treats whole rows as one column, `whole`.
"""

from collections.abc import Sequence

from sqlanon.methods import grouping
from sqlanon.methods.uniqueness import FEW, MEASURED
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.roles import NO_COLUMN, NO_QUASI, TWO_ROLES
from sqlanon.plans.templates import Sql, relation_mark
from sqlanon.sql.table_macro import write_message

# parameters as they are written; none is a column of a template
TABLE, SENSITIVE, QUASI = "table_name", "sensitive_name", "quasi_names"
IDENTIFIER, NULLS, DRAWS = "id := []", "nulls := 'refuse'", "draws := 'keyed'"
UNIQUE = "unique_sensitive := 'refuse'"
BLOCK = f"groups_per_block := {grouping.GROUPS_PER_BLOCK}"
OPTIONS = (IDENTIFIER, NULLS, BLOCK, UNIQUE)

NO_KEY = (
    "the key is missing: make one with openssl rand -hex 32 (64 hex digits), hand it over with"
    " set variable sqlanon_key = '…', and keep it as secret as the table: whoever has it can undo the release"
)
NO_SUCH_CHOICE = "{parameter} := {value} is none of {choices}"
NO_BLOCK = "groups_per_block := {blocks} holds no group; give a whole number of at least 1"

Refusal = tuple[Sql, Sql]


def table(chosen: str, known: str = "[]", sensitive: str = SENSITIVE, nulls: str = "nulls", **beside: str) -> Chapter:
    """Return the chapter that reads the table.

    chosen: the parameter whose columns become one text. known: the one whose columns are a signature. sensitive,
    beside: those that name one column, which is as it is.
    """
    values = {
        "table_name": Sql(TABLE),
        "sensitive_name": Sql(sensitive),
        "chosen_names": _names(chosen),
        "known_names": _names(known),
        "nulls_name": Sql(nulls),
        "beside": tuple((column, Sql(name)) for column, name in beside.items()),
    }
    return Chapter("macros/table", values)


def source(chosen: str, refusals: Sequence[Refusal], known: str = "[]") -> tuple[Chapter, ...]:
    """Return the chapters that read the table and refuse what cannot be asked; chosen, known: as `table` has them."""
    names = ("whole", "chosen_text", "known_fields", "row_text", "sensitive")
    population = {
        "relation": relation_mark("named"),
        "selected": [(Sql(name), name) for name in names],
        "required": (),
        "identifiers": ("chosen_text",) if chosen == "id" else (),
        "told_apart": Sql("len(id) > 0"),
        "known_again": False,
    }
    missing = {
        "column": "",
        "shown_column": column(),
        "suffix": "",
        "refuse_nulls": Sql("(nulls = 'refuse')"),
    }
    return (
        table(chosen, known),
        Chapter("macros/asked", {"refusals": refusals}),
        Chapter("population", population),
        grouping.tally(),
        Chapter("known", missing),
    )


def feasible(parameter: str) -> Chapter:
    """Return the chapter that refuses a value that stands in too many rows."""
    values = {
        "size": _size(parameter),
        "parameter": parameter,
        "suffix": "",
        "shown": [column()],
        "shown_value": Sql("''"),
        "nulls_are_values": _NULLS_ARE_VALUES,
        "only": True,
        "counted": ("tally",),
        "together": False,
        "who": "rows",
        "no_help": grouping.no_help(parameter),
    }
    return Chapter("feasible", values)


def own_values(draws: bool) -> tuple[Chapter, ...]:
    """Return the chapters that refuse a sensitive column that names people, and a missing key."""
    is_measured = f"regexp_matches(typeof(any_value(sensitive)), '^({'|'.join(MEASURED)})')"
    measured = f"(select {is_measured} from {relation_mark('tally')})"
    allowed = Sql(f"(unique_sensitive = 'keep' or coalesce({measured}, false))")
    concerned = [{"rows": "population", "name": "sensitive", "column": "", "shown": column(), "allowed": allowed}]
    advice = "; or say draws := 'random'" if draws else ""
    key = {"draws_name": _draws(draws), "missing_key": write_message(NO_KEY + advice, {})}
    return Chapter("unique_sensitive", {"concerned": concerned, "few": FEW}), Chapter("macros/key_given", key)


def key(draws: bool) -> Chapter:
    """Return the chapter of the key; draws: whether the macro has `draws := 'random'`, else it takes a key alone."""
    return Chapter("macros/key", {"draws_name": _draws(draws)})


def bind() -> Chapter:
    """Return the chapter that makes the secret of the draws of the key and of the rows."""
    text = Sql("case when len(cast(id as varchar[])) > 0 then chosen_text else row_text end")
    return Chapter("secret", {"texts": [text], "told_by": ("sensitive",), "values": ()})


def count_values(method: str, parameter: str, signature: tuple[str, ...] = ()) -> Chapter:
    """Return the chapter that counts values, and the groups that they give."""
    values = {
        "signature": signature,
        "nulls_are_values": _NULLS_ARE_VALUES,
        "purpose": purpose_of(method),
        "size": _size(parameter),
    }
    return Chapter("counting", values)


def group(
    method: str, signature: tuple[str, ...] = (), *, slots: bool = False, further: Sequence[str] = ()
) -> tuple[Chapter, ...]:
    """Return the chapters that draw for every row, and give it its group; further: draws beside the first."""
    drawn = {"drawing": "identity", "purpose": purpose_of(method)}
    grouped = {
        "signature": signature,
        "groups_per_block": Sql("greatest(1, cast(groups_per_block as bigint))"),
        "carried": ("whole", *further),
        "slots": slots,
        "places": False,
        "equals": Sql("is not distinct from"),
    }
    return (
        Chapter("macros/identity", {"chosen_names": _names("id")}),
        Chapter("draws", {**drawn, "kept": ("whole", *signature, "sensitive"), "further": list(further)}),
        Chapter("grouping", {**drawn, **grouped}),
    )


def groups(
    method: str, parameter: str, refusals: Sequence[Refusal], *, draws: bool = False, slots: bool = False
) -> tuple[Chapter, ...]:
    """Return the chapters from a table to `grouped`, of groups from all rows.

    parameter: the macro's parameter that is the size of a group. draws: whether the macro has `draws := 'random'`.
    refusals: the method's own, after those of columns and before those of data.
    """
    choices = choices_of("draws", "keyed", "random") if draws else []
    return (
        *source("id", [*column_refusals("id", "--id"), *refusals, no_block(), *choices]),
        feasible(parameter),
        key(draws),
        *own_values(draws),
        bind(),
        count_values(method, parameter),
        *group(method, slots=slots, further=["slot_draw"] if slots else []),
    )


PUBLISHED_QIT = Chapter("macros/chosen", {"names": Sql(f"cast({QUASI} as varchar[])"), "counted": False})
PUBLISHED_ST = Chapter("macros/chosen", {"names": Sql(f"[{SENSITIVE}]"), "counted": True})


def column_refusals(names: str, role: str) -> list[Refusal]:
    """Refuse columns that the table does not have, NULL where a choice belongs, and a column in two roles."""
    lowered = f"list_transform(cast({names} as varchar[]), lambda name: lower(name))"
    both = {"column": column(), "one": f"'{role}'", "other": "'--sensitive'"}
    none = [(Sql(f"len({lowered}) = 0"), write_message(NO_QUASI, {}))] if names == QUASI else []
    unique = choices_of("unique_sensitive", "refuse", "keep") if names == "id" else []
    return [
        *none,
        no_column(f"list_append(cast({names} as varchar[]), {SENSITIVE})"),
        (Sql(f"list_contains({lowered}, lower({SENSITIVE}))"), write_message(TWO_ROLES, both)),
        *choices_of("nulls", "refuse", "value", "drop"),
        *unique,
    ]


def no_column(asked: str) -> Refusal:
    """Refuse columns that the table does not have; asked: a list of names, as SQL."""
    # a macro knows the table's columns only when it runs: names are compared inside the query
    missing = (
        f"list_filter({asked}, lambda name: name is null or"
        " not list_contains(list_transform(names, lambda other: lower(other)), lower(name)))"
    )
    listed = {"missing": _listed(missing), "columns": _listed("names")}
    return Sql(f"len({missing}) > 0"), write_message(NO_COLUMN, listed)


def purpose_of(method: str) -> Sql:
    """Return what the draws of a method are for, as SQL."""
    return Sql(f"'{method}/' || {_spelled(SENSITIVE)}")


def column() -> Sql:
    """Return the sensitive column as messages name it."""
    return Sql(f"'''' || {_spelled(SENSITIVE)} || ''''")


def no_block() -> Refusal:
    """Refuse blocks without a group."""
    fields = {"blocks": "coalesce(cast(groups_per_block as varchar), 'NULL')"}
    return Sql("coalesce(groups_per_block < 1, true)"), write_message(NO_BLOCK, fields)


def choices_of(parameter: str, *values: str) -> list[Refusal]:
    """Refuse what is none of a parameter's values."""
    listed = "(" + ", ".join(f"'{value}'" for value in values) + ")"
    fields = {
        "parameter": f"'{parameter}'",
        "value": f"coalesce(cast({parameter} as varchar), 'NULL')",
        "choices": "'" + ", ".join(values) + "'",
    }
    return [(Sql(f"{parameter} is null or {parameter} not in {listed}"), write_message(NO_SUCH_CHOICE, fields))]


_NULLS_ARE_VALUES = Sql("(nulls = 'value')")


def _draws(draws: bool) -> Sql:
    return Sql("draws" if draws else "'keyed'")


def _size(parameter: str) -> Sql:
    return Sql("cast(ceil(r) as bigint)" if parameter == "r" else f"cast({parameter} as bigint)")


def _names(parameter: str) -> Sql:
    return Sql(f"cast({parameter} as varchar[])")


def _spelled(parameter: str) -> str:
    """Return the column as the table spells it: an expression over the names."""
    found = f"list_filter(names, lambda name: lower(name) = lower({parameter}))[1]"
    return f"(select {found} from {relation_mark('names')})"


def _listed(names: str) -> str:
    return f"array_to_string(list_transform({names}, lambda name: '''' || coalesce(name, 'NULL') || ''''), ', ')"
