"""Take things from an iterator some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def cut(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield so many at a time, fewer at the end."""
    waiting = iter(things)
    while some := list(islice(waiting, size)):
        yield some
