"""Decompress the pages of a Parquet file with the engine's own code, and check how they were compressed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple
from zlib import crc32

from sqlanon.engines.duckdb.connection import connect_beside
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DataError, ReleaseError, SourceError
from sqlanon.plans.templates import literal
from sqlanon.releases.parquet.layouts import DATA_PAGE, FILE, FIXED, MAGIC, PAGE, PLAIN, REQUIRED, RLE, ZSTD
from sqlanon.releases.parquet.thrift import Fields, FooterError, write_struct

_MOST_BYTES = 2**25  # that are unpacked together, unless a page is longer
_MOST_PAGES = 500
_LONGEST_PAGE = 2**28  # DuckDB's hold 100 MB
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Page(NamedTuple):
    """A page of a column: its header, and where its packed bytes begin."""

    header: Fields
    start: int
    end: int


def unpack_pages(file: IO[bytes], pages: Sequence[Page]) -> Iterator[tuple[Page, bytes]]:
    """Yield each page with its bytes. Raises FooterError for what is packed otherwise than our writers pack.

    Python has no library for zstd, and the engine does: a file is laid in which every page is a column's one value.
    """
    batch: list[Page] = []
    for page in pages:
        if not 0 < page.header[2] <= _LONGEST_PAGE or page.header[3] > _LONGEST_PAGE:
            raise FooterError
        if batch and (sum(each.header[2] for each in [*batch, page]) > _MOST_BYTES or len(batch) == _MOST_PAGES):
            yield from zip(batch, _unpack(file, batch), strict=True)
            batch = []
        batch.append(page)
    if batch:
        yield from zip(batch, _unpack(file, batch), strict=True)


def _unpack(file: IO[bytes], pages: Sequence[Page]) -> Sequence[bytes]:
    laid = bytearray(MAGIC)
    chunks: list[Fields] = []
    elements: list[Fields] = [{4: b"pages", 5: len(pages)}]
    for number, page in enumerate(pages):
        file.seek(page.start)
        packed = file.read(page.end - page.start)
        size, name, start = page.header[2], b"%d" % number, len(laid)
        _check_frame(packed, size)
        if page.header.get(4, checksum := crc32(packed)) & 0xFFFFFFFF != checksum:
            raise FooterError
        laid += write_struct({1: DATA_PAGE, 2: size, 3: len(packed), 5: {1: 1, 2: PLAIN, 3: RLE, 4: RLE}}, PAGE)
        column = {1: FIXED, 2: [PLAIN], 3: [name], 4: ZSTD, 5: 1, 6: size + len(laid) - start, 9: start}
        laid += packed
        elements.append({1: FIXED, 2: size, 3: REQUIRED, 4: name})
        chunks.append({2: 0, 3: column | {7: len(laid) - start}})
    group = {1: chunks, 2: sum(chunk[3][6] for chunk in chunks), 3: 1}
    footer = write_struct({1: 1, 2: elements, 3: 1, 4: [group]}, FILE)
    laid += footer + len(footer).to_bytes(4, "little") + MAGIC
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "pages.parquet"
            path.write_bytes(laid)
            return _read_row(path)
    except OSError as error:
        raise ReleaseError(f"cannot unpack {getattr(file, 'name', 'a file')} to look into it: {error}") from None


def _read_row(path: Path) -> Sequence[bytes]:
    engine = DuckDBEngine(connect_beside(), "memory")
    try:
        (row,) = engine.execute(f"from read_parquet({literal(str(path))})")
    except (SourceError, DataError):  # packed bytes that are none
        raise FooterError from None
    finally:
        engine.connection.close()
    return row


def _check_frame(packed: bytes, size: int) -> None:
    """Raise FooterError where bytes are not one frame of zstd that ends with them, with blocks that all say something.

    Frames to be skipped, frames behind the first, empty blocks and free bits of a header are passed over by readers:
    https://www.rfc-editor.org/rfc/rfc8878.
    """
    if packed[:4] != _ZSTD_MAGIC or len(packed) < 6:
        raise FooterError
    # DuckDB packs a page at once, and says its size; Spark packs a stream; and both say how far back a long one looks
    head, alone = packed[4], bool(packed[4] & 0x20)
    width = {0: int(alone), 1: 2, 2: 4}.get(head >> 6)
    if width is None or head & 0x1F or not (alone or packed[5] & 7 == 0):
        raise FooterError
    at = (5 if alone else 6) + width
    content_size = int.from_bytes(packed[at - width : at], "little") + (256 if width == 2 else 0)
    if width and content_size != size:
        raise FooterError
    last = False
    while not last:
        block = int.from_bytes(packed[at : at + 3], "little")
        last, block_type, length = bool(block & 1), block >> 1 & 3, block >> 3
        # a stream may end in an empty block
        if at + 3 > len(packed) or block_type == 3 or (not length and (head or not last or block_type)):
            raise FooterError
        at += 3 + (1 if block_type == 1 else length)
    if at != len(packed):
        raise FooterError
