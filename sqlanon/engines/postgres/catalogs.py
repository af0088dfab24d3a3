"""What PostgreSQL's catalogs tell: what a schema holds, and what types are called outside the server, by DuckDB."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.plans.templates import ident, literal

if TYPE_CHECKING:
    import pandas as pd

# a release's tables are made of a SELECT and have nothing of this; what comments say is looked at apart
# parameter: the schema
FIND_CONTENTS = """
with home as (select oid, nspname from pg_namespace where nspname = %(schema)s),
held as (select c.* from pg_class as c join home on c.relnamespace = home.oid)
select case relkind when 'r' then 'table' when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence'
    when 'i' then 'index' when 'c' then 'type' else 'relation ' || relkind::text end, relname::text from held
union
select 'function', proname::text from pg_proc join home on pronamespace = home.oid
union
select 'type', typname::text from pg_type join home on typnamespace = home.oid where typrelid = 0 and typelem = 0
union
select 'constraint of', held.relname::text from pg_constraint join held on conrelid = held.oid
union
select 'trigger of', held.relname::text from pg_trigger join held on tgrelid = held.oid
union
select 'policy of', held.relname::text from pg_policy join held on polrelid = held.oid
union
select 'rule of', held.relname::text from pg_rewrite join held on ev_class = held.oid where held.relkind = 'r'
union
select 'default of', held.relname::text from pg_attrdef join held on adrelid = held.oid
union
select 'comment on schema', nspname::text from pg_description join home on objoid = home.oid
    where classoid = 'pg_namespace'::regclass
"""

FIND_COMMENTS = """
select held.relname::text, coalesce(attname::text, ''), description
from pg_description
join pg_class as held on objoid = held.oid
join pg_namespace as home on held.relnamespace = home.oid and nspname = %(schema)s
left join pg_attribute on attrelid = held.oid and attnum = objsubid and objsubid > 0
where classoid = 'pg_class'::regclass
"""

# types and those of arrays' items, with their `typtype`, and the items' numbers, 0 of what is no array
FIND_TYPES = """
select oid, typname::text, typtype::text, case when typcategory = 'A' and typtype = 'b' then typelem else 0 end
from pg_type
where oid = any(%(types)s) or oid in (select typelem from pg_type where oid = any(%(types)s))
"""
# a result does not tell how many digits the numbers in an array have
FIND_DECIMALS = """
select attname, substring(format_type(atttypid, atttypmod) from '\\([0-9]+,[0-9]+\\)')
from pg_attribute
where attrelid = to_regclass(%s) and atttypid = 'numeric[]'::regtype and atttypmod >= 0
"""

_NAMES = {  # types by what DuckDB calls them
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "interval": "INTERVAL",
    "uuid": "UUID",
    "bytea": "BLOB",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
    "jsonb": "JSON",
}

_EMPTY = {"SMALLINT": "int64", "INTEGER": "int64", "BIGINT": "int64", "FLOAT": "float64", "DOUBLE": "float64"}
_SPELLINGS = ("a", "A", "\u00e1", "a\u0301")  # as collations ignore case, accents, and how a letter is composed
AS_TEXT = ("ENUM", "OTHER", "JSON")  # what a source's values are published as text of


def type_name(oid: int, catalog: Mapping[int, Sequence[Any]], digits: str = "") -> str:
    """Name a type as DuckDB does; `ENUM` and `OTHER` are published as text.

    catalog: type names, `typtype` and types of items by oid, as FIND_TYPES returns them. digits: of a decimal number,
    in brackets.
    """
    name, typtype, item = catalog[oid]
    if item or typtype in ("c", "p"):  # arrays, composite types and records
        return "NESTED"
    return "DECIMAL" + digits if name == "numeric" else _NAMES.get(name, "ENUM" if typtype == "e" else "OTHER")


def item_type(oid: int, catalog: Mapping[int, Sequence[Any]], digits: str = "") -> str:
    """Name the type of the items of an array of single values, as `type_name` does; empty for any other type."""
    item = catalog[oid][2]
    name = type_name(item, catalog, digits) if item in catalog else "NESTED"
    return "" if name == "NESTED" else name


def build_frame(names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> "pd.DataFrame":
    """Return rows as columns; numeric ones are float, dates and times are datetimes."""
    import pandas as pd

    columns = {}
    for place, sql_type in enumerate(types):  # by place: two columns of a result may have one name
        # no rows tell no type, and what is joined to such a column would lose its own
        column = pd.Series([row[place] for row in rows], dtype=None if rows else _EMPTY.get(sql_type, "object"))
        if sql_type.startswith("DECIMAL"):
            column = pd.to_numeric(column).astype(float)
        elif sql_type == "DATE" or sql_type.startswith("TIMESTAMP"):
            column = pd.to_datetime(column, utc=sql_type.endswith("ZONE"))
        columns[place] = column
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(names)
    return frame


def whole_number(value: Any) -> Any:
    """Return a number without decimals as int: PostgreSQL sums whole numbers as numeric."""
    return int(value) if hasattr(value, "as_tuple") and value.is_finite() and value.as_tuple().exponent == 0 else value


def find_collated(ask: Callable[[str], Sequence[Sequence[Any]]], relation: str, names: Iterable[str]) -> set[str]:
    """Return those of the columns of text whose collation takes texts that differ for one value.

    What is promised is counted by bytes. ask: runs a query, which reads no row.
    """
    columns = list(names)
    if not columns:
        return set()
    counts = ", ".join(f"count(distinct {ident(name)}) as n{place}" for place, name in enumerate(columns))
    none = f"select {', '.join(map(ident, columns))} from {relation} where false"
    spelled = (f"select {', '.join([literal(text)] * len(columns))}" for text in _SPELLINGS)
    (row,) = ask(f"select {counts} from ({' union all '.join([none, *spelled])}) as spelled")
    return {name for name, count in zip(columns, row, strict=True) if count < len(_SPELLINGS)}
