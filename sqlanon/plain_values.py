"""Values of a database as JSON has them: numbers, text, ISO dates, None for NULL."""

import datetime
import decimal
import re
from collections.abc import Callable, Iterable, Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def refuse_broken_text(values: Iterable[object]) -> None:
    """Refuse text that is none: no database takes a name, path or query with half a character, or a NUL, in it."""
    for value in values:
        if not isinstance(value, str):
            continue
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UsageError(f"{value!a} is not UTF-8 text; name files, columns and queries in UTF-8")
        if "\0" in value:
            raise UsageError(f"{value!a} holds a NUL character, which no name, path or query has")


def records(frame: "pd.DataFrame | Mapping[str, Any]") -> list[dict[str, Any]]:
    """Return the rows of a frame, or of arrays by name, as plain values: numbers, text, ISO dates, None for NULL."""
    columns = {str(name): [plain(value) for value in column.tolist()] for name, column in frame.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain(value: Any) -> Any:
    """Return one value as JSON has it."""
    # pandas' missing values are known by name: importing it is slow, and NaT passes for a date
    if value is None or type(value).__name__ in ("NaTType", "NAType") or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # JSON has no infinity; and 0 no sign
        return value + 0.0 if abs(value) != float("inf") else str(value)
    if isinstance(value, decimal.Decimal):
        # sums of whole numbers come as decimals
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    # numpy's numbers and its arrays, which stand for lists; anything else is told as its text
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def words(value: object) -> str:
    """Write a figure in words, thousands apart: keys with their values, elements of a list between commas."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else _in_words(value, words)


def cell(value: object) -> str:
    """Write a value of a database as a table's cell shows it, a year as a year; nothing for None."""
    return f"[{', '.join(map(cell, value))}]" if isinstance(value, list) else _in_words(value, cell)


def _in_words(value: object, write: Callable[[object], str]) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10 else f"{value:,.1f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {write(item)}" for key, item in value.items())
    return ", ".join(map(write, value)) if isinstance(value, list) else str(value)


def visible(text: str) -> str:
    """Escape what a terminal would act on (control characters in values and names are an attack)."""
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)


def shorten_hashes(text: str) -> str:
    """Write every sha256 in a text by its first digits."""
    return re.sub(r"\b([0-9a-f]{8})[0-9a-f]{56}\b", r"\1…", text)


_ORDERED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
            "UHUGEINT", "DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIME", "TIMESTAMP")  # fmt: skip


def is_ordered(type_name: str) -> bool:
    """Tell whether values of a type have distances by order."""
    return type_name.upper().startswith(_ORDERED)
