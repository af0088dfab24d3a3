"""What PostgreSQL's types are called and become outside the server: DuckDB's names, columns of numbers and dates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

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
AS_TEXT = ("ENUM", "OTHER", "JSON")  # what a source's values are published as text of

# an array's items: its own name, kind and category are those of what it holds
FIND_TYPES = """
select t.oid, t.typname, t.typtype::text, t.typcategory::text, coalesce(e.typname, ''), e.typtype::text,
    e.typcategory::text
from pg_type as t
left join pg_type as e on t.typcategory = 'A' and t.typtype = 'b' and t.typelem = e.oid and e.typarray = t.oid
where t.oid = any(%s)
"""
# a result does not tell how many digits the numbers in an array have
FIND_DECIMALS = """
select attname, substring(format_type(atttypid, atttypmod) from '\\([0-9]+,[0-9]+\\)')
from pg_attribute
where attrelid = to_regclass(%s) and atttypid = 'numeric[]'::regtype and atttypmod >= 0
"""


def type_names(described: Sequence[Any], catalog: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Name the types of a result's columns as DuckDB does; `ENUM` and `OTHER` are published as text.

    catalog: type names, kinds and categories by oid, as FIND_TYPES returns them.
    """
    for column in described:
        name, kind, category, *_ = catalog[column.type_code]
        if name == "numeric":
            yield f"DECIMAL({column.precision},{column.scale})" if column.precision else "DECIMAL"
        elif category == "A" or kind in ("c", "p"):  # arrays, composite types and records
            yield "NESTED"
        else:
            yield _single(name, kind)


def _single(name: str, kind: str) -> str:
    return _NAMES.get(name, "ENUM" if kind == "e" else "OTHER")


def item_types(
    described: Sequence[Any], catalog: Mapping[int, Sequence[str]], decimals: Mapping[str, str]
) -> Iterator[str]:
    """Name the types of the items of arrays of single values, as `type_names` does; empty for any other column.

    decimals: the digits of numbers in arrays by column, as FIND_DECIMALS returns them.
    """
    for column in described:
        *_, name, kind, category = catalog[column.type_code]
        single = name and category != "A" and kind not in ("c", "p")
        number = "DECIMAL" + decimals.get(column.name, "")
        yield (number if name == "numeric" else _single(name, kind)) if single else ""


def build_frame(names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> "pd.DataFrame":
    """Return rows as columns; numeric ones are float, dates and times are datetimes."""
    import pandas as pd

    columns = {}
    for place, kind in enumerate(types):  # by place: two columns of a result may have one name
        # no rows tell no type, and what is joined to such a column would lose its own
        column = pd.Series([row[place] for row in rows], dtype=None if rows else _EMPTY.get(kind, "object"))
        if kind.startswith("DECIMAL"):
            column = pd.to_numeric(column).astype(float)
        elif kind == "DATE" or kind.startswith("TIMESTAMP"):
            column = pd.to_datetime(column, utc=kind.endswith("ZONE"))
        columns[place] = column
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(names)
    return frame


def whole_number(value: Any) -> Any:
    """Return a number without decimals as int: PostgreSQL sums whole numbers as numeric."""
    return int(value) if hasattr(value, "as_tuple") and value.is_finite() and value.as_tuple().exponent == 0 else value
