"""Figures of a run as bound parameters: a join with their one row would stand between a sort and what is read off it.

Spark takes a sort below a join for idle and leaves it out, and joins even one row by a job of its own.
"""

from collections.abc import Mapping

import sqlglot
from sqlglot import exp


def bind_figures(sql: str, views: Mapping[str, Mapping[str, int]]) -> tuple[str, dict[str, int]]:
    """Return Spark's SQL with parameters in the place of joins with these one-row views, and what is bound to them."""
    if not any(name in sql for name in views):
        return sql, {}
    bound: dict[str, int] = {}
    tree = sqlglot.parse_one(sql, read="spark")
    for select in tree.find_all(exp.Select):
        joined = {join.alias_or_name: join for join in select.args.get("joins", []) if _is_one_row(join, views)}
        for column in list(select.find_all(exp.Column)):
            if column.table in joined and column.parent_select is select:
                parameter = f"{column.table}_{column.name}"
                bound[parameter] = views[joined[column.table].this.name][column.name]
                figure: exp.Expr = exp.cast(exp.Placeholder(this=parameter), exp.DType.BIGINT)
                # what a SELECT passes on keeps its name
                passed = column.parent is select and column.arg_key == "expressions"
                column.replace(exp.alias_(figure, column.name, quoted=True) if passed else figure)
        for join in joined.values():
            join.pop()
    return tree.sql("spark", identify=True), bound


def _is_one_row(join: exp.Join, views: Mapping[str, Mapping[str, int]]) -> bool:
    """Tell whether a join adds the row of one of these views to every row."""
    return isinstance(join.this, exp.Table) and join.this.name in views and join.kind == "CROSS"
