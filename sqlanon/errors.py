"""Every exception of sqlanon, one tree; each kind carries the exit code of the command line."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from sqlanon.wording import spoken


class SqlanonError(Exception):
    """Say what was asked, what was found and what to do, in one short message."""

    exit_code = 1

    def __init__(self, message: str = "", about: Iterable[str] = ()) -> None:
        """Take the message, and the names of the columns or parameters that it is about."""
        super().__init__(message)
        self.about = tuple(about)

    def __str__(self) -> str:
        """Return the message; options are named as the command line or Python writes them."""
        return spoken(super().__str__())


@contextmanager
def raised_as(
    kind: type[SqlanonError], words: str, caught: type[Exception] | tuple[type[Exception], ...] = OSError
) -> Iterator[None]:
    """Raise an error of ours in the place of one that is caught in the block: words, and what that says itself."""
    try:
        yield
    except caught as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise kind(f"{words}: {said}") from None


@contextmanager
def undone_by(undo: Callable[[], object]) -> Iterator[None]:
    """Undo what was begun where the block fails or is interrupted; its error is the one to tell."""
    try:
        yield
    except BaseException:
        with suppress(SqlanonError):
            undo()
        raise


class UsageError(SqlanonError):
    """The request cannot be right on any data: syntax, columns, parameters, source, target."""

    exit_code = 2


class SourceError(UsageError):
    """The source is missing, unreadable, or not what its name says."""


class TargetError(UsageError):
    """The release cannot be written where it was asked for."""


class QueryError(UsageError):
    """A recipient's query, or a piece of it, is outside the grammar that releases answer."""


class ReleaseError(UsageError):
    """The release's files are missing, changed, or not a release."""


class DataError(SqlanonError):
    """The request is well asked, but this data does not allow it; nothing was published.

    possible: the largest whole value of the parameter that the error is about that this data may allow, where that is
    known and one of at least 2.
    """

    exit_code = 3

    def __init__(self, message: str = "", about: Iterable[str] = (), possible: int = 0) -> None:
        """Take what every error takes, and the largest value that is possible, 0 where none is known."""
        super().__init__(message, about)
        self.possible = possible if possible >= 2 else None


class AnswerError(DataError):
    """A release's data does not allow the answer that a query asks for; the message stands as it is."""


class ResourceError(DataError):
    """The machine has too little memory or temporary space for this."""


class InterruptedRunError(SqlanonError):
    """Another thread has interrupted what ran; nothing of it was published."""


class VerificationError(DataError):
    """A release did not pass its own verification; it was not made visible."""


class TemplateError(SqlanonError):
    """A template and its parameters do not fit: a fault of sqlanon, never of its user."""


class FormatWarning(UserWarning):
    """Warn of a release or a ledger that says more than this version reads."""


class AnswerWarning(UserWarning):
    """Warn of an answer that may not be what was meant: a value that no row has, an interval that is only a bound."""


class PrivacyWarning(UserWarning):
    """Warn of what was done as the user asked, and weakens the release."""
