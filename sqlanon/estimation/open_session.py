"""What answers queries about a release, whatever its form: loading this loads no numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered


class Session(Protocol):
    """Answer queries about one opened release."""

    def ask(self, sql: str, estimator: str | None = ..., **options: Any) -> "Answered":
        """Answer one query."""

    def answer_many(self, queries: Sequence[str], estimator: str | None = ...) -> "dict[int, Answered]":
        """Answer, by their places, those of many queries that can be answered together."""

    def statements(self, sql: str, estimator: str | None = ...) -> list[tuple[str, str]]:
        """Return the statements that `answer` runs."""

    def script(self, sql: str, estimator: str | None = ...) -> str:
        """Return what can be asked of a shell instead."""

    def close(self) -> None:
        """Forget what the session keeps in the database."""
