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
    numbered = [one for one in select.expressions if isinstance(one.unalias(), exp.Window)]
    passing = [one for one in select.expressions if one not in numbered]
    below = exp.Select(
        expressions=passing,
        from_=select.args["from_"],
        distribute=exp.Distribute(expressions=window.args["partition_by"]),
        sort=exp.Sort(expressions=window.args["order"].expressions),
    )
    named = [exp.column(one.alias_or_name, quoted=True) for one in passing]
    rising = [exp.alias_(exp.Var(this=numbering), one.alias, quoted=True) for one in numbered]
    select.set("expressions", [*named, *rising])
    select.set("from_", exp.From(this=below.subquery("sorted")))
    select.set("windows", None)
