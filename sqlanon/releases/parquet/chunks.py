"""Check a column chunk of a Parquet file: its pages hold only its values, and its statistics are those of its pages."""

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import IO, Any, NamedTuple

import numpy as np

from sqlanon.releases.parquet.encodings import Numbers, PageError, decode_plain, decode_runs, make_filter
from sqlanon.releases.parquet.layouts import (
    BIT_PACKED,
    BLOOM_FILTER,
    BYTE_ARRAY,
    COLUMN_INDEX,
    DATA_PAGE,
    DICTIONARY_PAGE,
    DOUBLE,
    FIXED,
    FLOAT,
    INT32,
    INT64,
    OFFSET_INDEX,
    PAGE,
    PLAIN,
    PLAIN_DICTIONARY,
    REQUIRED,
    RLE,
    RLE_DICTIONARY,
    ZSTD,
)
from sqlanon.releases.parquet.thrift import Fields, FooterError, read_struct
from sqlanon.releases.parquet.unpacking import Page

_DICTIONARY_TYPES = {BYTE_ARRAY, FIXED, INT32, INT64, FLOAT, DOUBLE}
_LONGEST_HEADER = 200
_MOST_VALUES = 2**22  # of a page: what is unpacked from a few bytes may be many
# a page that another follows is full: so many rows in Spark, or so many bytes, which are counted of texts themselves
_FULL_ROWS, _FULL_BYTES = 20_000, 2**19
# bytes that are left of a text in statistics: in DuckDB's, and in an index of Spark's, which cuts between letters
_CUT_TEXTS = (256, 61, 62, 63, 64)
# numbers of converted types: the widths of whole numbers, without a sign and with one
_UNSIGNED, _SIGNED = {11: 8, 12: 16, 13: 32, 14: 64}, {15: 8, 16: 16, 17: 32, 18: 64}
_DECIMAL, _INTERVAL = 5, 21
_DECIMALS = (FIXED, _DECIMAL)

Values = Numbers | list[bytes]


class Leaf(NamedTuple):
    """A column of single values: its path, its element of the schema, and how deep its values may be missing."""

    path: list[bytes]
    element: Fields
    definition: int
    repetition: int


class PageStatistics(NamedTuple):
    """What a page's statistics should say."""

    page: Page
    rows: int
    missing: int
    no_numbers: int
    least: Any  # None where there is no value that could be compared
    greatest: Any
    text_bytes: int
    repetitions: list[int]
    definitions: list[int]


def judge_chunk(
    file: IO[bytes], chunk: Fields, rows: int, pages: Iterable[tuple[Page, bytes]], reading: "ChunkReading"
) -> Iterator[str]:
    """Say what a chunk holds beside the values of its rows; raises PageError or FooterError for what cannot be read.

    pages: the chunk's, with their bytes, of which all are taken.
    """
    column, leaf = chunk[3], reading.leaf
    for page, data in pages:
        reading.read(page, data)
    page_statistics, entries = reading.page_statistics, reading.entries
    reading.close()
    if sum(page.rows for page in page_statistics) != rows:
        raise PageError("more rows, or fewer, than its group")
    for statistics in page_statistics[:-1]:
        if statistics.rows != _FULL_ROWS and max(statistics.page.header[2], statistics.text_bytes) < _FULL_BYTES:
            yield "pages that end early"
            break
    yield from _false_entries(chunk, reading)
    if 4 in chunk and not _is_offset_index(_read_index(file, chunk[4], chunk[5], OFFSET_INDEX), leaf, page_statistics):
        yield "an index of other pages"
    if 6 in chunk and not _is_column_index(_read_index(file, chunk[6], chunk[7], COLUMN_INDEX), leaf, page_statistics):
        yield "an index of other values"
    if 14 in column and not _is_filter(file, column, entries):
        yield "a filter of other values"


def walk_pages(file: IO[bytes], column: Fields) -> list[Page]:
    """Return a chunk's pages, of which each begins where another ends."""
    first = at = _start(column)
    pages = []
    while at < first + column[7]:
        file.seek(at)
        header, size = read_struct(file.read(_LONGEST_HEADER), PAGE)
        if header[3] <= 0:
            raise FooterError
        pages.append(Page(header, at + size, at + size + header[3]))
        at = pages[-1].end
    if at != first + column[7]:
        raise FooterError
    return pages


class ChunkReading:
    """Read a chunk's pages one after the other, and note what its figures should say."""

    def __init__(self, leaf: Leaf, by_spark: bool) -> None:
        """Begin with the first page of a chunk of this column."""
        self.leaf, self.by_spark = leaf, by_spark
        self.entries: Values | None = None  # of the chunk's dictionary
        self.pages: list[Page] = []
        self.page_statistics: list[PageStatistics] = []
        self._levels_read = sha256(), sha256()
        self._used = -1  # entries are numbered as they are first used: the last number so far
        self._lengths: Numbers = np.zeros(0, np.int64)

    def read(self, page: Page, data: bytes) -> None:
        """Read a page; raise PageError or FooterError where it is none of a table's."""
        header, physical_type = page.header, self.leaf.element[1]
        self.pages.append(page)
        if header[1] == DICTIONARY_PAGE and self.entries is None and not self.page_statistics and 5 not in header:
            page_header = header[7]
            encoding = PLAIN_DICTIONARY if self.by_spark else PLAIN
            if (
                page_header[2] != encoding
                or page_header.get(3)
                or physical_type not in _DICTIONARY_TYPES
                or not 0 < page_header[1] <= _MOST_VALUES
            ):
                raise FooterError
            self.entries = self._plain(data, page_header[1])
            unique = set(self.entries) if isinstance(self.entries, list) else np.unique(_as_bits(self.entries))
            if len(unique) != len(self.entries):
                raise PageError("a dictionary that says a value twice")
            if physical_type == BYTE_ARRAY:
                self._lengths = np.array([len(entry) for entry in self.entries], np.int64)
        elif header[1] == DATA_PAGE and 7 not in header:
            self._read_values(page, data)
        else:
            raise FooterError

    @property
    def structure(self) -> tuple[bytes, bytes]:
        """Return what is equal in all parts of a nested column: where lists begin and end, and which are missing."""
        repeated, defined = self._levels_read
        return repeated.digest(), defined.digest()

    def close(self) -> None:
        """Raise PageError where the dictionary has an entry that no value uses."""
        if self.entries is not None and self._used + 1 != len(self.entries):
            raise PageError("entries of a dictionary that no row has")

    def _read_values(self, page: Page, data: bytes) -> None:
        leaf, page_header = self.leaf, page.header[5]
        count = page_header[1]
        level_encoding = BIT_PACKED if self.by_spark and not leaf.repetition else RLE
        if not 0 < count <= _MOST_VALUES or page_header[3] != (
            RLE if leaf.definition or not self.by_spark else BIT_PACKED
        ):
            raise FooterError
        if page_header[4] != level_encoding:
            raise FooterError
        repetition, data = self._levels(data, leaf.repetition, count)
        definition, data = self._levels(data, leaf.definition, count)
        if leaf.repetition:
            shared = leaf.definition - (leaf.element[3] != REQUIRED)
            for levels, digest in zip((repetition, np.minimum(definition, shared)), self._levels_read, strict=True):
                digest.update(levels.astype(np.uint8).tobytes())
        present = int((definition == leaf.definition).sum()) if leaf.definition else count
        values: Values
        if page_header[2] == PLAIN:
            values = self._plain(data, present)
            text_bytes = sum(map(len, values)) if leaf.element[1] == BYTE_ARRAY else 0
        elif page_header[2] in (PLAIN_DICTIONARY, RLE_DICTIONARY) and self.entries is not None:
            numbers = self._numbers(data, present)
            text_bytes = int(self._lengths[numbers].sum()) if leaf.element[1] == BYTE_ARRAY else 0
            used = np.flatnonzero(np.bincount(numbers, minlength=len(self.entries)))
            entries = self.entries
            values = [entries[place] for place in used] if isinstance(entries, list) else entries[used]
        else:
            raise FooterError
        no_numbers = int(np.isnan(values).sum()) if leaf.element[1] in (FLOAT, DOUBLE) else 0
        if no_numbers and page_header[2] != PLAIN:
            no_numbers = int(np.isnan(self.entries[numbers]).sum())  # type: ignore[index]
        least, greatest = _extremes(values, leaf.element)
        self.page_statistics.append(
            PageStatistics(
                page=page,
                rows=int((repetition == 0).sum()) if leaf.repetition else count,
                missing=count - present,
                no_numbers=no_numbers,
                least=least,
                greatest=greatest,
                text_bytes=text_bytes,
                repetitions=[int(number) for number in np.bincount(repetition, minlength=leaf.repetition + 1)],
                definitions=[int(number) for number in np.bincount(definition, minlength=leaf.definition + 1)],
            )
        )

    def _levels(self, data: bytes, most: int, count: int) -> tuple[Numbers, bytes]:
        """Return how deep each value is repeated or defined, and the bytes behind that."""
        if not most:
            return np.zeros(0, np.int64), data
        end = 4 + int.from_bytes(data[:4], "little")
        if end > len(data):
            raise PageError("levels longer than their page")
        levels = decode_runs(data[4:end], most.bit_length(), count, self.by_spark)
        if levels.max() > most:
            raise PageError("levels that no value has")
        return levels, data[end:]

    def _numbers(self, data: bytes, count: int) -> Numbers:
        """Return which entry of the dictionary each value is."""
        size = 0 if self.entries is None else len(self.entries)
        if not count and not data:
            return np.zeros(0, np.int64)
        width = data[0] if data else 99
        if width > 32:
            raise PageError("entries of no dictionary")
        numbers = decode_runs(data[1:], width, count, self.by_spark)
        if count:
            if numbers.max() >= size:
                raise PageError("entries of no dictionary")
            last = np.maximum.accumulate(np.maximum(numbers, self._used))
            steps = np.diff(last, prepend=self._used)
            if steps.max() > 1:
                raise PageError("a dictionary in another order than its column's")
            self._used = int(last[-1])
        # Spark numbers with as many bits as the entries so far take, DuckDB with those of the last or of their count
        lowest = max(0, self._used).bit_length() if self.by_spark else (size - 1).bit_length()
        if not lowest <= width <= max(1, (size - self.by_spark).bit_length()):
            raise PageError("numbers wider than their dictionary")
        return numbers

    def _plain(self, data: bytes, count: int) -> Values:
        element = self.leaf.element
        values = decode_plain(data, element[1], element.get(2, 0), count)
        if isinstance(values, np.ndarray) and element[1] in (INT32, INT64) and len(values):
            lowest, highest = _range(element)
            if values.min() < lowest or values.max() > highest:
                raise PageError("numbers beyond the column's type")
            if element.get(6) in _UNSIGNED:
                values = values.view(f"<u{values.dtype.itemsize}")
        return values


def _range(element: Fields) -> tuple[int, int]:
    """Return between which stored numbers a column's whole numbers lie."""
    converted = element.get(6)
    if converted == _DECIMAL:
        return 1 - 10 ** element[8], 10 ** element[8] - 1
    if converted in _UNSIGNED and _UNSIGNED[converted] < 32:
        return 0, 2 ** _UNSIGNED[converted] - 1
    width = _SIGNED.get(converted or 0, 64)
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


def _extremes(values: Values, element: Fields) -> tuple[Any, Any]:
    """Return the least and the greatest of some values, as a column of their type orders them."""
    if isinstance(values, list):
        if not values or element.get(6) == _INTERVAL:
            return None, None
        key = _order_of(element)
        return min(values, key=key), max(values, key=key)
    numbers = values[~np.isnan(values)] if element[1] in (FLOAT, DOUBLE) else values
    return (numbers.min(), numbers.max()) if len(numbers) else (None, None)


def _order_of(element: Fields) -> Callable[[Any], Any] | None:
    """Return what values are compared by, where it is not themselves: bytes that are numbers."""
    return partial(int.from_bytes, byteorder="big", signed=True) if (element[1], element.get(6)) == _DECIMALS else None


def _as_bits(numbers: Numbers) -> Numbers:
    return numbers.view(f"<u{numbers.dtype.itemsize}")


def _false_entries(chunk: Fields, reading: ChunkReading) -> Iterator[str]:
    """Say where a chunk's figures are not those of its pages: each may be left out, and none may say something else."""
    column, leaf, pages = chunk[3], reading.leaf, reading.pages
    page_statistics, entries = reading.page_statistics, reading.entries
    data_pages = [page.page for page in page_statistics]
    # Spark names those of levels as well
    unsaid = not column[2] and leaf.element.get(6) == _INTERVAL  # as DuckDB 1 writes it
    used = {page.header[5][number] for page in data_pages for number in ((2, 3, 4) if reading.by_spark else (2,))}
    starts = [_start(column), *(page.end for page in pages[:-1])]
    headers = sum(page.start - start for page, start in zip(pages, starts, strict=True))
    encodings = [(DICTIONARY_PAGE, pages[0].header[7][2], 1)] if entries is not None else []
    of_pages = [page.header[5][2] for page in data_pages]
    encodings += [(DATA_PAGE, encoding, of_pages.count(encoding)) for encoding in dict.fromkeys(of_pages)]
    expected: Fields = {
        1: leaf.element[1],
        3: leaf.path,
        4: ZSTD,
        5: sum(page.header[5][1] for page in data_pages),
        6: sum(page.header[2] for page in pages) + headers,
        7: sum(page.header[3] for page in pages) + headers,
        9: starts[len(pages) - len(data_pages)],
        11: starts[0] if entries is not None else None,
    }
    wrong = any(expected[number] != column[number] for number in expected if number in column)
    wrong = wrong or (sorted(column[2]) != sorted(used) and not unsaid)
    claimed_encodings = sorted((each.get(1), each.get(2), each.get(3)) for each in column.get(13, ()))
    wrong = wrong or (13 in column and claimed_encodings != sorted(encodings))
    wrong = wrong or chunk.get(2, 0) not in (0, starts[0])
    if wrong:
        yield "figures of other pages"
    if not _are_statistics(
        column.get(12, {}), leaf.element, page_statistics, None if entries is None else len(entries)
    ):
        yield "statistics of other values"
    sizes = {1: sum(page.text_bytes for page in page_statistics)} if leaf.element[1] == BYTE_ARRAY else {}
    histograms = zip(*((page.repetitions, page.definitions) for page in page_statistics), strict=True)
    sizes |= {number: _summed(listed) for number, listed in enumerate(histograms, 2)}  # type: ignore[misc]
    if any(sizes.get(number) != value for number, value in column.get(16, {}).items()):
        yield "sizes of other values"


def _start(column: Fields) -> int:
    return min(int(column[number]) for number in (9, 11) if number in column)


def _summed(histograms: Sequence[Sequence[int]]) -> list[int]:
    return [sum(each) for each in zip(*histograms, strict=True)]


def _are_statistics(statistics: Fields, element: Fields, pages: Sequence[PageStatistics], entries: int | None) -> bool:
    key = _order_of(element)
    least = min((page.least for page in pages if page.least is not None), key=key, default=None)
    greatest = max((page.greatest for page in pages if page.greatest is not None), key=key, default=None)
    missing, no_numbers = sum(page.missing for page in pages), sum(page.no_numbers for page in pages)
    return all(
        (
            all(
                _is_extreme(statistics[number], greatest, True, no_numbers) for number in (1, 5) if number in statistics
            ),
            all(_is_extreme(statistics[number], least, False, no_numbers) for number in (2, 6) if number in statistics),
            statistics.get(3, missing) == missing,
            4 not in statistics or statistics[4] == entries,
            statistics.get(9, no_numbers) == no_numbers,
        )
    )


def _is_extreme(extreme: bytes, value: Any, greatest: bool, no_numbers: int = 0) -> bool:
    """Tell whether statistics give a column's least or greatest value, or the beginning of a long text."""
    if value is None and not no_numbers:
        return False
    if isinstance(value, bytes):
        if extreme == value or len(value) <= len(extreme) or len(extreme) not in _CUT_TEXTS:
            return extreme == value
        head = value[: len(extreme)]
        return extreme in _next_texts(head) if greatest else extreme == head
    if value is None or np.issubdtype(type(value), np.floating):
        size = len(extreme)
        if size not in (4, 8) or (value is not None and size != value.itemsize):
            return False
        (number,) = struct.unpack("<f" if size == 4 else "<d", extreme)
        # a processor's zero may have a sign, and engines put what is no number behind the numbers or leave it out
        return bool(number == value) or (no_numbers > 0 and math.isnan(number) and _is_no_number(extreme))
    return bool(extreme == value.tobytes())


def _next_texts(text: bytes) -> set[bytes]:
    """Return the texts that say of longer ones that they come before it: the last byte or letter is the next one."""
    following = {text[:-1] + bytes([text[-1] + 1])} if text[-1] < 255 else set()
    with suppress(ValueError):
        letters = text.decode()
        following.add((letters[:-1] + chr(ord(letters[-1]) + 1)).encode())
    return following


def _is_no_number(data: bytes) -> bool:
    try:
        decode_plain(data, FLOAT if len(data) == 4 else DOUBLE, 0, 1)
    except PageError:
        return False
    return True


def _read_index(file: IO[bytes], start: int, length: int, layout: Any) -> Fields:
    file.seek(start)
    fields, used = read_struct(file.read(length), layout)
    if used != length:
        raise FooterError
    return fields


def _is_offset_index(index: Fields, leaf: Leaf, pages: Sequence[PageStatistics]) -> bool:
    first_rows = accumulate((page.rows for page in pages[:-1]), initial=0)
    located = index[1]
    if len(located) != len(pages) or index.get(2, [page.text_bytes for page in pages]) != [
        page.text_bytes for page in pages
    ]:
        return False
    if 2 in index and leaf.element[1] != BYTE_ARRAY:
        return False
    return all(
        set(place) == {1, 2, 3}
        and place[1] + place[2] == page.page.end
        and place[1] < page.page.start < place[1] + _LONGEST_HEADER
        and place[3] == row
        for place, page, row in zip(located, pages, first_rows, strict=True)
    )


def _is_column_index(index: Fields, leaf: Leaf, pages: Sequence[PageStatistics]) -> bool:
    empty = [page.least is None and not page.no_numbers for page in pages]
    key = _order_of(leaf.element) or (lambda value: value)
    texts = leaf.element[1] == BYTE_ARRAY  # which are cut before they are compared
    extremes = zip(index[2], index[3], strict=True) if texts else ((page.least, page.greatest) for page in pages)
    bounds = [
        tuple(map(key, ends)) for ends, nothing in zip(extremes, empty, strict=True) if not nothing and None not in ends
    ]
    rises = all(bound[0] <= next_bound[0] and bound[1] <= next_bound[1] for bound, next_bound in pairwise(bounds))
    falls = all(bound[0] >= next_bound[0] and bound[1] >= next_bound[1] for bound, next_bound in pairwise(bounds))
    if index[1] != empty or not len(index[2]) == len(index[3]) == len(pages):
        return False
    if index[4] != (1 if rises else 2 if falls else 0):
        return False
    if 5 in index and index[5] != [page.missing for page in pages]:
        return False
    for number, name in ((6, "repetitions"), (7, "definitions")):
        if number in index and index[number] != [each for page in pages for each in getattr(page, name)]:
            return False
    return all(
        (not least and not greatest)
        if nothing
        else (_is_extreme(least, page.least, False, page.no_numbers))
        and _is_extreme(greatest, page.greatest, True, page.no_numbers)
        for least, greatest, page, nothing in zip(index[2], index[3], pages, empty, strict=True)
    )


def _is_filter(file: IO[bytes], column: Fields, entries: Values | None) -> bool:
    file.seek(column[14])
    data = file.read(column[15])
    header, used = read_struct(data, BLOOM_FILTER)
    size = len(data) - used
    if entries is None or header[1] != size or set(header) != {1, 2, 3, 4} or size % 32 or size & (size - 1):
        return False
    values = entries if isinstance(entries, list) else [entry.tobytes() for entry in entries]
    return size <= max(32, 64 * len(entries)) and data[used:] == make_filter(values, size)
