"""Compute the next item in a thread while the caller works with the current one."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def make_ahead(things: Iterable[T]) -> Iterator[T]:
    """Yield what an iterator makes, one ahead: worth it where one side waits for an engine or counts in numpy.

    What it raises is raised where the thing would have been yielded.
    """
    one_by_one = cut(things, 1)

    def make() -> list[T]:
        return next(one_by_one, [])

    with ThreadPoolExecutor(1, "sqlanon makes ahead") as maker:
        future = maker.submit(make)
        while some := future.result():
            future = maker.submit(make)
            yield from some


def cut(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield so many at a time, fewer at the end."""
    waiting = iter(things)
    while some := list(islice(waiting, size)):
        yield some
