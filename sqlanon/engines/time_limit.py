"""Let a question end after a time: the engine is interrupted from beside, whatever it runs."""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlanon.errors import ResourceError, SqlanonError, UsageError
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

LONGEST = 600.0  # seconds that a query may take if nothing is said
AGAIN = 0.05  # seconds after which the engine is interrupted again, for it may have been between two statements


@contextmanager
def time_limit(engine: "Engine", seconds: float) -> Iterator[None]:
    """Interrupt what the engine runs inside after so many seconds, and raise ResourceError.

    Raises UsageError where the number is not positive; infinity is no limit.
    """
    if not seconds > 0:
        raise UsageError(f"{option('timeout', seconds)} is no time; give seconds, more than 0")
    if math.isinf(seconds):
        yield
        return
    ended, expired = threading.Event(), threading.Event()

    def watch(interrupt: Callable[[], None]) -> None:
        if not ended.wait(min(seconds, threading.TIMEOUT_MAX)):
            expired.set()
            interrupt()
            while not ended.wait(AGAIN):
                interrupt()

    with engine.interruptible() as interrupt:
        watcher = threading.Thread(target=watch, args=[interrupt], name="sqlanon time limit", daemon=True)
        watcher.start()
        try:
            yield
        except SqlanonError:
            if not expired.is_set():
                raise
            raise ResourceError(
                f"the query took more than {seconds:g} seconds and was interrupted; ask for less at once, or raise"
                f" {option('timeout')}"
            ) from None
        finally:
            ended.set()
            watcher.join()
