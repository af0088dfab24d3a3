"""Which types have an order that means something: numbers, dates, times; texts and identifiers have none."""

_ORDERED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
            "UHUGEINT", "DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIME", "TIMESTAMP")  # fmt: skip


def is_ordered(type_name: str) -> bool:
    """Tell whether values of a type have distances by order."""
    return type_name.upper().startswith(_ORDERED)
