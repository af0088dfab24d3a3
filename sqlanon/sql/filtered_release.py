"""Read a FROM that only filters the release: the conditions of its WITH or subquery become part of WHERE."""

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.estimators.aggregates import FUNCTIONS
from sqlanon.sql.grammar import CLAUSE_NAMES
from sqlanon.sql.query_names import reads_aggregate
from sqlanon.sql.query_pieces import WORDING
from sqlanon.sql.user_sql import replace_nodes

MOST_LAYERS = 50  # filters of filters
_FILTERING = frozenset(["expressions", "from_", "where"])
_ADVICE = "a WITH or a subquery in FROM may filter the release: SELECT * FROM release WHERE …"


def inline_filters(select: exp.Select) -> exp.Select:
    """Return a query over the release itself: the conditions of WITH and of subqueries in FROM are added to WHERE.

    Raises QueryError where one does more than filter, or is not read.
    """
    queries = _read_with(select)
    source = select.args.get("from_")
    if not queries and (source is None or not isinstance(source.this, exp.Subquery)):
        return select
    read_names: set[str] = set()
    conditions: list[exp.Expr] = []
    visible: list[frozenset[str]] = []
    outer = _source(select)
    inner, name = _follow(outer, queries, read_names)
    layers = 0
    while inner is not None:
        layers += 1
        if layers > MOST_LAYERS:
            WORDING.refuse(f"a query of more than {MOST_LAYERS} filters in each other", _ADVICE)
        columns, inner_conditions = _check_filter(inner)
        visible += [columns] if columns is not None else []
        conditions += inner_conditions
        inner, name = _follow(_source(inner), queries, read_names)
    unread = [table for table in queries if table not in read_names]
    if unread:
        WORDING.refuse(f"WITH {unread[0]!r}, which nothing reads,", "leave it out")
    whole = select.copy()
    whole.set("with_", None)
    alias = exp.to_identifier(outer.alias_or_name, quoted=True)
    whole.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(name), alias=exp.TableAlias(this=alias))))
    aliases = {item.alias.lower() for item in whole.expressions if isinstance(item, exp.Alias)}
    aliases |= {function.name for function in FUNCTIONS.values()}  # results without an alias, as ORDER BY names them
    for columns in visible:
        for column in whole.find_all(exp.Column):
            if isinstance(column.this, exp.Identifier) and column.name.lower() not in columns | aliases:
                WORDING.refuse(f"{column.name!r}, which a subquery in FROM leaves out,", "select it there, or *")
    return whole.where(*conditions, copy=False) if conditions else whole


def _read_with(select: exp.Select) -> Mapping[str, exp.Expr]:
    """Return the queries of WITH by name."""
    clause = select.args.get("with_")
    if clause is None:
        return {}
    if clause.args.get("recursive"):
        WORDING.refuse("WITH RECURSIVE", _ADVICE)
    queries: dict[str, exp.Expr] = {}
    for expression in clause.expressions:
        if expression.alias_column_names:
            WORDING.refuse("renaming columns in WITH", _ADVICE)
        if expression.alias.lower() == "release" or expression.alias.lower() in queries:
            WORDING.refuse(f"WITH {expression.alias!r}", "give it a name of its own")
        queries[expression.alias.lower()] = expression.this
    return queries


def _source(select: exp.Expr) -> exp.Expr:
    source = select.args.get("from_")
    if source is None:
        WORDING.refuse("a query without FROM", "read FROM release")
    relation: exp.Expr = source.this
    return relation


def _follow(source: exp.Expr, queries: Mapping[str, exp.Expr], read_names: set[str]) -> tuple[exp.Expr | None, str]:
    """Return the query that a FROM names, None for the release itself, and the name."""
    if isinstance(source, exp.Subquery):
        if any(value for key, value in source.args.items() if key not in {"this", "alias"}):
            WORDING.refuse("this subquery", _ADVICE)
        if source.alias_column_names:
            WORDING.refuse("renaming columns in FROM")
        return source.this, ""
    if any(value for key, value in source.args.items() if key not in {"this", "alias"}):
        WORDING.refuse("this FROM", "read FROM release, without more")
    if isinstance(source, exp.Table) and source.name.lower() in queries and source.name.lower() not in read_names:
        read_names.add(source.name.lower())
        return queries[source.name.lower()], ""
    return None, source.name


def _check_filter(inner: exp.Expr) -> tuple[frozenset[str] | None, list[exp.Expr]]:
    """Return the columns that a filter shows (None for all), and its condition over plain names."""
    if not isinstance(inner, exp.Select):
        WORDING.refuse("a subquery that is no SELECT", _ADVICE)
    for clause, value in inner.args.items():
        if value and clause not in _FILTERING:
            WORDING.refuse(f"{CLAUSE_NAMES.get(clause, clause.strip('_').upper())} in a subquery", _ADVICE)
    source = _source(inner)
    names = {source.alias_or_name.lower(), ""}
    columns: frozenset[str] | None = frozenset()
    for item in inner.expressions:
        if isinstance(item, exp.Star) and not any(item.args.values()):
            columns = None
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier) and item.table.lower() in names:
            columns = None if columns is None else columns | {item.name.lower()}
        else:
            what = "an aggregate" if reads_aggregate(item) else item.sql("duckdb", comments=False)
            WORDING.refuse(f"{what} in a subquery", _ADVICE)
    where = inner.args.get("where")
    if where is None:
        return columns, []
    return columns, [exp.paren(_unqualify(where.this, names), copy=False)]


def _unqualify(condition: exp.Expr, names: set[str]) -> exp.Expr:
    """Return a condition whose columns have lost the name of the FROM that they were read from."""

    def strip(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or not node.table:
            return node
        if node.table.lower() not in names or node.args.get("db"):
            WORDING.refuse(f"the table {node.table!r}", "a column's table is the one of its own FROM")
        return exp.Column(this=node.this.copy())

    return replace_nodes(condition, strip)
