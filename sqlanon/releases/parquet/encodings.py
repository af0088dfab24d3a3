"""Decode the values of Parquet pages, and refuse any encoding that our writers would not have produced.

A page encodes its values in runs, which may be cut anywhere, padded with anything and followed by anything: readers do
not look. Here the bytes must be those that DuckDB or Spark writes for the values; otherwise PageError says what they
are. https://parquet.apache.org/docs/file-format/data-pages/encodings/

The Bloom filter that a file should have for its values is made in the same way: blocks of 256 bits, of which the hash
of a value sets eight. https://parquet.apache.org/docs/file-format/bloomfilter/
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.releases.parquet.layouts import BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED, FLOAT, INT32, INT64
from sqlanon.releases.parquet.thrift import read_varint

Numbers = npt.NDArray[Any]
_PLAIN_TYPES = {INT32: "<i4", INT64: "<i8", FLOAT: "<f4", DOUBLE: "<f8"}
# the bits of "no number" as processors and engines make it; the others of its bits could hold anything
_NO_NUMBER = {4: (0x7FC00000, 0xFFC00000), 8: (0x7FF8000000000000, 0xFFF8000000000000)}
_LEAST_RUN = {False: 4, True: 8}  # values that are written as one with their number, by DuckDB and by Spark
_DUCKDB_BLOCK, _SPARK_BLOCK = 8 * 32, 8 * 63  # most values that are packed side by side


class PageError(ValueError):
    """A page holds something beside its values; the text says what."""


def decode_runs(data: bytes, width: int, count: int, by_spark: bool) -> Numbers:
    """Return so many numbers of so many bits, written as runs of one number and as packed groups of eight."""
    lengths: list[int] = []
    values: list[int] = []  # of a run; -1 for packed groups
    packed: list[bytes] = []
    at = written = 0
    size = (width + 7) // 8
    while written < count:
        head, at = read_varint(data, at)
        if head & 1:
            stop = at + (head >> 1) * width
            packed.append(data[at:stop])
            lengths.append((head >> 1) * 8)
            values.append(-1)
        else:
            stop = at + size
            lengths.append(head >> 1)
            values.append(int.from_bytes(data[at:stop], "little"))
        at, written = stop, written + lengths[-1]
        if not head >> 1 or stop > len(data) or written > count + _DUCKDB_BLOCK:
            raise PageError("runs of other lengths than its values have")
    if at != len(data):
        raise PageError("bytes behind its values")
    run_lengths, run_values = np.array(lengths, np.int64), np.array(values, np.int64)
    if (run_values >> width).max(initial=0) > 0:
        raise PageError("runs of numbers too long")
    numbers = np.repeat(run_values, run_lengths)
    numbers[np.repeat(run_values < 0, run_lengths)] = _unpack_bits(b"".join(packed), width) if width else 0
    padding = numbers[count:]
    usual = np.zeros_like(padding)
    if not by_spark and len(packed) > 1 and lengths[-1] == _DUCKDB_BLOCK:
        # DuckDB leaves what it packed before, in the same place: numbers of the page
        block = np.flatnonzero(run_values < 0)[-2]
        end = int(run_lengths[: block + 1].sum())
        usual = numbers[max(0, end - len(padding)) : end]
    if not np.array_equal(padding, usual) or (values and values[-1] >= 0 and written != count):
        raise PageError("padding that holds something")
    _check_runs(numbers, run_lengths, run_values < 0, count, by_spark)
    return numbers[:count]


def _unpack_bits(data: bytes, width: int) -> Numbers:
    """Return numbers of so many bits, eight of which take `width` bytes, the lowest bits first."""
    groups = np.frombuffer(data, np.uint8).reshape(-1, width)
    wide = np.zeros((len(groups), width + 8), np.uint64)
    wide[:, :width] = groups
    numbers = np.empty((len(groups), 8), np.int64)
    for place in range(8):
        first, shift = divmod(place * width, 8)
        number = wide[:, first].copy()
        for byte in range(1, (shift + width + 7) // 8):
            number |= wide[:, first + byte] << np.uint64(8 * byte)
        numbers[:, place] = (number >> np.uint64(shift)) & np.uint64((1 << width) - 1)
    return numbers.reshape(-1)


def _check_runs(numbers: Numbers, lengths: Numbers, packed: npt.NDArray[np.bool_], count: int, by_spark: bool) -> None:
    """Raise PageError where values are not cut into runs as our writers cut them: where a run ends could tell anything.

    Both write a run where the next values are alike (4 in DuckDB, 8 in Spark) as far as it goes. What is not alike
    DuckDB packs 256 at once, and Spark eight at once, as long as no run begins.
    """
    starts = np.cumsum(lengths) - lengths
    ends = np.minimum(starts + lengths, count)
    inner = ~packed & (ends < count)
    sound = not (numbers[starts[inner]] == numbers[ends[inner]]).any()
    least = _LEAST_RUN[by_spark]
    if by_spark:
        sound = sound and not (lengths[~packed] < least).any()
        full = lengths == _SPARK_BLOCK
        sound = sound and not (lengths[packed] > _SPARK_BLOCK).any()
        # packed groups follow one another where no more go together
        sound = sound and bool((full | ~packed)[:-1][packed[1:]].all())
        mask = np.repeat(packed, lengths)
        groups = numbers[mask][: int(mask[:count].sum()) // 8 * 8].reshape(-1, 8)
        sound = sound and not (groups == groups[:, :1]).all(axis=1).any()
    else:
        sound = sound and not (lengths[~packed & (ends < count)] < least).any()
        sound = sound and bool((lengths[packed] == _DUCKDB_BLOCK).all())
        first = starts[packed & (starts + least <= count)]
        alike = np.ones(len(first), bool)
        for place in range(1, least):
            alike &= numbers[first] == numbers[first + place]
        sound = sound and not alike.any()
    if not sound:
        raise PageError("runs that are cut otherwise")


def decode_plain(data: bytes, physical_type: int, length: int, count: int) -> Numbers | list[bytes]:
    """Return so many values of a physical type, written one behind the other; length: of a type of a fixed length."""
    if physical_type == BYTE_ARRAY:
        return _split_texts(data, count)
    if physical_type == BOOLEAN:
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        if len(data) != (count + 7) // 8 or bits[count:].any():
            raise PageError("padding that holds something")
        return bits[:count]
    size = length if physical_type == FIXED else np.dtype(_PLAIN_TYPES[physical_type]).itemsize
    if len(data) != size * count:
        raise PageError("bytes behind its values")
    if physical_type == FIXED:
        return [data[start : start + size] for start in range(0, len(data), size)]
    values = np.frombuffer(data, _PLAIN_TYPES[physical_type])
    if physical_type in (FLOAT, DOUBLE):
        bits = values.view(f"<u{size}")[np.isnan(values)]
        if not any((bits == usual).all() for usual in _NO_NUMBER[size]):
            raise PageError("bits in what is no number")
    return values


def _split_texts(data: bytes, count: int) -> list[bytes]:
    """Return texts that stand one behind the other, each after its length."""
    ends = [0]
    at, size, number = 0, len(data), int.from_bytes
    for _ in range(count):
        at += 4 + number(data[at : at + 4], "little")
        ends.append(at)
        if at > size:
            raise PageError("texts longer than their page")
    if at != size:
        raise PageError("bytes behind its values")
    return [data[start + 4 : end] for start, end in pairwise(ends)]


Hashes = npt.NDArray[np.uint64]
# https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, XXH64
_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH = (
    np.uint64(prime)
    for prime in (
        *(0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63),
        0x27D4EB2F165667C5,
    )
)
_SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def make_filter(values: Sequence[bytes], size: int) -> bytes:
    """Return the filter of so many bytes that holds these values and no other."""
    blocks = np.zeros((size // 32, 8), np.uint32)
    by_length: dict[int, list[bytes]] = {}
    for value in values:
        by_length.setdefault(len(value), []).append(value)
    for length, alike in by_length.items():
        hashes = hash_values(np.frombuffer(b"".join(alike), np.uint8).reshape(len(alike), length))
        block = (hashes >> np.uint64(32)) * np.uint64(len(blocks)) >> np.uint64(32)
        for place, salt in enumerate(_SALTS):
            bit = (hashes.astype(np.uint32) * np.uint32(salt)) >> np.uint32(27)
            np.bitwise_or.at(blocks[:, place], block.astype(np.int64), np.uint32(1) << bit)
    return blocks.astype("<u4").tobytes()


def hash_values(values: npt.NDArray[np.uint8]) -> Hashes:
    """Return XXH64 of each row of bytes."""
    count, length = values.shape
    words = np.ascontiguousarray(values[:, : length // 8 * 8]).view("<u8").reshape(count, -1)
    at = 0
    with np.errstate(over="ignore"):
        if length < 32:
            hashes = np.full(count, _FIFTH)
        else:
            seeds = (_FIRST + _SECOND, _SECOND, np.uint64(0), np.uint64(0) - _FIRST)
            lanes = [np.full(count, seed) for seed in seeds]
            while length - at >= 32:
                lanes = [_round(lane, words[:, at // 8 + place]) for place, lane in enumerate(lanes)]
                at += 32
            hashes = sum(map(_turn, lanes, (1, 7, 12, 18)), np.zeros(count, np.uint64))
            for lane in lanes:
                hashes = (hashes ^ _round(np.zeros(count, np.uint64), lane)) * _FIRST + _FOURTH
        hashes = hashes + np.uint64(length)
        for place in range(at // 8, length // 8):
            hashes = _turn(hashes ^ _round(np.zeros(count, np.uint64), words[:, place]), 27) * _FIRST + _FOURTH
        at = length // 8 * 8
        if length - at >= 4:
            half = np.ascontiguousarray(values[:, at : at + 4]).view("<u4").reshape(count).astype(np.uint64)
            hashes = _turn(hashes ^ half * _FIRST, 23) * _SECOND + _THIRD
            at += 4
        for place in range(at, length):
            hashes = _turn(hashes ^ values[:, place].astype(np.uint64) * _FIFTH, 11) * _FIRST
        hashes = (hashes ^ hashes >> np.uint64(33)) * _SECOND
        hashes = (hashes ^ hashes >> np.uint64(29)) * _THIRD
    return hashes ^ hashes >> np.uint64(32)


def _round(lane: Hashes, word: Hashes) -> Hashes:
    return _turn(lane + word * _SECOND, 31) * _FIRST


def _turn(numbers: Hashes, places: int) -> Hashes:
    return numbers << np.uint64(places) | numbers >> np.uint64(64 - places)
