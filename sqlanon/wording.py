"""How a message names an option: as the command line writes it, or as Python does.

A message is written once, with marks where it names options; `spoken` puts them into words when it is shown. The marks
are private characters, which no terminal prints, so that nothing of a user's can be taken for one.
"""

import re
from typing import Literal

Speech = Literal["python", "command line", "macro"]

_MARK = re.compile("\ue000([^\ue001\ue002]*)\ue001([^\ue001\ue002]*)\ue001([^\ue002]*)\ue002")
_speech: Speech = "python"


def option(name: str, value: object = "", flag: str = "") -> str:
    """Return the mark of an option: its name in Python, a value to give, its flag if that is not `--name`.

    value: True for an option that is a switch; words in capitals (`FILE`) stand for what the user fills in.
    """
    return f"\ue000{name}\ue001{flag}\ue001{value}\ue002"


def speak(speech: Speech) -> None:
    """Let every message of this process be worded for the command line, or for Python."""
    global _speech  # noqa: PLW0603 - a process is either a command line or a caller's own
    _speech = speech


def spoken(text: str, speech: Speech | None = None) -> str:
    """Return a message with its marks in words: `--nulls value`, `nulls="value"` or `nulls := 'value'`."""
    how = speech or _speech
    return _MARK.sub(lambda mark: _worded(mark[1], mark[2], mark[3], how), text)


def _worded(name: str, flag: str, value: str, speech: Speech) -> str:
    if speech == "command line":
        words = flag or f"--{name.replace('_', '-')}"
        return f"{words} {value}" if value not in ("", "True") else words
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
