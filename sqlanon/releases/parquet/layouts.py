"""Parquet's structs with the fields that our engines write for a table; any other field could hide something.

https://github.com/apache/parquet-format, parquet.thrift. Left out are metadata and encryption of a column, a separate
file for a chunk, numbers of fields, sorting columns, statistics inside pages, and pages of version 2.
"""

from pathlib import Path

from sqlanon.releases.parquet.thrift import BINARY, BOOL, BYTE, I16, I32, I64, Fields, FooterError, Layout, read_struct

MAGIC = b"PAR1"
_LONGEST_FOOTER = 2**25
# physical types
BOOLEAN, INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = 0, 1, 2, 4, 5, 6, 7
# encodings, of which the second is a dictionary's by its old name
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY = 0, 2, 3, 4, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
ZSTD = 6

_UNIT: Layout = {1: {}, 2: {}, 3: {}}
_LOGICAL: Layout = {1: {}, 3: {}, 5: {1: I32, 2: I32}, 6: {}, 7: {1: BOOL, 2: _UNIT}, 8: {1: BOOL, 2: _UNIT}}
_LOGICAL |= {10: {1: BYTE, 2: BOOL}, 12: {}, 14: {}}
ELEMENT: Layout = {1: I32, 2: I32, 3: I32, 4: BINARY, 5: I32, 6: I32, 7: I32, 8: I32, 10: _LOGICAL}
STATISTICS: Layout = {1: BINARY, 2: BINARY, 3: I64, 4: I64, 5: BINARY, 6: BINARY, 7: BOOL, 8: BOOL, 9: I64}
SIZES: Layout = {1: I64, 2: [I64], 3: [I64]}
COLUMN: Layout = {1: I32, 2: [I32], 3: [BINARY], 4: I32, 5: I64, 6: I64, 7: I64, 9: I64, 11: I64, 12: STATISTICS}
COLUMN |= {13: [{1: I32, 2: I32, 3: I32}], 14: I64, 15: I32, 16: SIZES}
CHUNK: Layout = {2: I64, 3: COLUMN, 4: I64, 5: I32, 6: I64, 7: I32}
GROUP: Layout = {1: [CHUNK], 2: I64, 3: I64, 5: I64, 6: I64, 7: I16}
FILE: Layout = {1: I32, 2: [ELEMENT], 3: I64, 4: [GROUP], 5: [{1: BINARY, 2: BINARY}], 6: BINARY, 7: [{1: {}}]}
PAGE: Layout = {1: I32, 2: I32, 3: I32, 4: I32, 5: {1: I32, 2: I32, 3: I32, 4: I32}, 7: {1: I32, 2: I32, 3: BOOL}}
OFFSET_INDEX: Layout = {1: [{1: I64, 2: I32, 3: I64}], 2: [I64]}
COLUMN_INDEX: Layout = {1: [BOOL], 2: [BINARY], 3: [BINARY], 4: I32, 5: [I64], 6: [I64], 7: [I64]}
BLOOM_FILTER: Layout = {1: I32, 2: {1: {}}, 3: {1: {}}, 4: {1: {}}}


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
        footer, used = read_struct(file.read(length), FILE)
    if used != length:
        raise FooterError
    return footer, size - 8 - length
