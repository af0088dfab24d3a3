"""A background: the distribution p(s : x) of the sensitive value x given the values s of some quasi columns.

An adversary may know such tables; a publisher protects against them (r-robustness) and `verify` looks what they
tell. Both read and check them here. A table has a column for each attribute, the sensitive column and
`probability`; or the data itself teaches it. The chapter is `sql_templates/robust/background.sql.j2`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlanon.errors import UsageError
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import free_name, resolve_names, tell_columns
from sqlanon.plans.templates import Sql

NUMBERS = ("DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "INT")
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "INT")

_NO_QUASI = "no quasi column {missing}, of which a background is made; the quasi columns are {columns}"
_SHOWN, _NOTHING = "' (''' || impossible.impossible_value || ''')'", "''"


@dataclass(frozen=True)
class Columns:
    """What a background's columns are matched with: published name → (name in `population`, type there)."""

    quasi: Mapping[str, tuple[str, str]]
    sensitive: tuple[str, str]


@dataclass(frozen=True)
class Background:
    """One background: its attribute set A, and its rows, which stand in a table or are learned from the data.

    attributes: the published names of A, in the order of the quasi columns; columns: their names in `population`.
    sensitive: the published name. where: what messages call it. relation, selected: the table behind it and its
    columns under our names (signature_1 …, sensitive, probability); None where the data teaches it.
    """

    attributes: tuple[str, ...]
    columns: tuple[str, ...]
    sensitive: str
    where: str
    relation: Sql | None = None
    selected: tuple[tuple[Sql, str], ...] = ()


def learned(attributes: Iterable[str], published: Columns) -> Background:
    """Return the background of relative frequencies per signature; case of the names does not count.

    Raises UsageError where no attribute is named, one is named twice or is no quasi column.
    """
    attribute_names = tuple(attributes)
    where = f"the background learned from {', '.join(map(repr, attribute_names))}"
    if not attribute_names:
        raise UsageError("a background has at least one quasi column")
    sensitive, _ = published.sensitive
    if sensitive.lower() in map(str.lower, attribute_names):
        columns = ", ".join(map(repr, published.quasi))
        raise UsageError(f"{sensitive!r} is the sensitive column; a background is made of quasi columns: {columns}")
    names = resolve_names(list(published.quasi), attribute_names, _NO_QUASI)
    if len(set(names)) < len(names):
        raise UsageError(f"{where} names a column twice; name it once")
    attributes = _in_order(names, published)
    return Background(attributes, _columns(attributes, published), published.sensitive[0], where)


def declared(named: object, source: Source, types: Mapping[str, str], published: Columns) -> Background:
    """Match the columns of a background table with the published ones; case of the names does not count.

    named: what the table was asked for as. types: its columns, as an engine's `source` returns them.
    Raises UsageError where a column is neither quasi, nor sensitive, nor `probability`, or one is missing.
    """
    where = f"the background {named!r}" if isinstance(named, str) else "the background"
    sensitive, sensitive_type = published.sensitive
    spelled = {name.lower(): name for name in types}
    probability = _probability(spelled, published)
    roles = {sensitive.lower(): "sensitive", probability.lower(): "probability"}
    for name, role in roles.items():
        if name not in spelled:
            column = sensitive if role == "sensitive" else probability
            raise UsageError(f"{where} has no column {column!r}; {tell_columns(types)}")
    quasi = {name.lower(): name for name in published.quasi}
    if len(spelled) < len(types):
        raise UsageError(f"{where} has columns that only differ in case; {tell_columns(types)}")
    foreign = [name for name in types if name.lower() not in {*quasi, *roles}]
    if foreign:
        raise UsageError(
            f"{where} has a column {foreign[0]!r}, which is no quasi column; they are {_listed(published.quasi)}"
        )
    nested = [name for name in types if types[name] == "NESTED"]
    if nested:
        raise UsageError(f"{where}: the column {nested[0]!r} holds nested values")
    if types[spelled[probability.lower()]].partition("(")[0].upper() not in NUMBERS:
        raise UsageError(f"{where}: the column {probability!r} holds {types[spelled[probability.lower()]]}, no numbers")
    attributes = _in_order([quasi[name] for name in spelled if name in quasi and name not in roles], published)
    if not attributes:
        raise UsageError(f"{where} has no quasi column: without one it tells nobody from another")
    sql_types = [published.quasi[name][1] for name in attributes]
    wanted_types = [*zip(attributes, sql_types, strict=True), (sensitive, sensitive_type), (probability, "DOUBLE")]
    names = [f"signature_{number}" for number, _ in enumerate(attributes, start=1)] + ["sensitive", "probability"]
    selected = tuple(
        (_read(source, types, spelled[column.lower()], sql_type), name)
        for (column, sql_type), name in zip(wanted_types, names, strict=True)
    )
    return Background(attributes, _columns(attributes, published), sensitive, where, source.relation, selected)


def names_of(background: Background) -> tuple[str, ...]:
    """Return what the attributes are called in the background's relations."""
    return tuple(f"signature_{number}" for number, _ in enumerate(background.columns, start=1))


def read_table(background: Background, number: int, show_values: bool = False, spelled: bool = True) -> Chapter:
    """Return the chapter that reads and checks one background.

    It reads `population` (with the columns of `background.columns`) and `tally` (sensitive, row_count), and makes
    `background`, `signature`, `remainder` and, where it is `spelled`, `prior` and `said`, each with `_number` behind. A
    table is refused where it is no distribution (UsageError) or does not fit the data (DataError).
    """
    values = {
        "number": number,
        "attributes": background.columns,
        "names": names_of(background),
        "relation": background.relation,
        "selected": background.selected,
        "where": background.where,
        "attributes_text": ", ".join(background.attributes),
        "sensitive": repr(background.sensitive),
        "shown_value": Sql(_SHOWN if show_values else _NOTHING),
        "spelled": spelled,
    }
    return Chapter("robust/background", values)


def _probability(names: Iterable[str], published: Columns) -> str:
    """Return what the column of probabilities is called: the next free name where another column is `probability`."""
    names = set(names)
    free = [name for name in names if free_name("probability", names - {name}) == name]
    other_names = {name.lower() for name in (*published.quasi, published.sensitive[0])}
    return next((name for name in sorted(free) if name not in other_names), max(free, default="probability"))


def _in_order(names: Iterable[str], published: Columns) -> tuple[str, ...]:
    selection = set(names)
    return tuple(name for name in published.quasi if name in selection)


def _columns(attributes: Iterable[str], published: Columns) -> tuple[str, ...]:
    return tuple(published.quasi[name][0] for name in attributes)


def _read(source: Source, types: Mapping[str, str], column: str, sql_type: str) -> Sql:
    """Return the SQL that reads a column as `sql_type`: values are compared as the published ones are."""
    expression = source.expression(column)
    if _fractional(types[column]) and sql_type in WHOLE:
        raise UsageError(
            f"the background's column {column!r} holds {types[column]}, where the data has {sql_type}:"
            " give whole numbers"
        )
    return expression if types[column] == sql_type else Sql(f"cast({expression} as {sql_type})")


def _fractional(sql_type: str) -> bool:
    return sql_type.startswith(("DOUBLE", "FLOAT", "REAL")) or (
        sql_type.startswith("DECIMAL") and ",0)" not in sql_type
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
