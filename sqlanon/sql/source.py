"""What a source is: one that was named, or a query in its place, and how columns were made coarser."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlanon.errors import UsageError
from sqlanon.plans.coarsening import label_tables
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlglot import exp

NO_SOURCE = f"say what is read: a source, or {option('query', 'SELECT …')}"


@dataclass(frozen=True)
class QueriedSource:
    """A query as a source: what its FROM names, as a source is named, in order; its text as it was typed.

    dialect: in which it was read, and is written. tree: what was read, a SELECT.
    """

    tables: tuple[str, ...]
    text: str = field(repr=False)
    dialect: str
    tree: "exp.Select" = field(repr=False, compare=False)

    def write(self, find: Callable[[str], str]) -> Sql:
        """Return the SQL of the query in brackets, in its dialect; find: the SQL there that reads a table or file."""
        from sqlanon.sql.source_select import write_source_select

        return write_source_select(self, find)

    def beside(self, folder: str) -> "QueriedSource":
        """Return the query with paths of files relative to a folder."""
        from sqlanon.sql.source_select import place_files

        return replace(self, tables=place_files(self, folder))


@dataclass(frozen=True)
class CoarserSource:
    """A source that a release was made of, and how columns were made coarser, as it was typed, by column.

    A manifest says the rules as well, but names no table of values and labels. identifier: the columns that tell whose
    a row is. vary: which row of a person has the quasi values, as it was typed.
    """

    source: object
    rules: Mapping[str, str]
    identifier: tuple[str, ...] = ()
    vary: str | None = None

    @property
    def words(self) -> list[str]:
        """Return the words of a command that say the rules."""
        rules = [word for column, rule in self.rules.items() for word in ("--coarsen", f"{column}={rule}")]
        return rules + (["--vary", self.vary] if self.vary else [])


def source_of_release(
    source: object, rules: Mapping[str, str], identifier: Sequence[str] = (), vary: str | None = None
) -> object:
    """Return a source as its release is held against it: with the tables of labels that the rules name."""
    labels = {column: rule for column, rule in rules.items() if label_tables({column: rule})}
    return with_rules(source, labels, identifier, vary)


def with_rules(
    source: object, rules: Mapping[str, str], identifier: Sequence[str] = (), vary: str | None = None
) -> object:
    """Return a source with what is said of how its release was made, where anything is."""
    if isinstance(source, CoarserSource):
        return replace(source, identifier=tuple(identifier) or source.identifier, vary=vary or source.vary)
    return CoarserSource(source, rules, tuple(identifier), vary) if rules or identifier or vary else source


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


def choose_source(source: object, query: str | None, dialect: str, needed: str = "", named: str = "a source") -> object:
    """Return the source that was named, or the query in its place; raise UsageError for both.

    dialect: of the engine that runs it. needed: what to say where neither was given; without it neither may be. named:
    how a message calls a source.
    """
    if source is not None and query is not None:
        raise UsageError(f"say {named} or {option('query')}, not both")
    if query is None:
        if source is None and needed:
            raise UsageError(needed)
        return source
    from sqlanon.sql.source_select import read_source_select  # sqlglot is slow to import

    return read_source_select(query, dialect)
