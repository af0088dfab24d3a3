"""One test of a fact about many small things, where a test each would cost more than what it looks at."""

from collections.abc import Callable, Iterable
from typing import Any


def each(things: Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make a test of a function of one thing: it fails with everything of which the fact does not hold."""
    every = list(things)
    assert every, "a fact about nothing always holds"

    def decorate(fact: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            faults = []
            for thing in every:
                try:
                    fact(thing)
                except Exception as fault:
                    faults.append(f"{thing}: {type(fault).__name__}: {fault}")
            assert not faults, f"{len(faults)} of {len(every)}\n" + "\n".join(faults)

        test.__name__, test.__doc__, test.__module__ = fact.__name__, fact.__doc__, fact.__module__
        return test

    return decorate
