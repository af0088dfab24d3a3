"""Read the column types of a published table from its Parquet file, and name them in words that fit every engine."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlanon.releases.parquet.layouts import read_footer
from sqlanon.releases.parquet.thrift import Fields

TableTypes = Mapping[str, Mapping[str, str]]  # by table and column

# numbers of parquet.thrift: physical types, converted types, members of the union of logical types
_PHYSICAL = {0: "true or false", 1: "whole number", 2: "whole number", 3: "timestamp", 4: "number", 5: "number"}
_CONVERTED = {0: "text", 4: "text", 5: "decimal", 6: "date", 7: "time", 8: "time", 9: "timestamp", 10: "timestamp"}
_CONVERTED |= dict.fromkeys(range(11, 19), "whole number") | {19: "JSON", 21: "interval"}
_LOGICAL = {1: "text", 4: "text", 5: "decimal", 6: "date", 7: "time", 8: "timestamp", 10: "whole number", 12: "JSON"}
_LOGICAL |= {14: "UUID"}


def read_types(path: Path) -> dict[str, str]:
    """Return the type of each column of a Parquet file, in words, in order (`list` for nested values)."""
    footer, _ = read_footer(path)
    return {element[4].decode(): _word(element) for element in _columns(footer[2])}


def _columns(schema: list[Fields]) -> Iterator[Fields]:
    """Walk over the elements below the root, without those that lie in a nested column."""
    inside = 0
    for element in schema[1:]:
        if not inside:
            yield element
        inside = max(0, inside - 1) + element.get(5, 0)


def _word(element: Fields) -> str:
    if element.get(5):
        return "list"
    logical = next(iter(element.get(10) or ()), -1)
    word = _LOGICAL.get(logical) or _CONVERTED.get(element.get(6, -1)) or _PHYSICAL.get(element[1]) or "bytes"
    if word == "decimal":
        return f"decimal({element.get(8, 0)}, {element.get(7, 0)})"
    return word
