"""Find columns of a query's answer by number, alias or default name, as GROUP BY and ORDER BY refer to them."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import FUNCTIONS
from sqlanon.plans.roles import free_name
from sqlanon.sql.aggregate_query import INTERVAL
from sqlanon.sql.query_pieces import PieceWriter


class ResultNames:
    """Find the items of SELECT that other clauses name."""

    def __init__(self, select: exp.Select, pieces: PieceWriter) -> None:
        """Take the items; `pieces` knows the release's columns, which come before names of results."""
        self._items = select.expressions
        self.nodes: list[exp.Expr] = [item.unalias() for item in self._items]
        self._pieces = pieces

    def at(self, node: exp.Expr, clause: str) -> exp.Expr:
        """Return the item that a number in `clause` means; raise QueryError where there are fewer."""
        if not node.name.isdigit() or not 1 <= int(node.name) <= len(self.nodes):
            raise QueryError(f"{clause} {node.name} is no column of the answer; it has columns 1 to {len(self.nodes)}")
        return self.nodes[int(node.name) - 1]

    def by_alias(self, name: str) -> exp.Expr | None:
        """Return the first item that bears this alias."""
        for node, item in zip(self.nodes, self._items, strict=True):
            if isinstance(item, exp.Alias) and item.alias.lower() == name.lower():
                return node
        return None

    def by_any_name(self, node: exp.Expr) -> exp.Expr:
        """Return the item with this alias, or the aggregate of this default name (ORDER BY count), else the node."""
        aliased = self.by_alias(node.name)
        if aliased is not None or self.is_column(node.name):
            return aliased or node
        for item in self.nodes:
            if is_aggregate(item) and self.default(item) == node.name.lower():
                return item
        return node

    def is_column(self, name: str) -> bool:
        """Tell whether the release has a column of this name."""
        return name.lower() in self._pieces.internal

    def default(self, node: exp.Expr) -> str:
        """Return what an item without alias is called."""
        if is_aggregate(node):
            return FUNCTIONS[function_name(node)].name
        if isinstance(node, exp.Column):
            self._pieces.column(node)
            return self._pieces.spelling[node.name.lower()]
        return node.sql("duckdb", comments=False)

    def all(self) -> Iterator[str]:
        """Yield the names of the answer's columns, each free of those before it."""
        names: list[str] = []
        for node, item in zip(self.nodes, self._items, strict=True):
            estimated = reads_aggregate(node)
            name = _free_item_name(item.alias or self.default(node), names, estimated)
            names += [name, *(f"{name}_{end}" for end in INTERVAL if estimated)]
            yield name


def is_bare_name(node: exp.Expr) -> bool:
    """Tell whether a node is one name without a table: a column's or a result's."""
    return isinstance(node, exp.Column) and not node.table and isinstance(node.this, exp.Identifier)


def function_of(node: exp.Expr) -> exp.Expr:
    """Return the aggregate that FILTER and WITHIN GROUP stand behind, or the node itself."""
    while isinstance(node, exp.Filter | exp.WithinGroup):
        node = node.this
    return node


def function_name(node: exp.Expr) -> str:
    """Return the name of the aggregate that a node is, in lower case; of another node its kind."""
    return type(function_of(node)).__name__.lower()


def is_aggregate(node: exp.Expr) -> bool:
    """Tell whether a node is an aggregate that is estimated."""
    return function_name(node) in FUNCTIONS


def reads_aggregate(node: exp.Expr) -> bool:
    """Tell whether an expression is or holds an aggregate that is estimated."""
    return any(is_aggregate(inner) for inner in node.walk())


def _free_item_name(base: str, names: Sequence[str], estimated: bool) -> str:
    """Return the first of base, base_2, … that leaves room for its own columns of error and bounds."""
    tried: list[str] = list(names)
    while True:
        name = free_name(base, tried)
        columns = [f"{name}_{end}".lower() for end in INTERVAL] if estimated else []
        if not set(columns) & {other.lower() for other in names}:
            return name
        tried.append(name)
