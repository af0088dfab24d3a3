"""The key behind keyed draws: fresh from the operating system, or handed over without being shown."""

import errno
import hashlib
import re
import secrets
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from sqlanon.errors import UsageError

LONGEST_KEY_TEXT = 65_536  # letters of a key file that are read


class PrivacyWarning(UserWarning):
    """Warn of what was done as the user asked, and weakens the release."""


@dataclass(frozen=True)
class Key:
    """Hold 256 bits as 64 hex digits; `repr`, logs and tracebacks never show them."""

    text: str = field(repr=False)  # a traceback shows the repr of locals in some tools
    given: bool = False

    @classmethod
    def fresh(cls) -> "Key":
        """Draw a key from the operating system; it is forgotten with the run."""
        return cls(secrets.token_hex(32))

    @classmethod
    def of(cls, text: str) -> "Key":
        """Take 64 hex digits as they are; hash any other text, with a warning."""
        text = text.strip()
        if not text:
            raise UsageError("the key is empty; make one with: openssl rand -hex 32")
        if re.fullmatch(r"[0-9a-fA-F]{64}", text):
            return cls(text.lower(), given=True)
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
        """Read a key from a file; only its text counts, not the white space around it."""
        try:
            if not Path(path).is_file():  # a device could be read for ever
                raise OSError(errno.EINVAL, "it is no regular file")
            with Path(path).open(encoding="utf-8") as file:
                return cls.of(file.read(LONGEST_KEY_TEXT))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the key file {str(path)!r}: {_read_failure(error)}") from None


def _read_failure(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not text"
