"""Read a recipient's SELECT, refuse what is outside the grammar, and rebuild its clauses over names of ours.

The user's text never reaches an engine: it is parsed, every node must be in the allow-list, and each piece is
written again from the tree.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import cast

import sqlglot
from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import AVG, COUNT, FUNCTIONS, SUM, Function, Moment, Quantile
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate, Derived, Item, Order, Piece, Query, Role
from sqlanon.sql.grammar import CLAUSES
from sqlanon.sql.plainer_query import inline_filters, join_subqueries, split_case, spread_levels
from sqlanon.sql.query_pieces import (
    WORDING,
    PieceWriter,
    ResultNames,
    function_name,
    function_of,
    is_aggregate,
    is_bare_name,
    reads_aggregate,
)
from sqlanon.sql.user_sql import check_expression, conjuncts, parse_select, replace_nodes, write_expression


def _read_argument(node: exp.Expr) -> exp.Expr:
    """Return what is summed or averaged."""
    argument = node.this
    if argument is None or isinstance(argument, exp.Star):
        WORDING.refuse(f"{type(node).__name__.upper()} without an expression")
    return cast(exp.Expr, argument)


def _read_count(node: exp.Expr) -> exp.Expr | None:
    """Return what COUNT counts the values of, None for rows."""
    argument: exp.Expr | None = node.this
    rows = argument is None or (isinstance(argument, exp.Star) and not any(argument.args.values()))
    if rows or isinstance(argument, exp.Literal):  # DuckDB's COUNT() and the habit COUNT(1)
        argument = None
    if node.expressions or isinstance(argument, exp.Distinct | exp.Star):
        WORDING.refuse("COUNT(DISTINCT x)", "count rows with COUNT(*) or COUNT(x); GROUP BY x lists its values")
    return argument


def _read_quantile(node: exp.Expr, function: Quantile) -> tuple[Function, exp.Expr | None]:
    """Return the quantile of the level that a call names, and what it is of: f(x, level) or f(level) WITHIN GROUP."""
    inner, level = function_of(node), function.level
    argument, level_node = _read_argument(inner), inner.args.get("quantile") or inner.expression
    if isinstance(node, exp.WithinGroup):
        order = node.expression.expressions
        if level_node or len(order) != 1 or order[0].args.get("desc"):
            WORDING.refuse("this WITHIN GROUP", "write percentile_cont(0.9) WITHIN GROUP (ORDER BY x), ascending")
        argument, level_node = order[0].this, argument
    if isinstance(argument, exp.Distinct | exp.Order):
        WORDING.refuse("a quantile of DISTINCT or ordered values", "write median(x), or quantile_cont(x, 0.9)")
    if level is None:
        level = _read_level(level_node, function.name)
    return replace(function, level=level), argument


def _read_level(node: exp.Expr | None, name: str) -> float:
    """Return the level that a number in the query says."""
    text = "" if node is None else node.sql("duckdb", comments=False)
    number = isinstance(node, exp.Literal) and not node.is_string
    if not number or not 0 <= float(text) <= 1:
        what = f"{name} with the level {text or 'left out'}"
        WORDING.refuse(what, f"a level is a number from 0 to 1, as in {name}(x, 0.9) or {name}(x, [0.25, 0.75])")
    return float(text)


def parse_query(sql: str, quasi: Sequence[str], sensitive: str | Sequence[str], products: bool = True) -> Query:
    """Read one query over the published columns.

    quasi, sensitive: the published names; matched without case. A text is one sensitive column, called `sensitive`
    in the pieces; those of a sequence are called `sensitive_1` …. products: whether a product of both sides is told as
    a quasi expression with a weight for each value.
    Raises QueryError, naming what was asked and what is allowed, for all that the grammar leaves out.
    """
    try:
        select = spread_levels(inline_filters(join_subqueries(parse_select(sql, WORDING, CLAUSES))))
        return _ClauseReader(select, PieceWriter(select, quasi, sensitive), products).read()
    except RecursionError:  # the parser and the walks over its tree descend once per bracket
        raise QueryError("the query is nested too deeply; write it with fewer brackets") from None


class _ClauseReader:
    """Turn one SELECT into a Query; aggregates and keys are numbered in the order in which they are read."""

    def __init__(self, select: exp.Select, pieces: PieceWriter, products: bool) -> None:
        self.select, self.pieces, self.products = select, pieces, products
        self.results = ResultNames(select, pieces)
        self.aggregates: list[Aggregate] = []
        self.keys: list[Piece] = []

    def read(self) -> Query:
        """Read the clauses in the order in which they give names to each other."""
        where = self.select.args.get("where")
        conditions = tuple(self.pieces.write(node) for node in conjuncts(where.this)) if where else ()
        self.keys = [self.pieces.write(node) for node in self._key_nodes()]
        ordered = [clause for name in ("order", "having") if (clause := self.select.args.get(name))]
        if not any(map(reads_aggregate, [*self.results.nodes, *ordered])):
            for node in self.results.nodes:  # MAX(x) is refused by its own name, not as a query without an aggregate
                check_expression(node, WORDING)
            WORDING.refuse("a query without an aggregate")
        read_items = []
        for name, node in zip(self.results.all(), self.results.nodes, strict=True):
            value = self._name_aggregate(node)
            if isinstance(value, exp.Column):
                read_items.append(Item(name, self._find(value), Sql("")))
            elif reads_aggregate(node):
                read_items.append(Item(name, -1, self._write_over_keys(node, self._name_aggregate)))
            else:
                read_items.append(Item(name, None, self._write_over_keys(node)))
        clause = self.select.args.get("having")  # as in DuckDB, a name that is no column's may be a result's
        whole = replace_nodes(clause.this, self._resolve_inside) if clause else None
        having = (self._write_over_keys(whole, self._name_aggregate),) if whole is not None else ()
        order = tuple(self._read_order(read_items))
        items, derived = self._number_derived(read_items)
        return Query(
            conditions=conditions, parts=tuple(Sql(part) for part in self.pieces.parts), keys=tuple(self.keys),
            aggregates=tuple(self.aggregates), items=items, order=order, limit=self._read_limit(),
            grouped=bool(self.select.args.get("group") or having) or any(item.aggregate is None for item in items),
            touched=tuple(n for n, name in enumerate(self.pieces.sensitive_names) if name in self.pieces.touched),
            comparisons=tuple(self.pieces.comparisons), derived=derived, having=having,
        )  # fmt: skip

    # -- aggregates: of what, and over which of the rows that WHERE leaves ----------------------

    def _name_aggregate(self, node: exp.Expr) -> exp.Expr | None:
        """Return an aggregate over `value_0` …: a column, or what it is made of; None for any other node."""
        if not is_aggregate(node):
            return None
        made = split_case(node)
        if made is not None:
            return self._name_aggregate(made) or exp.paren(
                replace_nodes(made, lambda inner: self._name_aggregate(inner) or inner)
            )
        function = FUNCTIONS[function_name(node)]
        if isinstance(function, Moment):
            return self._write_moment(node, function)
        return self._name(self._read_aggregate(node))

    def _name(self, aggregate: Aggregate) -> exp.Column:
        """Return the column of an aggregate; equal ones share one."""
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return exp.column(f"value_{self.aggregates.index(aggregate)}")

    @staticmethod
    def _find(column: exp.Expr) -> int:
        return int(column.name.removeprefix("value_"))

    def _write_moment(self, node: exp.Expr, moment: Moment) -> exp.Expr:
        """Return a function of means over averages of what arguments differ from about their mean by."""
        function = function_of(node)
        arguments = [_read_argument(function), *([function.expression] if function.expression else [])]
        known = [exp.Is(this=exp.paren(argument), expression=exp.Null()).not_() for argument in arguments]
        conditions, chosen, limit = self._read_conditions([*_filters(node), *known])
        if conditions:
            arguments = [exp.Case().when(exp.and_(*conditions), argument) for argument in arguments]

        def mean(*factors: Piece) -> exp.Expr:
            by_role: dict[Role, list[str]] = {}
            for factor in factors:
                by_role.setdefault(factor.role, []).append(f"({factor.sql} - avg({factor.sql}) over ())")
            pieces = [Piece(role, Sql(f"({' * '.join(by_role[role])})")) for role in sorted(by_role)]
            return self._name(Aggregate(AVG, pieces[0], chosen, limit, *pieces[1:]))

        alone = [self.pieces.write(argument) for argument in arguments]
        roles = {piece.role for piece in alone}
        split = self.products and roles == {"quasi", "sensitive"}
        role: Role | None = "mixed" if len(roles) > 1 and not split else None
        means = {name: mean(piece) for name, piece in zip("xy", alone, strict=False)}
        means |= {name * 2: mean(piece, piece) for name, piece in zip("xy", alone, strict=False)}
        means["xy"] = mean(*(self.pieces.write(argument, role) for argument in arguments))
        rows = self.pieces.write(exp.Case().when(exp.and_(*conditions), exp.Literal.number(1))) if conditions else None
        means["n"] = self._name(Aggregate(COUNT, rows, chosen, limit))
        formula = sqlglot.parse_one(moment.formula, read="duckdb")
        return exp.paren(
            replace_nodes(formula, lambda inner: means[inner.name] if isinstance(inner, exp.Column) else inner)
        )

    def _read_aggregate(self, node: exp.Expr) -> Aggregate:
        function = FUNCTIONS[function_name(node)]
        if isinstance(function, Quantile):
            function, argument = _read_quantile(node.this if isinstance(node, exp.Filter) else node, function)
        else:
            argument = (_read_count if function.counts else _read_argument)(function_of(node))
        conditions = _filters(node)
        if function.counts and argument is not None:  # COUNT(x) counts the rows that have an x
            conditions.append(exp.Is(this=exp.paren(argument), expression=exp.Null()).not_())
            argument = None
        mixed, chosen, limit = self._read_conditions(conditions)
        if mixed:
            value = exp.Literal.number(1) if argument is None else argument.copy()
            argument = exp.Case().when(exp.and_(*mixed, wrap=True), value)
        pieces = [] if argument is None else self._write_factors(argument, function)
        return Aggregate(function, pieces[0] if pieces else None, chosen, limit, *pieces[1:])

    def _write_factors(self, argument: exp.Expr, function: Function) -> list[Piece]:
        """Write an argument; where it is what quasi columns say times what sensitive ones say, both: two pieces."""
        by_role: dict[Role, list[exp.Expr]] = {}
        for factor in _factors(argument) if self.products and function in (SUM, AVG) else ():
            by_role.setdefault(self.pieces.role(factor), []).append(factor)
        if by_role.keys() - {"constant"} != {"quasi", "sensitive"}:
            return [self.pieces.write(argument)]
        of_rows = [*by_role["quasi"], *by_role.get("constant", ())]
        return [self.pieces.write(reduce(_multiply, factors)) for factors in (of_rows, by_role["sensitive"])]

    def _read_conditions(self, conditions: Sequence[exp.Expr]) -> tuple[list[exp.Expr], Piece | None, Piece | None]:
        """Return conditions on both sides at once, and what the others choose of values and leave of rows."""
        by_role: dict[str, list[exp.Expr]] = {"quasi": [], "sensitive": [], "mixed": []}
        for condition in conditions:
            role = self.pieces.role(condition)
            by_role["quasi" if role == "constant" else role].append(condition.copy())
        chosen, limit = (
            self.pieces.write(exp.and_(*by_role[role], wrap=True)) if by_role[role] else None
            for role in ("sensitive", "quasi")
        )
        return by_role["mixed"], chosen, limit

    # -- GROUP BY ------------------------------------------------------------------------------

    def _key_nodes(self) -> list[exp.Expr]:
        group = self.select.args.get("group")
        if group is None:
            return []
        if not any(group.args.values()):
            WORDING.refuse("GROUP BY without a column", "name the columns to group by, or leave GROUP BY out")
        for clause, value in group.args.items():
            if value and clause not in {"expressions", "all"}:
                WORDING.refuse(f"GROUP BY {clause.upper()}")
        if group.args.get("all"):
            return [node for node in self.results.nodes if not reads_aggregate(node)]
        return [self._resolve_key(node) for node in group.expressions]

    def _resolve_key(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = self.results.at(node, "GROUP BY")
        # as DuckDB reads GROUP BY: a column comes before an alias of its name
        elif is_bare_name(node) and not self.results.is_column(node.name):
            node = self.results.by_alias(node.name) or node
        if reads_aggregate(node):
            WORDING.refuse("GROUP BY an aggregate")
        return node

    # -- SELECT --------------------------------------------------------------------------------

    def _number_derived(self, items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Derived, ...]]:
        """Number the expressions over aggregates behind the aggregates."""
        derived: list[Derived] = []
        for item, node in zip(items, self.results.nodes, strict=True):
            if item.aggregate == -1:
                derived.append(self._read_derived(item.sql, node))
        numbers = iter(range(len(self.aggregates), len(self.aggregates) + len(derived)))
        numbered = (replace(item, aggregate=next(numbers)) if item.aggregate == -1 else item for item in items)
        return tuple(numbered), tuple(derived)

    def _read_derived(self, sql: Sql, node: exp.Expr) -> Derived:
        """Say of an expression over aggregates which of them it reads."""
        values = [value for inner in _outermost_aggregates(node) if (value := self._name_aggregate(inner))]
        read = {self._find(column) for value in values for column in value.find_all(exp.Column)}
        divided = [division.expression for division in node.find_all(exp.Div, exp.IntDiv, exp.Mod)]
        divisors = [self._write_over_keys(each, self._name_aggregate) for each in divided if reads_aggregate(each)]
        return Derived(sql, tuple(sorted(read)), len(read) > 1 and self._is_share(node), tuple(divisors))

    def _is_share(self, node: exp.Expr) -> bool:
        """Tell whether an expression is a count of some rows over a count of these and others."""
        node = split_case(node.unnest()) or node.unnest()
        if not isinstance(node, exp.Div):
            return False
        sides = [self._name_aggregate(_unwrap(side)) for side in (node.this, node.expression)]
        if not all(isinstance(side, exp.Column) for side in sides):
            return False
        part, whole = (self.aggregates[self._find(side)] for side in sides if side is not None)
        return (
            part.function.counts
            and whole.function.counts
            and whole.argument in (None, part.argument)
            and whole.chosen in (None, part.chosen)
            and whole.limit in (None, part.limit)
        )

    def _write_over_keys(
        self, node: exp.Expr, name_aggregate: Callable[[exp.Expr], exp.Expr | None] = lambda _: None
    ) -> Sql:
        """Write an expression over the GROUP BY keys in it; `name_aggregate` gives the column of an aggregate."""
        # aggregates that will be replaced are left out of the check, which refuses them inside an expression
        unnamed = replace_nodes(node, lambda n: exp.null() if is_aggregate(n) and name_aggregate(n) else n)
        check_expression(unnamed, WORDING)
        keys = {key.sql: number for number, key in enumerate(self.keys, start=1)}

        def name_key(inner: exp.Expr) -> exp.Expr:
            aggregate = name_aggregate(inner)
            if aggregate is not None:
                return aggregate
            # neither a name by itself nor a WHEN of a CASE is an expression that could be a key
            if not isinstance(inner, exp.Identifier | exp.If):
                number = keys.get(self.pieces.write_aside(inner))
                if number is not None:
                    return exp.column(f"key_{number}")
            if isinstance(inner, exp.Column):
                WORDING.refuse(f"{inner.sql('duckdb')} outside GROUP BY", "group by it, or aggregate it")
            return inner

        return write_expression(replace_nodes(node, name_key))

    # -- ORDER BY and LIMIT --------------------------------------------------------------------

    def _read_order(self, items: Sequence[Item]) -> Iterator[Order]:
        clause = self.select.args.get("order")
        for term in clause.expressions if clause else ():
            if not isinstance(term, exp.Ordered) or term.args.get("with_fill"):
                WORDING.refuse("this ORDER BY")
            nulls = "nulls first" if term.args.get("nulls_first") else "nulls last"
            direction = Sql(f"{'desc' if term.args.get('desc') else 'asc'} {nulls}")
            if isinstance(term.this, exp.Var) and term.this.name.upper() == "ALL":
                yield from (Order(item.aggregate, item.sql, direction) for item in items)
            else:
                yield self._read_order_term(term.this, direction)

    def _read_order_term(self, node: exp.Expr, direction: Sql) -> Order:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = self.results.at(node, "ORDER BY")
        elif is_bare_name(node):  # as DuckDB reads ORDER BY: an alias that is a whole term comes before a column
            node = self.results.by_any_name(node)
        value = self._name_aggregate(node)
        if isinstance(value, exp.Column):
            return Order(self._find(value), Sql(""), direction)
        expression = replace_nodes(node, self._resolve_inside)
        return Order(None, self._write_over_keys(expression, self._name_aggregate), direction)

    def _resolve_inside(self, node: exp.Expr) -> exp.Expr:
        """Put what a result's name stands for into an expression of ORDER BY; here columns come first."""
        if not is_bare_name(node) or self.results.is_column(node.name):
            return node
        item = self.results.by_any_name(node)
        if item is node:
            return node
        return item.copy() if is_aggregate(item) else exp.Paren(this=item.copy())

    def _read_limit(self) -> int | None:
        limit = self.select.args.get("limit")
        if limit is None:
            return None
        number = limit.args.get("expression")
        plain = isinstance(limit, exp.Limit) and isinstance(number, exp.Literal) and number.name.isdigit()
        if not plain or number.is_string or limit.args.get("limit_options") or limit.expressions:
            WORDING.refuse("this LIMIT", "LIMIT takes a whole number")
        return int(number.name)


def _filters(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions of an aggregate's FILTER."""
    return list(conjuncts(node.expression.this)) if isinstance(node, exp.Filter) else []


def _unwrap(node: exp.Expr) -> exp.Expr:
    """Return what a side of a division is without casts, a factor of 1 and NULLIF(…, 0)."""
    node = node.unnest()
    if isinstance(node, exp.Cast | exp.Nullif):
        return _unwrap(node.this)
    if isinstance(node, exp.Mul):
        for side, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(side, exp.Literal) and not side.is_string and float(side.name) == 1:
                return _unwrap(other)
    return node


def _factors(node: exp.Expr) -> list[exp.Expr]:
    """Return what is multiplied in an expression; a sign, and a number that divides it, are factors as well."""
    node = node.unnest()
    if isinstance(node, exp.Cast) and node.to.is_type("double") and isinstance(node.this.unnest(), exp.Mul):
        return _factors(node.this)
    if isinstance(node, exp.Neg):
        return [*_factors(node.this), exp.Literal.number(-1)]
    if isinstance(node, exp.Div) and isinstance(node.expression, exp.Literal):
        return [*_factors(node.this), exp.Div(this=exp.Literal.number("1.0"), expression=node.expression.copy())]
    return [*_factors(node.this), *_factors(node.expression)] if isinstance(node, exp.Mul) else [node]


def _multiply(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.paren(one), expression=exp.paren(other))  # both are copied


def _outermost_aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates of an expression, FILTER included."""
    if is_aggregate(node):
        yield node
    else:
        for inner in node.iter_expressions():
            yield from _outermost_aggregates(inner)
