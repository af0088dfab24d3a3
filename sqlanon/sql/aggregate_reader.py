"""Read the aggregates of a query: COUNT, SUM and AVG, of what, and over which of the rows that WHERE leaves."""

from typing import cast

from sqlglot import exp

from sqlanon.sql.aggregate_query import Aggregate, Piece
from sqlanon.sql.query_names import function_of
from sqlanon.sql.query_pieces import WORDING, PieceWriter
from sqlanon.sql.user_sql import conjuncts

_QUANTILES = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile)


class AggregateReader:
    """Number the different aggregates of a query in the order in which they are read."""

    def __init__(self, pieces: PieceWriter) -> None:
        """Take what writes expressions over internal names."""
        self._pieces = pieces
        self.found: list[Aggregate] = []

    def number(self, node: exp.Expr) -> int:
        """Return the number of an aggregate; equal ones share one."""
        return self._number(self._read(node))

    def number_linear(self, number: int) -> tuple[int, ...]:
        """Return what an aggregate's error follows from: of AVG its sum and its count, each a sum over rows."""
        aggregate = self.found[number]
        if aggregate.function != "avg" or aggregate.argument is None:
            return (number,)
        total = Aggregate("sum", aggregate.argument, aggregate.chosen)
        return self._number(total), self._number(_count_values(aggregate.argument, aggregate.chosen))

    def _number(self, aggregate: Aggregate) -> int:
        if aggregate not in self.found:
            self.found.append(aggregate)
        return self.found.index(aggregate)

    def _read(self, node: exp.Expr) -> Aggregate:
        function = function_of(node)
        counts = isinstance(function, exp.Count)
        argument = _read_count(function) if counts else _read_argument(function)
        conditions = list(conjuncts(node.expression.this)) if isinstance(node, exp.Filter) else []
        if counts and argument is not None:  # COUNT(x) counts the rows that have an x
            conditions.append(exp.Is(this=exp.paren(argument), expression=exp.Null()).not_())
            argument = None
        roles = [(self._pieces.role(one) == "sensitive", one.copy()) for one in conditions]
        chosen = [one for sensitive, one in roles if sensitive]
        limits = [one for sensitive, one in roles if not sensitive]
        if limits:
            counted = exp.Literal.number(1) if argument is None else argument.copy()
            argument = exp.Case().when(exp.and_(*limits, wrap=True), counted)
        return Aggregate(
            "count" if counts else "sum" if isinstance(function, exp.Sum) else "avg",
            None if argument is None else self._pieces.write(argument),
            self._pieces.write(exp.and_(*chosen, wrap=True)) if chosen else None,
        )


def _read_argument(node: exp.Expr) -> exp.Expr:
    """Return what SUM or AVG is of."""
    argument = node.this
    if argument is None or isinstance(argument, exp.Star):
        WORDING.refuse(f"{type(node).__name__.upper()} without an expression")
    return cast(exp.Expr, argument)


def _read_count(node: exp.Expr) -> exp.Expr | None:
    """Return what COUNT counts the values of, None for rows."""
    counted: exp.Expr | None = node.this
    rows = counted is None or (isinstance(counted, exp.Star) and not any(counted.args.values()))
    if rows or isinstance(counted, exp.Literal):  # DuckDB's COUNT() and the habit COUNT(1)
        counted = None
    if node.expressions or isinstance(counted, exp.Distinct | exp.Star):
        WORDING.refuse("COUNT(DISTINCT x)", "count rows with COUNT(*) or COUNT(x); GROUP BY x lists its values")
    return counted


def _count_values(argument: Piece, chosen: Piece | None) -> Aggregate:
    """Return the count of the rows where an expression is not NULL."""
    sql, other = (type(text)(f"(case when {text} is not null then 1 end)") for text in (argument.sql, argument.other))
    return Aggregate("count", Piece(argument.role, sql, other), chosen)


def refuse_quantile(node: exp.Expr) -> None:
    """Refuse medians and quantiles in a sentence of their own."""
    found = next((inner for inner in node.walk() if isinstance(inner, _QUANTILES)), None)
    if found is not None:
        WORDING.refuse(
            "a median or quantile",
            "no error bar is known for it; ask for the share below a value, COUNT(*) FILTER (WHERE x <= value) /"
            " COUNT(*), which has one",
        )
