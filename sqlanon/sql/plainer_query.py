"""Write a query as a plainer one of the same answer: a SELECT of aggregates, with FILTER, from the release itself.

Aggregates of CASE, shares of two subqueries and quantiles of several levels become aggregates with FILTER. The
conditions of a WITH or subquery that only filters the release become part of WHERE.
"""

from collections.abc import Iterator, Mapping
from functools import reduce

from sqlglot import exp

from sqlanon.estimators.aggregates import FUNCTIONS
from sqlanon.sql.grammar import CLAUSE_NAMES
from sqlanon.sql.query_pieces import WORDING, function_name, function_of, is_aggregate, reads_aggregate
from sqlanon.sql.user_sql import replace_nodes

ALL_ROWS = exp.Count(this=exp.Star())
MOST_LAYERS = 50  # filters of filters
_FILTERING = frozenset(["expressions", "from_", "where"])
_ADVICE = "a WITH or a subquery in FROM may filter the release: SELECT * FROM release WHERE …"


def split_case(node: exp.Expr) -> exp.Expr | None:
    """Return COUNT, SUM or AVG of a CASE by its branches, others of one branch with FILTER; None for any other node.

    A branch of a number is that number times a count. What a branch leaves is all rows for which it is not true.
    """
    function, outer = function_of(node), [node.expression.this] if isinstance(node, exp.Filter) else []
    case = function.this
    if not isinstance(case, exp.Case):
        return None
    branches, before, otherwise = list[tuple[exp.Expr, exp.Expr]](), list(outer), case.args.get("default")
    for when in case.args["ifs"]:
        condition = exp.EQ(this=exp.paren(case.this), expression=exp.paren(when.this)) if case.this else when.this
        branches.append((exp.and_(*before, condition), when.args["true"]))
        before.append(exp.Not(this=exp.Is(this=exp.paren(condition), expression=exp.true())))
    if otherwise is not None:
        branches.append((exp.and_(*before), otherwise))
    branches = [(condition, value) for condition, value in branches if not isinstance(value, exp.Null)]
    if len(branches) == 1 and not (isinstance(function, exp.Count) and _is_number(branches[0][1])):
        ((condition, value),) = branches
        changed = function.copy()
        changed.set("this", value.copy())
        return _filter(changed, condition)
    if isinstance(function, exp.Count):
        return _add(_count(value, condition) for condition, value in branches)
    total = _add(_sum(value, condition) for condition, value in branches if not _is_number(value) or float(value.sql()))
    if isinstance(function, exp.Sum):
        return total
    if not isinstance(function, exp.Avg):
        return None
    whole = len(branches) == len(case.args["ifs"]) + 1 and all(_is_number(value) for _, value in branches)
    rows = ALL_ROWS if whole else _add(_count(value, condition) for condition, value in branches)
    return exp.Div(this=exp.paren(total), expression=exp.paren(_filter(rows, *outer) if whole else rows))


def join_subqueries(select: exp.Select) -> exp.Select:
    """Return a SELECT of subqueries alone, each an aggregate over the release, as one that reads the release itself."""
    if select.args.get("from_") or not select.find(exp.Subquery):
        return select

    def filter_aggregates(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Subquery) else None
        if inner is None:
            return node
        clauses = {name for name, value in inner.args.items() if value}
        source, where = inner.args.get("from_"), inner.args.get("where")
        if (
            clauses - {"expressions", "from_", "where"}
            or len(inner.expressions) != 1
            or source is None
            or source.this.alias
        ):
            WORDING.refuse("this subquery", "write COUNT(*) FILTER (WHERE …) / COUNT(*) FROM release")
        sources.append(source)
        conditions = [where.this] if where else []
        return exp.paren(
            replace_nodes(inner.expressions[0], lambda n: _filter(n, *conditions) if is_aggregate(n) else n)
        )

    sources: list[exp.Expr] = []
    joined = replace_nodes(select, filter_aggregates)
    joined.set("from_", sources[0].copy())
    assert isinstance(joined, exp.Select)
    return joined


def spread_levels(select: exp.Select) -> exp.Select:
    """Return a SELECT with a quantile for each of a list of levels in its place, called `name_25`, `name_50` …"""
    items: list[exp.Expr] = []
    for item in select.expressions:
        function = function_of(item.unalias())
        place = next((name for name, value in function.args.items() if isinstance(value, exp.Array)), "")
        levels = function.args[place].expressions if place else []
        if not levels or not is_aggregate(function) or not all(map(_is_number, levels)):
            items.append(item)
            continue
        for level in levels:
            single = item.unalias().copy()
            function_of(single).set(place, level.copy())
            percent = f"{100 * float(level.sql()):g}".replace(".", "_")
            items.append(exp.alias_(single, f"{item.alias or FUNCTIONS[function_name(function)].name}_{percent}"))
    if len(items) == len(select.expressions):
        return select
    spread = select.copy()
    spread.set("expressions", items)
    return spread


def _sum(value: exp.Expr, condition: exp.Expr) -> exp.Expr:
    if not _is_number(value):
        nothing = exp.Literal.number(0)  # over no row of the branch
        return exp.Coalesce(this=_filter(exp.Sum(this=value.copy()), condition), expressions=[nothing])
    rows = _filter(ALL_ROWS, condition)
    return rows if value.sql() in ("1", "1.0") else exp.Mul(this=exp.paren(value), expression=rows)


def _count(value: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return _filter(ALL_ROWS if _is_number(value) else exp.Count(this=value.copy()), condition)


def _filter(function: exp.Expr, *conditions: exp.Expr) -> exp.Expr:
    if isinstance(function, exp.Filter):
        function, conditions = function.this, (function.expression.this, *conditions)
    if not conditions:
        return function.copy()
    return exp.Filter(this=function.copy(), expression=exp.Where(this=exp.and_(*conditions)))


def _add(terms: Iterator[exp.Expr]) -> exp.Expr:
    nothing = exp.Mul(this=exp.Literal.number(0), expression=ALL_ROWS.copy())
    listed = list(terms) or [nothing]
    return reduce(lambda one, other: exp.Add(this=one, expression=other), listed)


def _is_number(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal) and not inner.is_string


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
