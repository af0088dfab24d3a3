"""What 0.3.0 removed, by what was typed, and what to type instead: refused in one line for this version."""

from sqlanon.errors import UsageError

_BOUNDS = "leave it out: certified bounds are given (note 'bounds'), and few rows are counted exactly"
REMOVED = {"breach --samples": _BOUNDS, "breach --seed": _BOUNDS}


def refuse_removed(words: str) -> None:
    """Raise UsageError where a verb (and its method) with an option, as in `breach --samples`, was removed."""
    if words in REMOVED:
        raise UsageError(f"{words!r} was removed in 0.3.0; {REMOVED[words]}")
