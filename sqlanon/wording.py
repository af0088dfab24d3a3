"""How a message names an option: as the command line writes it, or as Python does; and what recipients must not read.

A message is written once, with marks where it names options or advises the publisher; `spoken` replaces them when it is
shown. The marks are private-use characters, which no terminal prints, so that no text of a user's can be mistaken for
one.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

STEP = logging.INFO + 1  # what is logged of a long run, and worth a line where no wheel turns
Speech = Literal["python", "command line", "macro", "recipient"]

_MARK = re.compile("\ue000([^\ue001\ue002]*)\ue001([^\ue001\ue002]*)\ue001([^\ue002]*)\ue002")
_SINGLE = re.compile(
    r"(?<![\w.,'])1 (row|group|person|value|column|table|cluster|signature|box)(?:e?s)\b(?! of ')( [a-z]+)?\b"
)
_VERBS = {" are": " is", " have": " has", " do": " does", " wait": " waits", " find": " finds", " were": " was"}
_ADVICE = re.compile("\ue003([^\ue004]*)\ue004")
_speech: Speech = "python"


@contextmanager
def heard(level: int, tell: Callable[[str], object]) -> Iterator[None]:
    """Tell what is logged in the block, from a level on."""
    log, handler = logging.getLogger("sqlanon"), logging.Handler(level)
    handler.emit = lambda record: tell(record.getMessage())  # type: ignore[assignment,method-assign]
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def option(name: str, value: object = "", flag: str = "") -> str:
    """Return the mark of an option: its name in Python, a value to give, its flag if that is not `--name`.

    value: True for an option that is a switch; words in capitals (`FILE`) stand for what the user fills in.
    """
    return f"\ue000{name}\ue001{flag}\ue001{value}\ue002"


def advice(text: str) -> str:
    """Return the mark of what a publisher may do, which whoever receives a release cannot."""
    return f"\ue003{text}\ue004"


def speak(speech: Speech) -> None:
    """Let every message of this process be worded for the command line, or for Python."""
    global _speech  # noqa: PLW0603 - a process is either a command line or a caller's own
    _speech = speech


def spoken(text: str, speech: Speech | None = None) -> str:
    """Return a message with its marks in words and one of anything in the singular."""
    return _SINGLE.sub(
        lambda match: f"1 {match[1]}{_VERBS.get(match[2] or '', match[2] or '')}", word_marks(text, speech)
    )


def word_marks(text: str, speech: Speech | None = None) -> str:
    """Return a message with its marks in words: `--nulls value`, `nulls="value"` or `nulls := 'value'`."""
    how = speech or _speech
    text = _ADVICE.sub("" if how == "recipient" else r"\1", text)
    return _MARK.sub(lambda mark: _worded(mark[1], mark[2], mark[3], how), text)


def _worded(name: str, flag: str, value: str, speech: Speech) -> str:
    if speech in ("command line", "recipient"):
        words = flag or f"--{name.replace('_', '-')}"
        quoted = f"'{value}'" if " " in value and "'" not in value else value
        return f"{words} {quoted}" if value not in ("", "True") else words
    if not value:
        return name
    if speech == "python" and "=" in value:  # one for a column: a mapping
        key, _, single = value.rpartition("=")
        return f"{name}={{{key!r}: {single}}}"
    quote = "" if value == "True" or value.isupper() or _is_number(value) else '"' if speech == "python" else "'"
    return f"{name}{'=' if speech == 'python' else ' := '}{quote}{value}{quote}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


LEAST_LIKE = 0.6  # of the measure of difflib, in which 1 is equal
LEAST_SHARED = 3  # letters that one text must share with another that holds it


def find_near(text: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known texts that are most like `text`, the likest first: equal but for case and spaces, then spelling.

    A text that begins with a known one, or holds it, or stands in it, is like it too ('Female' and 'F').
    """
    folded_text = _fold(text)
    if not folded_text:
        return []
    scored = sorted((-_score(folded_text, _fold(candidate)), candidate) for candidate in known)
    return [candidate for score, candidate in scored[:most] if -score >= LEAST_LIKE]


def _score(text: str, other: str) -> float:
    """Return how like two folded texts are, 0 to 1."""
    if text == other:
        return 1.0
    import difflib  # not for those who type well

    likeness = difflib.SequenceMatcher(None, text, other).ratio()
    short, long = sorted((text, other), key=len)
    if short and (long.startswith(short) or (len(short) >= LEAST_SHARED and short in long)):
        return max(likeness, LEAST_LIKE)
    return likeness


def _fold(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
