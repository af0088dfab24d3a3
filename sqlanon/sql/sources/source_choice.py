"""Which source is meant: one that was named, or a query in its place."""

from sqlanon.errors import UsageError
from sqlanon.wording import option

NO_SOURCE = f"say what is read: a source, or {option('query', 'SELECT …')}"


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
    from sqlanon.sql.sources.source_select import read_source_select  # sqlglot is slow to import

    return read_source_select(query, dialect)
