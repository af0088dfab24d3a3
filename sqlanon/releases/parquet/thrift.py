"""Read and write Thrift's compact protocol field by field, to find what no reader of a file's rows would show.

A library returns the fields that it knows. Here every byte must be part of a field that our writers use, written as
they write it: bytes left over, another spelling or another type could hide something.
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from collections.abc import Iterator
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
BOOL = TRUE
Fields = dict[int, Any]  # a struct's values by the numbers of its fields
Layout = dict[int, Any]  # the types of a struct's fields: a number above, a list of one type, or a struct's layout


class FooterError(ValueError):
    """The bytes are no struct of a Parquet file."""


class ForeignFieldError(FooterError):
    """A struct holds a field that no table of ours has, or one in another writing than our writers'."""


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
        value, self.at = read_varint(self.data, self.at)
        return value

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def value(self, wire_type: int, layout: Any) -> Any:
        if wire_type != _wire_type_of(layout) and not (layout == BOOL and wire_type == FALSE):
            raise ForeignFieldError
        if isinstance(layout, dict):
            return self.fields(layout)
        if isinstance(layout, list):
            return list(self.members(layout[0]))
        if layout == BOOL:
            return wire_type == TRUE
        if layout == BYTE:
            return self.take(1)[0]
        return self.take(self.number()) if layout == BINARY else self.signed()

    def members(self, layout: Any) -> Iterator[Any]:
        head = self.take(1)[0]
        count, wire_type = head >> 4, head & 0x0F
        if count == 15:
            count = self.number()
            if count < 15:
                raise ForeignFieldError
        if count > len(self.data):  # a member takes a byte at least
            raise FooterError
        for _ in range(count):
            if layout == BOOL:  # in a list a truth value is a byte of its own
                wire_type = self.take(1)[0]
            yield self.value(wire_type, layout)

    def fields(self, layout: Layout) -> Fields:
        fields: Fields = {}
        number = 0
        while head := self.take(1)[0]:
            step = head >> 4 or self.signed() - number
            if step < 1 or (not head >> 4 and step < 16):
                raise ForeignFieldError
            number += step
            if number not in layout:
                raise ForeignFieldError
            fields[number] = self.value(head & 0x0F, layout[number])
        return fields


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number written 7 bits a byte, in as few bytes as it takes; return it and where it ends."""
    value = shift = 0
    for byte in data[at : at + 10]:
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            if not byte and shift > 7:
                raise ForeignFieldError
            return value, at
    raise FooterError


def read_struct(data: bytes, layout: Layout) -> tuple[Fields, int]:
    """Read one struct; return its fields and how many bytes it takes. Raises FooterError."""
    reader = _Reader(data)
    return reader.fields(layout), reader.at


def write_struct(fields: Fields, layout: Layout) -> bytes:
    """Write a struct in the one way in which `read_struct` reads it."""
    written, last = b"", 0
    for number, value in sorted(fields.items()):
        wire_type = FALSE if value is False else _wire_type_of(layout[number])
        step = number - last
        written += bytes([step << 4 | wire_type]) if step < 16 else bytes([wire_type]) + _varint(number << 1)
        written += b"" if layout[number] == BOOL else _written(value, layout[number])
        last = number
    return written + b"\0"


def _written(value: Any, layout: Any) -> bytes:
    if isinstance(layout, dict):
        return write_struct(value, layout)
    if isinstance(layout, list):
        wire_type, count = _wire_type_of(layout[0]), len(value)
        head = bytes([count << 4 | wire_type]) if count < 15 else bytes([0xF0 | wire_type]) + _varint(count)
        return head + b"".join(_written(member, layout[0]) for member in value)
    if layout == BOOL:
        return bytes([TRUE if value else FALSE])
    if layout == BYTE:
        return bytes([value])
    if layout == BINARY:
        return _varint(len(value)) + bytes(value)
    return _varint(value << 1 ^ value >> 63)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _wire_type_of(layout: Any) -> int:
    return STRUCT if isinstance(layout, dict) else LIST if isinstance(layout, list) else int(layout)
