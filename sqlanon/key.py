"""The key of keyed draws: made from the operating system's randomness, or passed in without being shown."""

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sqlanon.bounded_files import read_text
from sqlanon.errors import UsageError

LONGEST_KEY_TEXT = 65_536  # letters of a key file that are read


class PrivacyWarning(UserWarning):
    """Warn of what was done as the user asked, and weakens the release."""


@dataclass(frozen=True, repr=False)
class Key:
    """Hold 256 bits as 64 hex digits; `repr`, logs and tracebacks never show them."""

    text: str
    given: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no key yet; `of` reads what people hand over."""
        if not re.fullmatch(r"[0-9a-f]{64}", self.text):
            raise UsageError("a Key holds 64 hex digits in lower case; Key.of(text) takes capitals and blanks, too")

    def __repr__(self) -> str:
        """Show none of it: tracebacks show the repr of locals in some tools."""
        return "<Key: 256 bits>"

    @classmethod
    def fresh(cls) -> "Key":
        """Return a key drawn from the operating system (256 bits); it is forgotten with the run."""
        return cls(secrets.token_hex(32))

    @classmethod
    def of(cls, text: str) -> "Key":
        """Return the key that a text of 64 hex digits says; white space around them does not count.

        Raises UsageError for any other text: what somebody has thought up can be guessed, and whoever guesses the key
        can undo the release.
        """
        digits = text.strip().lower()
        if not re.fullmatch(r"[0-9a-f]{64}", digits):
            raise UsageError(
                "the key is not 64 hex digits; make one with: openssl rand -hex 32 (of another text, which 0.2.0 took,"
                " the key is: printf %s TEXT | sha256sum; who guesses the text can undo the release)"
            )
        return cls(digits, given=True)

    @classmethod
    def from_file(cls, path: str | Path) -> "Key":
        """Return the key whose text a file holds; the white space around it does not count.

        path: of a text file. Raises UsageError where there is none, where it cannot be read or is
        no text, and as `of` does.
        """
        if not Path(path).exists():
            raise UsageError(f"no key file {str(path)!r}; make one with: openssl rand -hex 32 > FILE; chmod 600 FILE")
        try:
            return cls.of(read_text(path, LONGEST_KEY_TEXT))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"cannot read the key file {str(path)!r}: {getattr(error, 'strerror', None) or 'it is not text'}"
            ) from None
