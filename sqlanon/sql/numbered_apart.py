"""Rows numbered in the order of a window named `apart`: each part of the window may be numbered from anywhere on.

Templates say `row_number() over apart`, and read of it only which of two rows of a part comes first, and how many stand
between them. An engine with several workers sends each part to one, which sorts what it has and numbers it as it goes:
a window would keep the rows of a part until it has all of them, and a sort of all rows looks at them beforehand.
"""

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
