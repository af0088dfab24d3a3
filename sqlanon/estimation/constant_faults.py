"""Whether a piece of a query that failed would fail on any data: then it is the query that is wrong."""

from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.plans.templates import Sql, ident

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)


def fails_on_any_data(engine: Engine, piece: Sql, relation: Sql) -> bool:
    """Tell whether an expression over a relation fails whatever its rows are: a constant of it cannot be read."""
    try:
        types = engine.columns(f"select * from {relation}")
    except SqlanonError:
        return False
    tree = sqlglot.parse_one(str(piece), read="duckdb")
    if any(_fails(engine, f"select {constant} as tried") for constant in _constants(tree)):
        return True
    # A row of NULLs satisfies every type: what fails on it does not fail because of a value.
    nulls = ", ".join(f"cast(null as {kind}) as {ident(name)}" for name, kind in types.items())
    if _fails(engine, f"select {piece} as tried from (select {nulls}) as row_of_nulls"):
        return True
    # A comparison with NULL may be settled before the literal beside it is read as the column's type.
    return any(_compares_misfit(engine, node, nulls) for node in tree.find_all(*_COMPARISONS))


def _constants(tree: exp.Expr) -> Iterator[str]:
    """Yield the largest pieces that read no column; a literal by itself can always be read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        whole = isinstance(node, exp.Condition) and not isinstance(node, exp.Literal | exp.Var | exp.Column | exp.If)
        if whole and node.find(exp.Column) is None:
            yield node.sql("duckdb")
        else:
            waiting.extend(node.iter_expressions())


def _compares_misfit(engine: Engine, node: exp.Expr, nulls: str) -> bool:
    """Tell whether a literal cannot be read as the type of what it is compared with."""
    sides = [side for side in node.iter_expressions() if isinstance(side, exp.Condition)]
    literals = [side for side in sides if isinstance(side, exp.Literal)]
    others = [side for side in sides if side.find(exp.Column) is not None]
    if not literals or not others:
        return False
    tried = f"select {others[0].sql('duckdb')} as tried from (select {nulls}) as row_of_nulls"
    try:
        (kind,) = engine.columns(tried).values()
    except SqlanonError:
        return False
    if kind == "VARCHAR":
        return any(not literal.is_string for literal in literals)
    return any(
        _fails(engine, f"select cast({literal.sql('duckdb')} as {kind}) as tried")
        for literal in literals
        if literal.is_string
    )


def _fails(engine: Engine, sql: str) -> bool:
    try:
        engine.rows(sql)
    except SqlanonError:
        return True
    return False
