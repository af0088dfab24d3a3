"""Find what somebody meant who wrote a name or a value that is not there."""

import difflib
from collections.abc import Iterable

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
    likeness = difflib.SequenceMatcher(None, text, other).ratio()
    short, long = sorted((text, other), key=len)
    if short and (long.startswith(short) or (len(short) >= LEAST_SHARED and short in long)):
        return max(likeness, LEAST_LIKE)
    return likeness


def _fold(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
