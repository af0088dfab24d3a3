"""A recipient's query written again over the source, for its true answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.sql.filtered_release import inline_filters
from sqlanon.sql.grammar import CLAUSES
from sqlanon.sql.query_pieces import WORDING
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.user_sql import parse_select


@dataclass(frozen=True)
class SourceQuery:
    """One query over the source: its text there, and the columns of its answer, in their order.

    keys: those that tell its rows apart; without any the answer is one row. figures: the others; counts: among these.
    """

    sql: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    figures: tuple[str, ...]
    counts: frozenset[str]


def write_over_source(sql: str, relation: str, quasi: Sequence[str], sensitive: Sequence[str]) -> SourceQuery:
    """Return a query FROM release as one over a table whose columns have the published names.

    The text is written again from the tree, after every node of it was found in the grammar. Raises QueryError for what
    is outside the grammar, and for HAVING and LIMIT: which rows these leave depends on the figures.
    """
    query = parse_query(sql, quasi, sensitive)
    if query.having or query.limit is not None:
        clause = "HAVING" if query.having else "LIMIT"
        raise QueryError(f"{clause} leaves rows that depend on the figures; compare the query without it")
    select = inline_filters(parse_select(sql, WORDING, CLAUSES)).copy()
    table = select.args["from_"].this
    alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
    source = exp.Table(this=exp.to_identifier(relation, quoted=True), alias=alias)
    select.set("from_", exp.From(this=source))
    numbered = {item.name: item.aggregate for item in query.items if item.aggregate is not None}
    are_counts = [number < len(query.aggregates) and query.aggregates[number].function.counts
               for number in numbered.values()]  # fmt: skip
    return SourceQuery(
        select.sql("duckdb"),
        tuple(item.name for item in query.items),
        tuple(item.name for item in query.items if item.aggregate is None),
        tuple(numbered),
        frozenset(name for name, is_count in zip(numbered, are_counts, strict=True) if is_count),
    )
