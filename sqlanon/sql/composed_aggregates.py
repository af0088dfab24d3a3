"""What is asked as aggregates with FILTER: those of CASE, shares of two subqueries, and quantiles of several levels."""

from collections.abc import Iterator
from functools import reduce

from sqlglot import exp

from sqlanon.estimators.aggregates import FUNCTIONS
from sqlanon.sql.query_names import function_name, function_of, is_aggregate
from sqlanon.sql.query_pieces import WORDING
from sqlanon.sql.user_sql import replace_nodes

ALL_ROWS = exp.Count(this=exp.Star())


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
