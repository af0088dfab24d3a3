"""Queries that are run as they are: over the rows that a release holds exactly, and over the source.

One rule: every node of the tree is in the grammar's list, every table is the release or a query of WITH, and every
column is published as it is. What the rows are is written in the place of the release; the rest is the user's tree,
written again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import COUNT
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate
from sqlanon.sql.grammar import CLAUSES, EXACT_CLAUSES, EXACT_FUNCTIONS, EXACT_NODES, NAMED_FUNCTIONS, NODES
from sqlanon.sql.plainer_query import inline_filters
from sqlanon.sql.query_pieces import WORDING
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.user_sql import check_form, conjuncts, parse_select, parse_statement, replace_nodes

RELEASE = "release"


@dataclass(frozen=True)
class ExactQuery:
    """A query to run. measured: the places of the answer's columns that are made of aggregates, and have intervals."""

    sql: str
    measured: tuple[int, ...]


def read_exact(
    sql: str, find_rows: Callable[[frozenset[str]], Sql | None], published: Sequence[str], names: Sequence[str] | None
) -> ExactQuery | None:
    """Return the query if it reads exact columns alone, else None.

    find_rows: returns the relation that holds some published columns exactly, if there is one. published: all of the
    release's columns. names: what the answer's columns are called, None where that is not known.
    """
    try:
        tree = parse_statement(sql, WORDING)
    except QueryError:
        return None
    if not all(_is_allowed(node) for node in tree.walk()):
        return None
    read = _read_columns(tree, published)
    rows = None if read is None else find_rows(read)
    if rows is None:
        return None
    select, measured = tree, tuple[int, ...]()
    if isinstance(select, exp.Select):
        items = select.expressions
        measured = tuple(place for place, item in enumerate(items) if _is_measured(item))
        names = _name_items(items) if names is None or len(names) != len(items) else names
        select.set("expressions", [_name(item, name) for item, name in zip(items, names, strict=True)])
    for table in list(tree.find_all(exp.Table)):
        if table.name.lower() == RELEASE:
            alias = table.args.get("alias")
            called = exp.to_identifier(alias.name if alias else table.name, quoted=True)
            inner = sqlglot.parse_one(f"select * from {rows}", read="duckdb")
            table.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=called)))
    return ExactQuery(tree.sql("duckdb", comments=False, normalize_functions="lower"), measured)


def read_distinct(sql: str, published: Sequence[str]) -> str | None:
    """Return the one of some columns whose different values a query counts in the whole release, else None."""
    try:
        tree = parse_statement(sql, WORDING)
    except QueryError:
        return None
    if not isinstance(tree, exp.Select) or {name for name, value in tree.args.items() if value} != {
        "expressions",
        "from_",
    }:
        return None
    counted, source = tree.expressions[0].unalias(), tree.args["from_"].this
    distinct = counted.this if isinstance(counted, exp.Count) and len(tree.expressions) == 1 else None
    read = distinct.expressions if isinstance(distinct, exp.Distinct) else []
    whole = isinstance(source, exp.Table) and source.name.lower() == RELEASE and len(read) == 1
    names = {name.lower(): name for name in published}
    return names.get(read[0].name.lower()) if whole and isinstance(read[0], exp.Column) else None


def _is_allowed(node: exp.Expr) -> bool:
    kind = type(node).__name__
    if kind == "Var" and isinstance(node.parent, exp.Ordered) and node.name.upper() == "ALL":
        return True
    if kind == "Anonymous" and node.name.lower() not in NAMED_FUNCTIONS | EXACT_FUNCTIONS:
        return False
    clauses = EXACT_CLAUSES.get(kind)
    if kind not in NODES | EXACT_NODES or any(
        value and clauses and name not in clauses for name, value in node.args.items()
    ):
        return False
    try:
        check_form(node, WORDING)
    except QueryError:
        return False
    return True


def _read_columns(tree: exp.Expr, published: Sequence[str]) -> frozenset[str] | None:
    """Return the published columns that a query reads, None where it reads anything else."""
    queries = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    if RELEASE in queries or any(cte.alias_column_names for cte in tree.find_all(exp.CTE)):
        return None
    tables = [table.name.lower() for table in tree.find_all(exp.Table)]
    if not set(tables) <= queries | {RELEASE} or RELEASE not in tables:
        return None
    by_name = {name.lower(): name for name in published}
    made = {alias.alias.lower() for alias in tree.find_all(exp.Alias, exp.TableAlias)}
    read: set[str] = set()
    for column in tree.find_all(exp.Column):
        name = column.name.lower()
        if isinstance(column.this, exp.Star):
            return None
        if name not in by_name and name not in made:
            return None
        if name in by_name:
            read.add(by_name[name])
    for join in tree.find_all(exp.Join):
        for using in join.args.get("using") or ():
            if using.name.lower() not in by_name:
                return None
            read.add(by_name[using.name.lower()])
    if any(not isinstance(star.parent, exp.Count | exp.Select) for star in tree.find_all(exp.Star)):
        return None
    if isinstance(tree, exp.Select) and any(isinstance(item, exp.Star) for item in tree.expressions):
        return None
    return frozenset(read)


def _is_measured(item: exp.Expr) -> bool:
    """Tell whether an item of SELECT is made of aggregates over groups of rows."""
    return item.find(exp.AggFunc) is not None and item.find(exp.Window, exp.Subquery) is None


def _name_items(items: Sequence[exp.Expr]) -> list[str]:
    """Return what the columns of an answer are called: by their aliases, columns or functions, each once."""
    names: list[str] = []
    for item in items:
        inner = item.this if isinstance(item, exp.Filter | exp.WithinGroup) else item
        name = item.alias or (item.name if isinstance(item, exp.Column) else "")
        name = name or (inner.sql_name().lower() if isinstance(inner, exp.AggFunc) else item.sql("duckdb"))
        names.append(free_name(name, names))
    return names


def _name(item: exp.Expr, name: str) -> exp.Expr:
    inner = item.unalias()
    return exp.Alias(this=inner, alias=exp.to_identifier(name, quoted=True))


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
