"""Runs of the page: each in a thread and an engine session of its own, which continue when the tab is closed.

A run is cancelled by interrupting its session repeatedly until its thread has ended, because one interruption may come
between two statements. The moment at which a release becomes visible is not interrupted.
"""

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import InterruptedRunError, SqlanonError
from sqlanon.interruption import is_held_back

AGAIN = 0.05  # seconds between two interruptions
# what a log's line begins with, and what that is to whoever does not know the steps; the first one that fits
GROUPS = {
    "Verifying what was written": ("checking the tables", "reading the files", "verifying", "comparing"),
    "Looking at the source": ("checking", "counting", "measuring", "asking the source"),
    "Forming groups": ("making", "turn"),
    "Writing the release": ("writing", "committing"),
    "Answering": ("answering",),
    "Reading the release": ("loading",),
    "Drawing the page": ("drawing",),
}
REST = "Attacking the release"  # whatever else is logged: the attacks have many names
CANDIDATE = re.compile(r"candidate (\d+) of (\d+).*")  # what compare says of how far it has come
log = logging.getLogger("sqlanon")


@dataclass
class Run:
    """One run of a step.

    inputs: what it is about. part: what it is at, in plain words; share: how far a run of several equal parts has come.
    cancelled: by whoever looks at the page; stopped: by a signal that ends the server.
    """

    step: str
    inputs: Any
    begun: float = field(default_factory=time.monotonic)
    part: str = "Beginning"
    share: float | None = None
    ended: float | None = None
    value: Any = None
    fault: str = ""
    cancelled: bool = False
    stopped: bool = False
    engine: Engine | None = None
    thread: threading.Thread | None = None

    @property
    def goes_on(self) -> bool:
        """Tell whether it still runs."""
        return self.ended is None

    @property
    def seconds(self) -> float:
        """Return how long it has run."""
        return (self.ended or time.monotonic()) - self.begun


class Work:
    """The runs of all steps: of each step one at a time, and of checks the latest."""

    def __init__(self, open_session: Callable[[], Engine], changed: Callable[[], None]) -> None:
        """Take what opens a session for a run, and what is told when something has changed."""
        self._open, self._changed = open_session, changed
        self.runs: dict[str, Run] = {}
        self._waiting: dict[str, tuple[Callable[[Engine], Any], Any]] = {}
        self._lock = threading.RLock()
        handler = logging.Handler(logging.INFO)  # the package's log says when a part of a run begins
        handler.emit = lambda record: self.note(record.getMessage())  # type: ignore[method-assign]
        log.addHandler(handler)
        log.setLevel(logging.INFO)

    def start(self, step: str, function: Callable[[Engine], Any], inputs: Any) -> bool:
        """Begin a run; return False where one of this step goes on, which is then left alone."""
        with self._lock:
            if self.goes_on(step):
                return False
            run = self.runs[step] = Run(step, inputs)
            run.thread = threading.Thread(target=self._run, args=[run, function], name=f"sqlanon {step}", daemon=True)
            run.thread.start()
        self._changed()
        return True

    def start_latest(self, step: str, function: Callable[[Engine], Any], inputs: Any) -> None:
        """Begin a run in the place of the one that goes on: that is interrupted, and whatever waited is forgotten."""
        with self._lock:
            if not self.start(step, function, inputs):
                self._waiting[step] = (function, inputs)
                self.cancel(step)

    def goes_on(self, step: str) -> bool:
        """Tell whether a run of a step has not ended."""
        return step in self.runs and self.runs[step].goes_on

    def cancel(self, step: str) -> None:
        """Interrupt a run until its thread has ended."""
        with self._lock:
            run = self.runs.get(step)
            if run is None or not run.goes_on or run.cancelled:
                return
            run.cancelled = True
        threading.Thread(target=_interrupt, args=[run], name=f"sqlanon cancels {step}", daemon=True).start()
        self._changed()

    def cancel_all(self, seconds: float) -> list[str]:
        """Interrupt everything and wait a while; return the steps that were running, or that the signal has stopped."""
        self._waiting.clear()
        running = [run for run in list(self.runs.values()) if run.goes_on or run.stopped]
        for run in running:
            self.cancel(run.step)
        for run in running:
            if run.thread is not None:
                run.thread.join(seconds)
        return [run.step for run in running]

    def note(self, words: str) -> None:
        """Note the part that a run has come to, by the thread that logs it."""
        thread = threading.current_thread()
        for run in list(self.runs.values()):
            if run.thread is thread and run.goes_on:
                counted = CANDIDATE.match(words)
                if counted is not None:
                    run.part, run.share = words.capitalize(), (int(counted[1]) - 1) / int(counted[2])
                elif run.share is None:
                    run.part = next((group for group, firsts in GROUPS.items() if words.startswith(firsts)), REST)
                self._changed()

    def _run(self, run: Run, function: Callable[[Engine], Any]) -> None:
        try:
            run.engine = engine = self._open()
            if not run.cancelled:
                run.value = function(engine)
        except InterruptedRunError:
            run.stopped = not run.cancelled
        except SqlanonError as error:
            run.fault = "" if run.cancelled else str(error)
        except Exception as error:  # a fault of ours must end the run, not the server; its text may hold data
            log.debug("a fault", exc_info=error)
            run.fault = "" if run.cancelled else f"a fault of sqlanon ({type(error).__name__}); nothing was changed"
        except KeyboardInterrupt:  # a signal ends the server: the release inside has not appeared
            run.stopped = True
        run.engine = None
        with self._lock:
            run.ended = time.monotonic()
            waiting = self._waiting.pop(run.step, None)
            if waiting is not None:
                self.start(run.step, *waiting)
        self._changed()


def _interrupt(run: Run) -> None:
    while run.goes_on:
        engine = run.engine
        if engine is not None and not is_held_back():
            with engine.interruptible() as interrupt:
                interrupt()
        time.sleep(AGAIN)
