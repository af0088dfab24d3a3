"""Constants of a run as bound parameters: a join with their one row would stand between a sort and what is read off it.

Spark takes a sort below a join for idle and leaves it out, and joins even one row by a job of its own.

Rows numbered in the order of a window named `apart`: each part of the window may be numbered from anywhere on.

Templates say `row_number() over apart`, and read of it only which of two rows of a part comes first, and how many stand
between them. An engine with several workers sends each part to one, which sorts what it has and numbers it as it goes:
a window would keep the rows of a part until it has all of them, and a sort of all rows looks at them beforehand.
"""

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

APART = "apart"


def is_numbered_apart(select: exp.Select) -> bool:
    """Tell whether a SELECT names such a window."""
    return any(window.name == APART for window in select.args.get("windows") or ())


def number_apart(select: exp.Select, numbering: str) -> None:
    """Put the parts of the window, sorted, below the SELECT, and in place of its row numbers any number that rises."""
    (window,) = select.args["windows"]
    numbered = [expression for expression in select.expressions if isinstance(expression.unalias(), exp.Window)]
    passing = [expression for expression in select.expressions if expression not in numbered]
    below = exp.Select(
        expressions=passing,
        from_=select.args["from_"],
        distribute=exp.Distribute(expressions=window.args["partition_by"]),
        sort=exp.Sort(expressions=window.args["order"].expressions),
    )
    columns = [exp.column(expression.alias_or_name, quoted=True) for expression in passing]
    rising = [exp.alias_(exp.Var(this=numbering), expression.alias, quoted=True) for expression in numbered]
    select.set("expressions", [*columns, *rising])
    select.set("from_", exp.From(this=below.subquery("sorted")))
    select.set("windows", None)


def write_out_apart(select: exp.Select) -> None:
    """Put the window where it is named: not every engine has names for windows."""
    (window,) = select.args["windows"]
    for expression in select.expressions:
        numbered = expression.unalias()
        if isinstance(numbered, exp.Window):
            numbered.set("alias", None)
            numbered.set("partition_by", window.args["partition_by"])
            numbered.set("order", window.args["order"])
    select.set("windows", None)


def bind_constants(sql: str, views: Mapping[str, Mapping[str, int]]) -> tuple[str, dict[str, int]]:
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
                constant: exp.Expr = exp.cast(exp.Placeholder(this=parameter), exp.DType.BIGINT)
                # what a SELECT passes on keeps its name
                passed = column.parent is select and column.arg_key == "expressions"
                column.replace(exp.alias_(constant, column.name, quoted=True) if passed else constant)
        for join in joined.values():
            join.pop()
    return tree.sql("spark", identify=True), bound


def _is_one_row(join: exp.Join, views: Mapping[str, Mapping[str, int]]) -> bool:
    """Tell whether a join adds the row of one of these views to every row."""
    return isinstance(join.this, exp.Table) and join.this.name in views and join.kind == "CROSS"
