"""Which role a column may have: from how unique its values are, from its type, and from its name."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NEARLY_UNIQUE = 0.9  # of the rows have a value that nobody else has
FEW_VALUES = 0.05  # of the rows, at most, are different values where people are told apart by several columns together
LONGEST_LIST = 1000  # values that a sensitive column without a telling name may have
_DATES = ("DATE", "TIMESTAMP")
_FRACTIONS = ("DOUBLE", "FLOAT", "DECIMAL")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+|\w", re.UNICODE)


@dataclass(frozen=True)
class ColumnProfile:
    """One column of a source as a scan finds it."""

    name: str
    type: str
    rows: int
    distinct_values: int
    nulls: int
    unique_rows: int
    largest_count: int

    @property
    def unique_share(self) -> float:
        """Return the share of the rows whose value nobody else has."""
        return self.unique_rows / self.rows if self.rows else 0.0


@cache
def _roles_by_word() -> Mapping[str, str]:
    with (Path(__file__).with_name("column_names.csv")).open(encoding="utf-8", newline="") as lines:
        return {word: line["role"] for line in csv.DictReader(lines) for word in line["words"].split()}


def read_name(name: str) -> str:
    """Return the role that a column's name suggests, in one of several languages; '' where it says nothing."""
    words = [word.lower() for word in _WORD.findall(name)]
    known = _roles_by_word()
    found = {known[word] for word in (name.lower(), *words) if word in known}
    return next((role for role in ("identifier", "sensitive", "quasi") if role in found), "")


def suggest_role(column: ColumnProfile) -> tuple[str, str]:
    """Return a role (identifier, quasi, sensitive, '') and the reason; a suggestion, for the publisher to weigh."""
    named = read_name(column.name)
    if column.distinct_values <= 1:
        return "", "one value at most" if column.nulls < column.rows else "no value at all"
    if column.type == "NESTED":
        return "", "nested values"
    if column.unique_share >= NEARLY_UNIQUE and not column.type.startswith(_FRACTIONS):
        return "identifier", f"{column.unique_share:.0%} of the rows have a value of their own"
    if named == "identifier" and column.distinct_values > FEW_VALUES * column.rows:
        return "identifier", "its name"
    if named in ("quasi", "sensitive"):
        return named, "its name"
    if column.type.startswith(_DATES):
        return "quasi", "a date, which others may know"
    if column.distinct_values <= max(FEW_VALUES * column.rows, 2) and not column.type.startswith(_FRACTIONS):
        return "quasi", f"{column.distinct_values:,} values, which others may know"
    return "", "publish it as quasi column only if others know it; else leave it out"
