"""Find what lies in a release and does not belong to it: everything that its manifest and form do not name.

In a Parquet file that is metadata, bytes or columns beside the rows of its table.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import parse_json
from sqlanon.engines.base import Engine
from sqlanon.forms import form_of
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.releases.companions.registry import COMPANIONS
from sqlanon.releases.companions.schema_comments import foreign_comments
from sqlanon.releases.parquet.chunks import ChunkReading, Leaf, judge_chunk, walk_pages
from sqlanon.releases.parquet.encodings import PageError
from sqlanon.releases.parquet.layouts import (
    BOOLEAN,
    BYTE_ARRAY,
    DOUBLE,
    FIXED,
    FLOAT,
    INT32,
    INT64,
    MAGIC,
    OPTIONAL,
    REPEATED,
    REQUIRED,
    read_footer,
)
from sqlanon.releases.parquet.thrift import Fields, FooterError, ForeignFieldError
from sqlanon.releases.parquet.unpacking import unpack_pages
from sqlanon.releases.targets import MANIFEST

# a number and a commit's hash: a word in their place could be anybody's
_VERSION = rb"v?\d{1,2}(\.\d{1,4}){1,3}(-(dev|rc|preview|amzn-|SNAPSHOT)\d{0,6})?"
_WRITERS = re.compile(
    rb"DuckDB version %b \(build [0-9a-f]{10}\)|parquet-mr version %b \(build [0-9a-f]{40}\)" % (_VERSION, _VERSION)
)
_SPARK_TYPES = re.compile(
    r"string|boolean|byte|short|integer|long|float|double|date|timestamp(_ntz)?|binary|decimal\(\d{1,2},\d{1,2}\)"
)
_SPARK_VERSION, _SPARK_ROW = b"org.apache.spark.version", b"org.apache.spark.sql.parquet.row.metadata"
# what Spark says of a list of attributes and counts
_PARTS = [{"name": "attribute", "type": "string"}, {"name": "count", "type": "integer"}]
_MARKS = {
    "type": "array",
    "elementType": {"type": "struct", "fields": [part | {"nullable": True, "metadata": {}} for part in _PARTS]},
    "containsNull": True,
}
# physical and converted types of single values, with the logical ones that may stand beside them
_DECIMAL, _INTERVAL, _LIST = 5, 21, 3
_TIMES: dict[int, list[Any]] = {
    time: [{time: {1: utc, 2: {unit: {}}}} for utc in (False, True) for unit in (1, 2, 3)] for time in (7, 8)
}
_TYPES: dict[tuple[int, int | None], list[Any]] = {
    **{(physical, None): [None] for physical in (BOOLEAN, INT32, FLOAT, DOUBLE, BYTE_ARRAY)},
    (INT64, None): [None, *_TIMES[7], *_TIMES[8]],
    **{(INT64, converted): [None, *_TIMES[7]] for converted in (7, 8)},
    **{(INT64, converted): [None, *_TIMES[8]] for converted in (9, 10)},
    (INT32, 7): [None, *_TIMES[7]],
    (INT32, 6): [None, {6: {}}],
    (BYTE_ARRAY, 0): [None, {1: {}}],
    (BYTE_ARRAY, 19): [None, {12: {}}],
    **{
        (INT64 if width == 64 else INT32, first + place): [None, {10: {1: width, 2: signed}}]
        for first, signed in ((11, False), (15, True))
        for place, width in enumerate((8, 16, 32, 64))
    },
}
# a row group that another follows is full: some 122,880 rows in DuckDB, or so many packed bytes
_FULL_ROWS, _FULL_BYTES = 110_000, 2**24
# places of bytes that belong to a column: where the numbers of their beginning and their length stand
_INDEXES = ((6, 7), (4, 5))


def foreign_parts(paths: Sequence[Path]) -> dict[str, str]:
    """Return what is wrong with the files of one table, by name: each holds the rows of the same columns alone."""
    faults: dict[str, str] = {}
    schema: list[Fields] | None = None
    writer = None
    for path in paths:
        try:
            footer, size = read_footer(path)
            words = list(dict.fromkeys(_foreign(footer, size)))
            # what is inside is looked at where the outside is a table's
            words = words or list(dict.fromkeys(_foreign_values(path, footer)))
            schema, writer = schema or footer[2], writer or footer[6]
            if footer[2] != schema:
                words.append(f"its columns are not those of {paths[0].name}")
            if footer[6] != writer:
                words.append(f"its writer is not that of {paths[0].name}")
        except ForeignFieldError:
            words = ["metadata of its columns"]
        except (FooterError, OSError, LookupError, TypeError, ValueError, AttributeError, OverflowError):
            words = ["no Parquet file of a table"]
        if words:
            faults[path.name] = "; ".join(words)
    return faults


def _foreign(footer: Fields, end: int) -> Iterator[str]:
    """Say what a file holds that is not its table's."""
    if not _WRITERS.fullmatch(footer.get(6, b"")):
        yield f"written by {_shown(footer.get(6, b''))}"
    yield from _foreign_metadata(footer)
    sound = _is_schema(footer[2])
    leaves = _leaves(footer[2]) if sound else []
    if footer[1] not in (1, 2) or footer.get(7, [{1: {}}] * len(leaves)) != [{1: {}}] * len(leaves) or not sound:
        yield "a schema of no table"
    groups = footer[4]
    if sum(group[3] for group in groups) != footer[3] or not all(map(_is_group, groups, range(len(groups)))):
        yield "row groups of other columns"
    full = max((group[3] for group in groups), default=0)
    if any(group[3] < min(full, _FULL_ROWS) and group[6] < _FULL_BYTES for group in groups[:-1]):
        yield "row groups that end early"
    if not _are_alike(groups):
        yield "figures that others of its columns do not have"
    stray = _unclaimed([chunk for group in groups for chunk in group[1]], end)
    if stray:
        yield f"{stray} bytes that belong to no column"


def _is_group(group: Fields, number: int) -> bool:
    """Tell whether a row group's figures are those of its columns' chunks."""
    columns = [chunk[3] for chunk in group[1]]
    first = min(columns[0][number] for number in (9, 11) if number in columns[0])
    expected = {3: group[3], 5: first, 7: number}
    expected |= {2: sum(column[6] for column in columns), 6: sum(column[7] for column in columns)}
    return group[3] > 0 and all(group[field] == value for field, value in expected.items() if field in group)


def _are_alike(groups: Sequence[Fields]) -> bool:
    """Tell whether chunks have the same figures as others: which are left out could be a code.

    Those of a dictionary are where there is one; statistics are alike in a column, where it has values.
    """
    chunks = [chunk for group in groups for chunk in group[1]]
    # of numbers of which one is none Spark leaves out the index of values
    with_indexes = {frozenset(chunk) for chunk in chunks if chunk[3][1] not in (FLOAT, DOUBLE)}
    shapes = {(frozenset(chunk) - {6, 7}, frozenset(chunk[3]) - {11, 12, 14, 15}) for chunk in chunks}
    filters = {14 in chunk[3] for chunk in chunks if 11 in chunk[3]}
    statistics = [[chunk[3].get(12, {}) for chunk in column] for column in zip(*(g[1] for g in groups), strict=True)]
    statistics_shapes = [{frozenset(each) - {4} for each in column if 5 in each} for column in statistics]
    return (
        len(shapes) < 2
        and len(with_indexes) < 2
        and len(filters) < 2
        and len({frozenset(group) for group in groups}) < 2
        and all(len(shape) < 2 for shape in statistics_shapes)
        and not any((14 in chunk[3]) != (15 in chunk[3]) or (14 in chunk[3] and 11 not in chunk[3]) for chunk in chunks)
    )


def _foreign_values(path: Path, footer: Fields) -> Iterator[str]:
    """Say what a file's pages and figures hold that is not its columns' values."""
    leaves, by_spark = _leaves(footer[2]), footer[6].startswith(b"parquet-mr")
    with path.open("rb") as file:
        chunks = [
            (group, chunk, leaf, walk_pages(file, chunk[3]))
            for group in footer[4]
            for chunk, leaf in zip(group[1], leaves, strict=True)
        ]
        if len({4 in page.header for *_, pages in chunks for page in pages}) > 1:
            yield "checksums of some pages"
        unpacked = unpack_pages(file, [page for *_, pages in chunks for page in pages])
        structures: dict[tuple[int, bytes], tuple[bytes, bytes]] = {}
        for group, chunk, leaf, pages in chunks:
            name, contents = leaf.path[0].decode(), islice(unpacked, len(pages))
            reading = ChunkReading(leaf, by_spark)
            try:
                for word in judge_chunk(file, chunk, group[3], contents, reading):
                    yield f"{word} in the column {name!r}"
                # a reader takes the lists of one part, and does not look at those of the others
                if structures.setdefault((id(group), leaf.path[0]), reading.structure) != reading.structure:
                    yield f"other lists in a part of the column {name!r}"
            except PageError as fault:
                yield f"{fault} in the column {name!r}"
            for _ in contents:  # pages behind a fault
                pass


def _leaves(schema: list[Fields]) -> list[Leaf]:
    """Return the columns of single values that a schema has; raise FooterError where it is of no table of ours."""
    rest = iter(schema)
    root = next(rest)
    leaves: list[Leaf] = []

    def descend(count: int, path: list[bytes], definition: int, repetition: int) -> None:
        for _ in range(count):
            element = next(rest, None)
            if element is None or len(path) > 4:
                raise FooterError
            here = [*path, element[4]]
            deeper = definition + (element[3] != REQUIRED)
            repeated = repetition + (element[3] == REPEATED)
            if 5 in element:
                descend(element[5], here, deeper, repeated)
            else:
                leaves.append(Leaf(here, element, deeper, repeated))

    descend(root[5], [], 0, 0)
    if next(rest, None) is not None:
        raise FooterError
    return leaves


def _is_schema(schema: list[Fields]) -> bool:
    """Tell whether a schema says names and types of columns, single values or marks, and no more."""
    root = schema[0]
    columns = list(_columns(schema))
    return (
        root[4] in (b"duckdb_schema", b"spark_schema")
        and not set(root) - {3, 4, 5}
        and root.get(3, REQUIRED) == REQUIRED
        and root[5] == len(columns)
        and all(_is_single(parts[0]) if len(parts) == 1 else _is_list(parts) for parts in columns)
    )


def _columns(schema: list[Fields]) -> Iterator[list[Fields]]:
    """Yield each column's element, with the elements of its parts behind it."""
    parts: list[Fields] = []
    within = 0  # parts that are still to come
    for element in schema[1:]:
        parts.append(element)
        within = max(0, within - 1) + element.get(5, 0)
        if not within:
            yield parts
            parts = []


def _is_single(element: Fields) -> bool:
    """Tell whether an element is one of single values, of a type that an engine writes."""
    physical_type, converted, logical = element[1], element.get(6), element.get(10)
    size = {2} if physical_type == FIXED else set()
    if set(element) - {1, 3, 4, 6, 7, 8, 10} - size or element[3] not in (REQUIRED, OPTIONAL):
        return False
    if converted == _DECIMAL:
        scale, precision = element[7], element[8]
        # more bytes, or fewer, than a number of so many digits takes
        digits = {INT32: range(1, 10), INT64: range(1, 19), FIXED: range(1, 39)}.get(physical_type, ())
        least = ((10**precision).bit_length() + 8) // 8 if 0 < precision < 39 else 0
        sound = precision in digits and 0 <= scale <= precision
        sound = sound and (physical_type != FIXED or (precision > 18 and element[2] in (least, 16)))
        return sound and logical in (None, {5: {1: scale, 2: precision}})
    if {7, 8} & set(element):
        return False
    if physical_type == FIXED:
        return (element.get(2), converted, logical) in ((16, None, {14: {}}), (12, _INTERVAL, None))
    return logical in _TYPES.get((physical_type, converted), ())


def _is_list(parts: list[Fields]) -> bool:
    """Tell whether elements are those of a list of attributes and counts, or of single values."""
    outer, repeated, element, *members = parts
    names = [part[4] for part in parts[1:]]
    plain = [{4: names[0], 3: REPEATED, 5: 1}, {4: names[1], 3: element[3], 5: len(members)}]
    return (
        {**outer, 4: b"", 10: {3: {}}} == {3: outer[3], 4: b"", 5: 1, 6: _LIST, 10: {3: {}}}
        and outer[3] in (REQUIRED, OPTIONAL)
        and outer.get(10, {3: {}}) == {3: {}}
        and repeated == plain[0]
        and element == plain[1]
        and element[3] in (REQUIRED, OPTIONAL)
        and names == [b"list", b"element", b"attribute", b"count"]
        and all(map(_is_single, members))
    )


def _foreign_metadata(footer: Fields) -> Iterator[str]:
    keys = [pair[1] for pair in footer.get(5, [])]
    if len({*keys}) < len(keys):
        yield "metadata twice"
    for pair in footer.get(5, []):
        key, value = pair[1], pair.get(2, b"")
        ours = key == _SPARK_VERSION and re.fullmatch(_VERSION, value)
        ours = ours or (key == _SPARK_ROW and _is_row(value, footer[2]))
        if not ours or set(pair) - {1, 2}:
            yield f"the metadata {_shown(key)}"


def _is_row(value: bytes, schema: list[Fields]) -> bool:
    """Tell whether Spark's description of the rows says no more than the columns' names, and types that we publish."""
    described = parse_json(value.decode())
    if json.dumps(described, separators=(",", ":"), ensure_ascii=False) != value.decode():
        return False  # blanks between the words
    names = [parts[0][4].decode() for parts in _columns(schema)]
    keys = ["name", "type", "nullable", "metadata"]
    sound = [*described] == ["type", "fields"] and described["type"] == "struct"
    fields: list[Any] = described["fields"] if sound else []
    return (
        sound
        and [field["name"] for field in fields] == names
        and all([*field] == keys and field["metadata"] == {} and field["nullable"] in (True, False) for field in fields)
        and all(_is_type(field["type"]) for field in fields)
    )


def _is_type(spark_type: Any) -> bool:
    """Tell whether Spark's name of a type is one of single values, or of marks."""
    if isinstance(spark_type, str):
        return bool(_SPARK_TYPES.fullmatch(spark_type))
    return bool(_all_nullable(spark_type) == _MARKS)


def _all_nullable(spark_type: Any) -> Any:
    """Return a description of a type that allows NULL everywhere: whether it does depends on how it was made."""
    if isinstance(spark_type, list):
        return [_all_nullable(part) for part in spark_type]
    if not isinstance(spark_type, dict):
        return spark_type
    may = ("nullable", "containsNull")
    return {name: (name in may and part in (True, False)) or _all_nullable(part) for name, part in spark_type.items()}


def _unclaimed(chunks: Sequence[Fields], end: int) -> int:
    """Count the bytes before the footer that are in no column's pages, indexes or filters, or not in their place."""
    columns = [chunk[3] for chunk in chunks]
    claimed = [(0, len(MAGIC))]
    claimed += [(min(column[number] for number in (9, 11) if number in column), column[7]) for column in columns]
    for first, size in _INDEXES:
        claimed += [(chunk[first], chunk[size]) for chunk in chunks if first in chunk]
    claimed += [(column[14], column[15]) for column in columns if 14 in column]
    at = stray = 0
    for start, length in claimed:  # in the order in which they are written
        stray += abs(start - at)
        at = start + length
    return stray + abs(end - at)


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))


_DESCRIBED = {"rows", "bytes", "sha256"}


def foreign_files(directory: Path, manifest: Manifest) -> dict[str, Any]:
    """Return by name what a directory holds beside the release, and what its files hold beside their tables.

    The files that the manifest names are there, with the sha256 that it says.
    """
    files = manifest["files"]
    tables = [table_files(files, table) for table in form_of(manifest).verification.TABLES]
    ours = {name for listed in tables for name in listed}
    faults: dict[str, Any] = {}
    for path in sorted(directory.iterdir()):
        if path.name not in (MANIFEST, *files):
            faults[path.name] = "not in the manifest"
    for name, described in files.items():
        size = (directory / name).stat().st_size
        if described.get("bytes", size) != size:
            faults[name] = f"{size} bytes, not {described['bytes']}"
        elif set(described) - (_DESCRIBED if name in ours else _DESCRIBED - {"rows"}):
            faults[name] = f"described by {', '.join(sorted(set(described) - _DESCRIBED))}"
    for listed in tables:
        faults |= foreign_parts([directory / name for name in listed]) | _foreign_numbers(listed)
    # what the texts beside the tables say is compared when the manifest, which they repeat, is proved
    return faults | {name: "no table of the release" for name in files if name not in (*ours, *COMPANIONS)}


def _foreign_numbers(names: Sequence[str]) -> dict[str, str]:
    """Return the files of a table that are not numbered from 0 on, all with as many digits: a number tells nothing."""
    if len(names) == 1 and "-" not in names[0]:
        return {}
    digits = [name.removesuffix(".parquet").rpartition("-")[2] for name in names]
    usual = [f"{number:0{max(5, len(str(len(names))))}d}" for number in range(len(names))]
    return {
        name: f"not the part {part_number}"
        for name, digit, part_number in zip(names, digits, usual, strict=True)
        if digit != part_number
    }


def foreign_entries(engine: Engine, schema: str, manifest: Manifest) -> dict[str, str]:
    """Return what a schema holds beside the release's tables: by kind and name, `not in the manifest`."""
    tables = (*form_of(manifest).verification.TABLES, "manifest")
    expected = {("table", name) for name in tables}
    entries = set(engine.contents(schema) or ()) - expected
    names = set(manifest["files"]) - set(tables)
    faults = {f"{kind} {name}": "not in the manifest" for kind, name in sorted(entries)}
    faults |= {f"table {name}": "no table of the release" for name in sorted(names)}
    described = {name: set(entry) - {"rows"} for name, entry in manifest["files"].items()}
    faults |= {name: f"described by {', '.join(sorted(keys))}" for name, keys in described.items() if keys}
    return faults | foreign_comments(manifest, engine.comments(schema))
