"""The queries of a file, each with the line on which it begins."""

import itertools

import sqlglot
import sqlglot.errors

from sqlanon.errors import QueryError


def split_queries(text: str) -> list[tuple[int, str]]:
    """Return the line and the text of each query; semicolons end one, comments belong to none.

    Raises QueryError where a text or a comment is not closed.
    """
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"the file cannot be split into queries: {str(error).splitlines()[0]}") from None
    queries: list[tuple[int, str]] = []
    for ended, group in itertools.groupby(tokens, lambda token: token.text == ";" and token.end == token.start):
        if not ended:
            first, *rest = group
            queries.append((first.line, text[first.start : (rest or [first])[-1].end + 1]))
    return queries
