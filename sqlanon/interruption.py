"""Ctrl-C, SIGTERM and SIGHUP end a command with one line, and never in the middle of a commit.

Schedulers send SIGTERM, and a closing terminal sends SIGHUP. Only the command line handles signals; a Python program
that calls sqlanon decides for itself.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any
from weakref import WeakSet

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):  # Windows has none
    WORDS[signal.SIGHUP] = "hung up"


@dataclass
class _State:
    """number: the signal that came. held: whether it waits. publishing, visible: what becomes of a release."""

    number: int | None = None
    held: bool = False
    publishing: bool = False
    visible: bool = False
    watcher: threading.Thread | None = None
    waker: int | None = None  # what the watcher hears


_state = _State()


interruptible: "WeakSet[Any]" = WeakSet()  # connections that are open, whose `interrupt` ends the query that runs


def handle_signals() -> None:
    """Let these signals end this process's command from now on."""
    # Python's own handlers run between two of its steps, and a query is one step that may take hours
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _state.waker = writer
    _state.watcher = threading.Thread(target=_interrupt_queries, args=[reader], daemon=True)
    _state.watcher.start()
    for number in WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it, and a shell's script in the background
            signal.signal(number, _note)


def _interrupt_queries(heard: int) -> None:
    """Wait for a signal that ends the command; end queries until the main thread has heard of it."""
    while os.read(heard, 1)[0] not in WORDS:
        pass
    while _state.number is None:
        if not _state.held:
            _interrupt()
        time.sleep(0.05)


def _interrupt() -> None:
    for connection in list(interruptible):
        connection.interrupt()


def _note(number: int, frame: FrameType | None) -> None:
    """Note a signal and interrupt what runs; a second one must not interrupt the cleaning up."""
    for each in WORDS:
        signal.signal(each, signal.SIG_IGN)
    _state.number = number
    if not _state.held:
        # the engine may let this handler run inside a query, and waits for the query's other threads before it lets the
        # exception through: they end where they find the query interrupted
        _interrupt()
        raise KeyboardInterrupt


@contextmanager
def visible_or_not() -> Iterator[None]:
    """Let a release inside appear, or not: from `hold_back` on a signal waits until the block has ended."""
    _state.publishing, _state.visible = True, False
    try:
        yield
        has_appeared()
    finally:
        _state.held = False
    if _state.number is not None:
        raise KeyboardInterrupt


def hold_back() -> None:
    """Let signals wait: what follows makes a release visible."""
    _state.held = True


def has_appeared() -> bool:
    """Note that a release which was held back for is visible now; tell whether one that outlives the session is."""
    _state.visible = _state.visible or _state.held
    return _state.visible


def is_held_back() -> bool:
    """Tell whether a release is being made visible, which nothing interrupts."""
    return _state.held


def ended_by() -> tuple[int, str] | None:
    """Return the exit code and the words of a command that a signal has ended, None where none came."""
    if _state.number is None:
        return None
    if _state.watcher is not None and _state.waker is not None:
        os.write(_state.waker, bytes([_state.number]))  # a server's loop may have heard the signal in its place
        _state.watcher.join()  # it must not be inside a connection when the process ends
    word = WORDS[signal.Signals(_state.number)]
    if _state.publishing:
        word += "; the release has been published and stands" if _state.visible else "; nothing was published"
    return 128 + _state.number, word
