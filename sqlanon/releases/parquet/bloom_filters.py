"""Compute the Bloom filter that a Parquet file should have for its values; any other could hide something.

https://parquet.apache.org/docs/file-format/bloomfilter/: blocks of 256 bits, of which a value's hash sets eight.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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
