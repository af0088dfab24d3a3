"""Keep OpenBLAS, which the wheels of numpy and scipy bring, from its pool of threads while systems are solved.

Our systems have some hundred unknowns: a second thread saves a millisecond where a core is free, and where none is
the threads wait for each other by spinning. On two busy cores a Cholesky factor of 529 x 529 took 130 ms of processor
time with two threads and 1.7 ms with one. Another BLAS (MKL, Accelerate) is left as it is.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import NamedTuple

LIBRARIES = ("numpy.linalg._umath_linalg", "scipy.linalg._flapack")  # each is linked with an OpenBLAS of its own
NAMES = [f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")]


class ThreadPool(NamedTuple):
    """Read and set the number of threads of one OpenBLAS."""

    threads: Callable[[], int]
    change: Callable[[int], None]


_lock = Lock()
_entered: list[
    list[tuple[ThreadPool, int]]
] = []  # of each `on_one_core` that has not ended: whom it set to 1, from what


@contextmanager
def on_one_core() -> Iterator[None]:
    """Yield while BLAS solves with one thread (a decorator, or in `with`); the last of several at once ends that."""
    with _lock:
        changed = [(pool, pool.threads()) for pool in find_pools() if pool.threads() != 1]
        for pool, _ in changed:
            pool.change(1)
        _entered.append(changed)
    try:
        yield
    finally:
        with _lock:
            left = _entered.pop()
            if _entered:
                _entered[-1] += left
            for pool, number in [] if _entered else left:
                pool.change(number)


def find_pools() -> list[ThreadPool]:
    """Return the pools of the libraries that are loaded; scipy is slow to load, and not loaded for this."""
    paths = [getattr(sys.modules.get(name), "__file__", None) for name in LIBRARIES]
    return [pool for path in paths if path and (pool := _open_pool(path))]


@cache
def _open_pool(path: str) -> ThreadPool | None:
    """Return the pool of the library that the module at `path` links; None where it is no OpenBLAS."""
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return None
    for name in NAMES:
        if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
            return ThreadPool(getattr(library, name.format("get")), getattr(library, name.format("set")))
    return None
