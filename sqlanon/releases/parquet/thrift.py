"""Read the footer of a Parquet file field by field, to find what no reader of its rows would ever show.

The footer is a struct of Thrift's compact protocol: https://github.com/apache/parquet-format, parquet.thrift. A library
returns the fields that it knows; here every field is seen, and every byte of the file is accounted for.
"""

import struct
from collections.abc import Iterator
from typing import Any

MAGIC = b"PAR1"
_DEEPEST = 40  # structs within structs: the footers of a release have 6
Fields = dict[int, Any]  # a struct's values by the numbers of its fields


class FooterError(ValueError):
    """The bytes are no footer of a Parquet file."""


class _Reader:
    """Read values of Thrift's compact protocol one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise FooterError
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self) -> int:
        """Read a number written 7 bits a byte."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise FooterError

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.take(1)[0]
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            return struct.unpack("<d", self.take(8))[0]
        if kind == 8:
            return self.take(self.number())
        if kind in (9, 10):
            return list(self.members(depth + 1))
        if kind == 12:
            return self.fields(depth + 1)
        raise FooterError

    def members(self, depth: int) -> Iterator[Any]:
        head = self.take(1)[0]
        count, kind = head >> 4, head & 0x0F
        count = self.number() if count == 15 else count
        if count > len(self.data):  # a member takes a byte at least
            raise FooterError
        for _ in range(count):  # in a list a truth value is a byte of its own
            yield self.take(1)[0] == 1 if kind in (1, 2) else self.value(kind, depth)

    def fields(self, depth: int = 0) -> Fields:
        if depth > _DEEPEST:
            raise FooterError
        found: Fields = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.signed()
            if number in found:
                raise FooterError
            found[number] = self.value(head & 0x0F, depth)
        return found


def read_struct(data: bytes) -> tuple[Fields, int]:
    """Read one struct; return its fields and how many bytes it takes. Raises FooterError."""
    reader = _Reader(data)
    return reader.fields(), reader.at
