"""Tell what a release's Parquet file holds beside the rows of its table: metadata, other bytes, other columns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import parse_json
from sqlanon.releases.parquet.thrift import MAGIC, Fields, FooterError, read_struct

# fields of parquet.thrift by number that engines write for a table: what else may be there could hold anything.
# Left out: metadata of a column (8 of its metadata), its own file (1 of a chunk), numbers of fields (9 of an element).
_FILE = {1, 2, 3, 4, 5, 6, 7}
_ELEMENT = {1, 2, 3, 4, 5, 6, 7, 8, 10}
_GROUP = {1, 2, 3, 4, 5, 6, 7}
_CHUNK = {2, 3, 4, 5, 6, 7}
_COLUMN = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16}
# a number and a commit's hash: a word in their place could be anybody's
_VERSION = rb"v?\d{1,4}(\.\d{1,9}){1,3}(-(dev|rc|preview|amzn-|SNAPSHOT)\d{0,9})?"
_WRITERS = re.compile(rb"(DuckDB version|parquet-mr version) " + _VERSION + rb" \(build [0-9a-f]{6,64}\)")
_SPARK_TYPES = re.compile(
    r"string|boolean|byte|short|integer|long|float|double|date|timestamp(_ntz)?|binary|decimal\(\d{1,2},\d{1,2}\)"
)
_SPARK_VERSION, _SPARK_ROW = b"org.apache.spark.version", b"org.apache.spark.sql.parquet.row.metadata"
_LONGEST_FOOTER = 2**28
# what Spark says of a list of attributes and counts
_PARTS = [{"name": "attribute", "type": "string"}, {"name": "count", "type": "integer"}]
_MARKS = {
    "type": "array",
    "elementType": {"type": "struct", "fields": [part | {"nullable": True, "metadata": {}} for part in _PARTS]},
    "containsNull": True,
}
# places of bytes that belong to a column: where the numbers of their beginning and their length stand
_INDEXES = ((4, 5), (6, 7))


def foreign_parts(paths: Sequence[Path]) -> dict[str, str]:
    """Return what is wrong with the files of one table, by name: each holds the rows of the same columns alone."""
    found: dict[str, str] = {}
    schema: list[Fields] | None = None
    for path in paths:
        try:
            footer, size = read_footer(path)
            words = list(_foreign(footer, size))
            schema = footer[2] if schema is None else schema
            if footer[2] != schema:
                words.append(f"its columns are not those of {paths[0].name}")
        except (FooterError, OSError, LookupError, TypeError, ValueError, AttributeError):
            words = ["no Parquet file of a table"]
        if words:
            found[path.name] = "; ".join(words)
    return found


def read_footer(path: Path) -> tuple[Fields, int]:
    """Return a file's footer, and where the footer begins."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != MAGIC or not 0 < length <= min(size - 12, _LONGEST_FOOTER):
            raise FooterError
        file.seek(0)
        if file.read(4) != MAGIC:
            raise FooterError
        file.seek(size - 8 - length)
        footer, used = read_struct(file.read(length))
    if used != length:
        raise FooterError
    return footer, size - 8 - length


def _foreign(footer: Fields, end: int) -> Iterator[str]:
    """Say what a file holds that is not its table's."""
    if not _WRITERS.fullmatch(footer.get(6, b"")):
        yield f"written by {_shown(footer.get(6, b''))}"
    yield from _foreign_metadata(footer)
    chunks = [chunk for group in footer[4] for chunk in group[1]]
    known = [(footer, _FILE), *((element, _ELEMENT) for element in footer[2])]
    known += [*((group, _GROUP) for group in footer[4]), *((chunk, _CHUNK) for chunk in chunks)]
    known += [(chunk[3], _COLUMN) for chunk in chunks]
    if any(set(fields) - allowed for fields, allowed in known):
        yield "metadata of its columns"
    if _unclaimed(chunks, end):
        yield f"{_unclaimed(chunks, end)} bytes that belong to no column"


def _foreign_metadata(footer: Fields) -> Iterator[str]:
    for pair in footer.get(5, []):
        key, value = pair[1], pair.get(2, b"")
        ours = key == _SPARK_VERSION and re.fullmatch(_VERSION, value)
        ours = ours or (key == _SPARK_ROW and _is_row(value, footer[2]))
        if not ours or set(pair) - {1, 2}:
            yield f"the metadata {_shown(key)}"


def _is_row(value: bytes, schema: list[Fields]) -> bool:
    """Tell whether Spark's description of the rows says no more than the columns' names, and types that we publish."""
    described = parse_json(value.decode())
    names = list(_column_names(schema))
    keys = {"name", "type", "nullable", "metadata"}
    sound = set(described) == {"type", "fields"} and described["type"] == "struct"
    fields: list[Any] = described["fields"] if sound else []
    return (
        sound
        and [field["name"] for field in fields] == names
        and all(
            set(field) == keys and field["metadata"] == {} and field["nullable"] in (True, False) for field in fields
        )
        and all(_is_type(field["type"]) for field in fields)
    )


def _column_names(schema: list[Fields]) -> Iterator[str]:
    """Yield the names of a table's own columns: a nested one's parts follow it."""
    within = 0  # parts that are still to come
    for element in schema[1:]:
        if not within:
            yield element[4].decode()
        within = max(0, within - 1) + element.get(5, 0)


def _is_type(kind: Any) -> bool:
    """Tell whether Spark's name of a type is one of single values, or of marks."""
    if isinstance(kind, str):
        return bool(_SPARK_TYPES.fullmatch(kind))
    return bool(_all_nullable(kind) == _MARKS)


def _all_nullable(kind: Any) -> Any:
    """Return a description of a type that allows NULL everywhere: whether it does depends on how it was made."""
    if isinstance(kind, list):
        return [_all_nullable(one) for one in kind]
    if not isinstance(kind, dict):
        return kind
    may = ("nullable", "containsNull")
    return {name: (name in may and one in (True, False)) or _all_nullable(one) for name, one in kind.items()}


def _unclaimed(chunks: Iterable[Fields], end: int) -> int:
    """Count the bytes before the footer that are in no column's pages, indexes or filters, or in two of them."""
    claimed = [(0, len(MAGIC))]
    for chunk in chunks:
        column = chunk[3]
        first = min(column[number] for number in (9, 11) if column.get(number))
        claimed.append((first, column[7]))
        claimed += [(chunk[start], chunk[length]) for start, length in _INDEXES if start in chunk]
        claimed += [(column[14], column[15])] if 14 in column else []
    at = stray = 0
    for start, length in sorted(claimed):
        stray += abs(start - at)
        at = start + length
    return stray + abs(end - at)


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))
