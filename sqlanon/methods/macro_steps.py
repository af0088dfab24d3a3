"""The first steps of every macro: a table and columns named by text, refusals, the key, the groups.

The templates of the algorithm are those of `grouping.py`; the folder `macro_steps` has what only macros need. A macro
does not know a table's columns beforehand, so it treats whole rows as one column, `quasi_1`.
"""

from sqlanon.methods import feasibility, grouping
from sqlanon.plans.plan import Step
from sqlanon.plans.roles import NO_COLUMN, NO_QUASI, TWO_ROLES
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import write_message
from sqlanon.wording import spoken

# parameters as they are written; none is a column of a template
TABLE, SENSITIVE, QUASI = "table_name", "sensitive_name", "quasi_names"
IDENTIFIER, NULLS, DRAWS = "id := []", "nulls := 'refuse'", "draws := 'keyed'"
BLOCK = f"groups_per_block := {grouping.GROUPS_PER_BLOCK}"

NO_KEY = (
    "the key is missing: make one with openssl rand -hex 32 (64 hex digits), hand it over with"
    " set variable sqlanon_key = '…', and keep it as secret as the table: whoever has it can undo the release"
)
NO_SUCH_CHOICE = "{parameter} := {value} is none of {choices}"

NO_BLOCK = "groups_per_block := {blocks} holds no group; give a whole number of at least 1"

Refusal = tuple[Sql, Sql]

SOURCE = (
    Step("methods/macro_steps/names"),
    Step("methods/macro_steps/named", "view"),
    Step("shared/source", "view"),
    Step("methods/grouping/everyone", "view", yields="population"),
    Step("methods/grouping/tally"),
)
BIND_DRAWS = Step("methods/grouping/secret", yields="key", suffix="_of_rows")
GROUPING = (
    *SOURCE,
    Step("shared/feasibility"),
    Step("shared/persons"),
    Step("methods/macro_steps/figures"),
    Step("methods/macro_steps/refusal"),
    Step("methods/macro_steps/key"),
    BIND_DRAWS,
    Step("methods/macro_steps/identified", "view"),
    Step("methods/grouping/frequency"),
    Step("methods/grouping/coded", "view", reads={"rows": "identified"}),
    Step("methods/grouping/drawn", reads={"rows": "coded"}),
    Step("methods/grouping/sharded"),
    Step("methods/grouping/run"),
    Step("methods/grouping/positioned_by_run", "view", "positioned"),
    Step("methods/grouping/block"),
    Step("methods/grouping/numbered", "view"),
    Step("methods/grouping/grouped"),
)


def source_values(chosen: str, selected: dict[str, str]) -> dict[str, object]:
    """Return the parameters of SOURCE.

    chosen: the parameter whose columns become one text. selected: our names of the columns of `named`.
    """
    return {
        "table_name": Sql(TABLE),
        "sensitive_name": Sql(SENSITIVE),
        "chosen_names": Sql(f"cast({chosen} as varchar[])"),
        "further_texts": [],
        "nulls_name": Sql("nulls"),
        "relation": Sql('"sqlanon_named"'),
        "selected": [(Sql(column), name) for name, column in selected.items()] + [(Sql("sensitive"), "sensitive")],
        "sensitive_column": "sensitive",
        "nulls_are_values": Sql("(nulls = 'value')"),
    }


def grouping_values(method: str, parameter: str, draws: bool, refusals: list[Refusal]) -> dict[str, object]:
    """Return the parameters of GROUPING.

    parameter: the macro's parameter that is the size of a group. draws: whether the macro has `draws := 'random'`,
    else it takes a key alone. refusals: the method's own, after those of columns and before those of data.
    """
    purpose = purpose_of(method)
    size = f"cast({parameter} as bigint)"
    selected = {"quasi_1": "whole", "identifier_1": "chosen_text", "identifier_2": "row_text"}
    return source_values("id", selected) | {
        "payload_texts": [],
        "row_texts": [Sql("case when len(cast(id as varchar[])) > 0 then identifier_1 else identifier_2 end")],
        "row_values": [Sql("sensitive")],
        "identifier_columns": ["identifier_1"],
        "coded_columns": ["quasi_1", "identity"],
        "drawn_columns": ["quasi_1", "code"],
        "payload": ["quasi_1"],
        "digit_draws": ["draw", "tie"],
        "part_draws": [],
        "identity": Sql("valued.identity"),
        "ties": ["tie"],
        "lists_numbers": True,
        "own_draws": False,
        "draws_name": Sql("draws" if draws else "'keyed'"),
        "row_purpose": Sql(f"({purpose}'/row/')"),
        "value_purpose": Sql(f"({purpose}'/value/')"),
        "block_purpose": Sql(f"({purpose}'/block/')"),
        "group_size": Sql(size),
        "groups_per_block": Sql("cast(groups_per_block as bigint)"),
        "refusals": [
            *column_refusals("id", "--id"),
            *refusals,
            no_block(),
            *(_choices("draws", "keyed", "random") if draws else ()),
            *data_refusals(parameter, size),
            *key_refusal(draws),
        ],
    }


def column_refusals(names: str, role: str) -> list[Refusal]:
    """Refuse columns that the table does not have, NULL where a choice belongs, and a column in two roles."""
    lowered = f"list_transform(cast({names} as varchar[]), lambda name: lower(name))"
    # a macro knows the table's columns only when it runs: names are compared inside the query
    all_names = f"list_append(cast({names} as varchar[]), {SENSITIVE})"
    missing = (
        f"list_filter({all_names}, lambda name: name is null or"
        " not list_contains(list_transform(names, lambda other: lower(other)), lower(name)))"
    )
    listed = {"missing": _listed(missing), "columns": _listed("names")}
    both = {"column": _quoted(_spelled(SENSITIVE)), "one": f"'{role}'", "other": "'--sensitive'"}
    none = [(Sql(f"len({lowered}) = 0"), write_message(NO_QUASI, {}))] if names == QUASI else []
    return [
        *none,
        (Sql(f"len({missing}) > 0"), write_message(NO_COLUMN, listed)),
        (Sql(f"list_contains({lowered}, lower({SENSITIVE}))"), write_message(TWO_ROLES, both)),
        *_choices("nulls", "refuse", "value", "drop"),
    ]


def data_refusals(parameter: str, size: str) -> list[Refusal]:
    """Refuse what the command line refuses of the same data, in its words."""
    fields = column_fields() | {
        "parameter": f"'{parameter}'",
        "size": size,
        "value": "''",
        "share": "format('{:.1f}%', 100.0 * largest_count / row_count)",
        "allowed": f"row_count // {size}",
        "feasible": "row_count // largest_count",
    }
    largest = f"largest_count > row_count // {size}"
    return [
        *null_refusals(fields),
        (Sql(f"row_count < {size}"), write_message(feasibility.TOO_FEW_ROWS, fields)),
        (
            Sql(f"{largest} and row_count // largest_count >= 2"),
            write_message(feasibility.NOT_POSSIBLE + feasibility.POSSIBLE_UP_TO, fields),
        ),
        (Sql(largest), write_message(feasibility.NOT_POSSIBLE + feasibility.NEVER_POSSIBLE, fields)),
        several_rows(fields),
    ]


def several_rows(fields: dict[str, str]) -> Refusal:
    """Refuse several rows of one person, where an identifier is named."""
    return Sql("len(id) > 0 and repeating_persons > 0"), write_message(_in_sql(feasibility.SEVERAL_ROWS), fields)


def purpose_of(method: str) -> str:
    """Return what the draws of a method are for, as SQL whose text is still to be ended."""
    return f"'{method}/' || {_spelled(SENSITIVE)} || "


def column_fields() -> dict[str, str]:
    """Return what messages read of the data: the sensitive column and the figures."""
    figures = ("null_count", "row_count", "largest_count", "repeating_persons", "person_count")
    return {"column": _quoted(_spelled(SENSITIVE))} | {name: name for name in figures}


def null_refusals(fields: dict[str, str]) -> list[Refusal]:
    """Refuse NULL sensitive values unless `nulls` says what to do with them, and a table without rows."""
    return [
        (Sql("nulls = 'refuse' and null_count > 0"), write_message(_in_sql(feasibility.NO_VALUE), fields)),
        (Sql("row_count = 0"), write_message(feasibility.NO_ROWS, fields)),
    ]


def key_refusal(draws: bool) -> list[Refusal]:
    """Refuse a key that is missing or is none; draws: whether there is a way without."""
    condition = "coalesce(regexp_full_match(cast(getvariable('sqlanon_key') as varchar), '[0-9a-fA-F]{64}'), false)"
    keyed, advice = ("draws = 'keyed' and ", "; or say draws := 'random'") if draws else ("", "")
    return [(Sql(f"{keyed}not {condition}"), write_message(NO_KEY + advice, {}))]


def no_block() -> Refusal:
    """Refuse blocks without a group."""
    fields = {"blocks": "coalesce(cast(groups_per_block as varchar), 'NULL')"}
    return Sql("coalesce(groups_per_block < 1, true)"), write_message(NO_BLOCK, fields)


def _choices(parameter: str, *values: str) -> list[Refusal]:
    listed = "(" + ", ".join(f"'{value}'" for value in values) + ")"
    fields = column_fields() | {
        "parameter": f"'{parameter}'",
        "value": f"coalesce(cast({parameter} as varchar), 'NULL')",
        "choices": "'" + ", ".join(values) + "'",
    }
    return [(Sql(f"{parameter} is null or {parameter} not in {listed}"), write_message(NO_SUCH_CHOICE, fields))]


def _in_sql(words: str) -> str:
    """Name a macro's parameters where the command line names its options."""
    return spoken(words.replace(feasibility.LEAVE_OUT_ID, ", or leave out id"), "macro")


def _spelled(parameter: str) -> str:
    """Return the column as the table spells it: an expression over the names."""
    return f"(select list_filter(names, lambda name: lower(name) = lower({parameter}))[1] from sqlanon_names)"


def _quoted(text: str) -> str:
    return f"'''' || {text} || ''''"


def _listed(names: str) -> str:
    return f"array_to_string(list_transform({names}, lambda name: '''' || coalesce(name, 'NULL') || ''''), ', ')"
