"""The key of keyed draws: made from the operating system's randomness, or passed in without being shown."""

import hashlib
import math
import os
import re
import secrets
import string
import warnings
from dataclasses import dataclass
from pathlib import Path

from sqlanon.bounded_files import read_text
from sqlanon.errors import PrivacyWarning, UsageError

LONGEST_KEY_TEXT = 65_536  # letters of a key file that are read
LEAST_BITS = 128
LEAST_CHARACTERS = 8  # that differ: of 32 random hex digits fewer differ once in 30 million
WORD_BITS = math.log2(7776)  # of a word that dice choose from the usual list
_ALPHABETS = tuple(map(frozenset, (string.digits, string.ascii_lowercase, string.ascii_uppercase)))
_OTHERS = 33  # printable characters of ASCII that are in none of these
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_WORDS = re.compile(r"[A-Z]?[a-z]+([\s._-]+[A-Z]?[a-z]+)+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RANDOM_IN_UUID = 122  # at most: six bits are fixed, and some kinds of UUID are a time and a place


@dataclass(frozen=True, repr=False)
class Key:
    """Hold 256 bits as 64 hex digits; `repr`, logs and tracebacks never show them."""

    text: str
    given: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no key yet; `of` reads what people hand over."""
        if not (isinstance(self.text, str) and re.fullmatch(r"[0-9a-f]{64}", self.text)):
            raise UsageError("a Key holds 64 hex digits in lower case; Key.of(text) takes other texts")

    def __repr__(self) -> str:
        """Show none of it: tracebacks show the repr of locals in some tools."""
        return "<Key: 256 bits>"

    @classmethod
    def fresh(cls) -> "Key":
        """Return a key drawn from the operating system (256 bits); it is forgotten with the run."""
        return cls(secrets.token_hex(32))

    @classmethod
    def of(cls, text: str) -> "Key":
        """Return the key of a text: 64 hex digits as they are; any other text of at least 128 bits is hashed.

        Warns (PrivacyWarning) where it hashes. Raises UsageError for a text that counts fewer: whoever guesses the
        key can undo the release.
        """
        if not isinstance(text, str):
            raise UsageError(f"a key is a text of 64 hex digits, or a Key, not of type {type(text).__name__}")
        text = text.strip()
        if not text:
            raise UsageError("the key is empty; make one with: openssl rand -hex 32")
        if re.fullmatch(r"[0-9a-fA-F]{64}", text):
            return cls(text.lower(), given=True)
        if count_bits(text) < LEAST_BITS:
            raise UsageError(
                "the key can be guessed, and whoever guesses it can undo the release: it counts fewer than"
                f" {LEAST_BITS} bits (sqlanon guide verify tells how they are counted);"
                " make one with: openssl rand -hex 32"
            )
        warnings.warn(
            "the key is not 64 hex digits and was hashed; who guesses it can undo the release"
            " (make one with: openssl rand -hex 32)",
            PrivacyWarning,
            stacklevel=2,
        )
        # a command line's bytes that are no UTF-8 arrive as surrogates
        return cls(hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(), given=True)

    @classmethod
    def from_file(cls, path: str | Path) -> "Key":
        """Return the key whose text a file holds; the white space around it does not count.

        path: of a text file. Warns as `of` does. Raises UsageError where there is none, where it cannot be read or is
        no text, and as `of` does.
        """
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"a key file is named by its path, not by a value of type {type(path).__name__}")
        if not Path(path).exists():
            raise UsageError(f"no key file {str(path)!r}; make one with: openssl rand -hex 32 > FILE; chmod 600 FILE")
        try:
            return cls.of(read_text(path, LONGEST_KEY_TEXT))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"cannot read the key file {str(path)!r}: {getattr(error, 'strerror', None) or 'it is not text'}"
            ) from None


def count_bits(text: str) -> float:
    """Return how many random bits a text can hold at most, by its length and by what kinds of characters are in it.

    Words count as such, by a list of 7776; a text of few different characters counts nothing.
    """
    if len(set(text)) < LEAST_CHARACTERS:
        return 0.0
    if _UUID.fullmatch(text):
        return _RANDOM_IN_UUID
    if _WORDS.fullmatch(text):
        return len(set(re.findall(r"[a-z]+", text.lower()))) * WORD_BITS
    if _HEX.fullmatch(text) and not text.isdecimal():
        return 4.0 * len(text)
    digits, small, capitals = (bool(alphabet.intersection(text)) for alphabet in _ALPHABETS)
    others = not set(text) <= frozenset().union(*_ALPHABETS)
    # of 22 random letters and digits one text in thirty has no digit
    alphabet = 10 * (digits or (small and capitals)) + 26 * small + 26 * capitals + _OTHERS * others
    return len(text) * math.log2(alphabet)
