"""One thing is made ahead, in order; what its making raises is raised where it would have come."""

from collections.abc import Iterator
from threading import Event

import pytest

from sqlanon.estimation.made_ahead import cut, make_ahead


def test_the_next_is_made_while_one_is_worked_with() -> None:
    begun = {number: Event() for number in range(4)}

    def make() -> Iterator[int | None]:
        for number, event in begun.items():
            event.set()
            yield number or None  # nothing is a thing, too

    seen = []
    for place, thing in enumerate(make_ahead(make())):
        assert place == 3 or begun[place + 1].wait(10), "the next waits for the one before"
        seen.append(thing)
    assert seen == [None, 1, 2, 3]


def test_what_fails_is_raised_after_what_was_made_before() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise ValueError("the second")

    ahead = make_ahead(make())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second"):
        next(ahead)


def test_things_are_cut_into_equal_lists() -> None:
    assert list(cut(range(5), 2)) == [[0, 1], [2, 3], [4]]
