"""The columns of published tables and their types, as forms declare them."""

from collections.abc import Mapping

# by table and column, in order: the types that a column may have; any that holds single values for none; or the name
# of the table's column that it has the type of
Layout = Mapping[str, Mapping[str, tuple[str, ...] | str]]
SINGLE: tuple[str, ...] = ()
TEXT = ("VARCHAR",)
WHOLE = ("BIGINT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "INT", "INT8", "INT4")


def find_wrong_type(layout: Layout, types: Mapping[str, Mapping[str, str]]) -> str | None:
    """Say which column is of a type that it may not be, None where none is; types: of the tables, by their columns.

    A nested value could hold anything: columns of the source, whole rows.
    """
    for table, columns in layout.items():
        for column, declared in columns.items():
            sql_type = types[table][column]
            allowed = (types[table][declared],) if isinstance(declared, str) else declared
            if allowed and sql_type.upper() not in map(str.upper, allowed):
                return (
                    f"{column!r} of {table} is {sql_type}, not {'a whole number' if declared == WHOLE else allowed[0]}"
                )
            if not allowed and is_nested(sql_type):
                return f"nested values in {column!r} of {table}"
    return None


def is_nested(sql_type: str) -> bool:
    """Tell whether a column of this type holds nested values."""
    return sql_type.endswith("]") or sql_type.upper().startswith(("STRUCT", "MAP", "LIST", "UNION", "ARRAY", "VARIANT"))
