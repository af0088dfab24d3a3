"""A source that is a query, as far as its text tells: what it reads, and how a command names it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlanon.plans.templates import Sql


@dataclass(frozen=True)
class QueriedSource:
    """A query as a source: what its FROM names, as a source is named, in order; its text as it was typed."""

    tables: tuple[str, ...]
    text: str = field(repr=False)

    def write(self, find: Callable[[str], str]) -> Sql:
        """Return the SQL of the query in brackets; find: the SQL that reads a table or file."""
        raise NotImplementedError


def read_files(source: object) -> Sequence[object]:
    """Return what is read from a source, as it was named; nothing where there is none."""
    return source.tables if isinstance(source, QueriedSource) else () if source is None else (source,)


def source_words(source: object) -> list[str]:
    """Return the words of a command that name a source; what is no text is called SOURCE."""
    if isinstance(source, QueriedSource):
        return ["--query", source.text]
    return [source if isinstance(source, str) else "SOURCE"]
