"""A source that is a query, as far as its text tells: what it reads, and how a command names it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.plans.coarsening import label_tables
from sqlanon.plans.templates import Sql


@dataclass(frozen=True)
class QueriedSource:
    """A query as a source: what its FROM names, as a source is named, in order; its text as it was typed."""

    tables: tuple[str, ...]
    text: str = field(repr=False)

    def write(self, find: Callable[[str], str]) -> Sql:
        """Return the SQL of the query in brackets; find: the SQL that reads a table or file."""
        raise NotImplementedError


@dataclass(frozen=True)
class CoarserSource:
    """A source that a release was made of, and how columns were made coarser, as it was typed, by column.

    A manifest says the rules as well, but names no table of values and labels.
    """

    source: object
    rules: Mapping[str, str]

    @property
    def words(self) -> list[str]:
        """Return the words of a command that say the rules."""
        return [word for column, rule in self.rules.items() for word in ("--coarsen", f"{column}={rule}")]


def source_of_release(source: object, rules: Mapping[str, str]) -> object:
    """Return a source as its release is held against it: with the tables of labels that the rules name."""
    labels = {column: rule for column, rule in rules.items() if label_tables({column: rule})}
    return CoarserSource(source, labels) if labels else source


def read_files(source: object) -> Sequence[object]:
    """Return what is read from a source, as it was named; nothing where there is none."""
    if isinstance(source, CoarserSource):
        return (*read_files(source.source), *label_tables(source.rules))
    return source.tables if isinstance(source, QueriedSource) else () if source is None else (source,)


def source_words(source: object) -> list[str]:
    """Return the words of a command that name a source; what is no text is called SOURCE."""
    if isinstance(source, QueriedSource):
        return ["--query", source.text]
    return [source if isinstance(source, str) else "SOURCE"]
