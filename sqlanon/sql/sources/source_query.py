"""A recipient's query written again over the source, for its true answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import COUNT
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate
from sqlanon.sql.filtered_release import inline_filters
from sqlanon.sql.grammar import CLAUSES
from sqlanon.sql.query_pieces import WORDING
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.user_sql import conjuncts, parse_select, replace_nodes


@dataclass(frozen=True)
class SourceQuery:
    """One query over the source: its text there, and the columns of its answer, in their order.

    keys: those that tell its rows apart; without any the answer is one row. figures: the others; counts: among these.
    conditions: of a query that counts rows by conditions over one column each: their columns, by place among the quasi
    and sensitive ones (`column_1` …), and themselves over these names; None of any other.
    """

    sql: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    figures: tuple[str, ...]
    counts: frozenset[str]
    conditions: tuple[tuple[str, Sql], ...] | None = None


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
    where, columns = select.args.get("where"), [*quasi, *sensitive]
    counts_rows = query.aggregates == (Aggregate(COUNT),) and not query.grouped and not query.derived
    return SourceQuery(
        select.sql("duckdb"),
        tuple(item.name for item in query.items),
        tuple(item.name for item in query.items if item.aggregate is None),
        tuple(numbered),
        frozenset(name for name, is_count in zip(numbered, are_counts, strict=True) if is_count),
        _read_conditions(conjuncts(where.this) if where else (), columns) if counts_rows else None,
    )


def _read_conditions(nodes: Iterable[exp.Expr], columns: Sequence[str]) -> tuple[tuple[str, Sql], ...] | None:
    """Return conditions with the column that each reads, None where one reads several, none, or a query."""
    names = {column.lower(): f"column_{place}" for place, column in enumerate(columns, start=1)}
    conditions = []
    for node in nodes:
        read = {column.name.lower() for column in node.find_all(exp.Column)}
        if len(read) != 1 or node.find(exp.Query):
            return None
        (ours,) = (names[column] for column in read)
        conditions.append((ours, _rename_column(node, ours)))
    return tuple(conditions)


def _rename_column(node: exp.Expr, name: str) -> Sql:
    renamed = replace_nodes(node, lambda inner: exp.column(name) if isinstance(inner, exp.Column) else inner)
    return Sql(renamed.sql("duckdb"))
