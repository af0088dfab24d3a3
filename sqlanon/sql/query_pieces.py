"""Check the expressions of a recipient's query, write them over names of ours, and find the answer's columns by name.

Expressions are split by what they read. GROUP BY and ORDER BY refer to the answer's columns by number, alias or default
name.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import FUNCTIONS
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Comparison, Piece, Role
from sqlanon.sql.grammar import GRAMMAR
from sqlanon.sql.user_sql import Wording, check_expression, read_table, replace_nodes, write_expression
from sqlanon.wording import find_near

_EQUALITIES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
# each as it is said of its left side, and of its right one
_ORDERS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
WORDING = Wording("the query", "is not answered from a release", GRAMMAR)


class PieceWriter:
    """Write expressions over internal names; remember which sensitive columns they read, and their parts."""

    def __init__(self, select: exp.Select, quasi: Sequence[str], sensitive: str | Sequence[str]) -> None:
        """Take the published names, and from FROM the one name that may stand before a column's."""
        secret = {sensitive: "sensitive"} if isinstance(sensitive, str) else _number("sensitive", sensitive)
        self.sensitive_names = list(secret.values())
        self.internal = {name.lower(): inside for name, inside in (_number("quasi", quasi) | secret).items()}
        self.spelling = {name.lower(): name for name in (*quasi, *secret)}
        self.touched: set[str] = set()
        self.parts: list[str] = []
        self.comparisons: dict[Comparison, None] = {}  # in the order of the query
        # FROM names the release alone; by what name columns may call it
        source = select.args.get("from_")
        table = read_table(source and source.this, WORDING, "read FROM release, without more")
        if table.name.lower() != "release":
            WORDING.refuse(f"FROM {table.name!r}", "the one table is called release")
        self._qualifier = table.alias_or_name.lower()

    def write(self, node: exp.Expr, role: Role | None = None) -> Piece:
        """Check an expression and write it over internal names; role: that of what it will stand in, or its own."""
        check_expression(node, WORDING)
        role = role or self.role(node)
        self.comparisons |= dict.fromkeys(self._compare(node))
        return Piece(role, self._write(node, role))

    def write_aside(self, node: exp.Expr) -> Sql:
        """Write an expression as keys are written, to compare the two; no part of it is kept."""
        before = list(self.parts)
        try:
            return self._write(node, self.role(node))
        finally:
            self.parts = before

    def column(self, node: exp.Column) -> str:
        """Return a column's internal name; raise QueryError where the release has no such column."""
        if not isinstance(node.this, exp.Identifier) or node.args.get("db"):
            WORDING.refuse(node.sql("duckdb"), "columns are written name or release.name")
        if node.table and node.table.lower() != self._qualifier:
            WORDING.refuse(f"the table {node.table!r}", "the one table is called release")
        name = self.internal.get(node.name.lower())
        if name is None:
            names = list(self.spelling.values())
            near = "".join(f"; did you mean {candidate!r}?" for candidate in find_near(node.name, names, most=1))
            columns = ", ".join(map(repr, names))
            is_text = node.this.quoted or (isinstance(node.parent, exp.Binary) and node.parent.expression is node)
            text = f"; a text stands in single quotes, '{node.name}'" if is_text and not near else ""
            raise QueryError(f"no column {node.name!r} in the release{text}{near or ';'} its columns are {columns}")
        self.touched.add(name)
        return name

    def role(self, node: exp.Expr) -> Role:
        """Tell what an expression reads."""
        names = {self.column(column) for column in node.find_all(exp.Column)}
        if not names:
            return "constant"
        if names <= set(self.sensitive_names):
            return "sensitive"
        return "mixed" if names & set(self.sensitive_names) else "quasi"

    def _compare(self, node: exp.Expr) -> Iterator[Comparison]:
        """Yield what is compared with constants by =, <>, IN, an order or BETWEEN, where it reads one column."""
        for comparison in node.find_all(*_EQUALITIES, *_ORDERS, exp.Between):
            if isinstance(comparison, exp.Between):
                yield from self._compare_side(comparison.this, [comparison.args["low"]], ">=")
                yield from self._compare_side(comparison.this, [comparison.args["high"]], "<=")
                continue
            side, *others = comparison.this, *(comparison.expressions or [comparison.expression])
            ahead, behind = _ORDERS.get(type(comparison), ("=", "="))
            yield from self._compare_side(side, others, ahead)
            if not isinstance(comparison, exp.In):
                yield from self._compare_side(others[0], [side], behind)

    def _compare_side(self, side: exp.Expr, others: Sequence[exp.Expr], operator: str) -> Iterator[Comparison]:
        names = {self.column(column) for column in side.find_all(exp.Column)}
        if len(names) != 1:
            return
        constants = [other for other in others if isinstance(other, exp.Literal) or _is_constant(other)]
        if not constants:
            return
        (name,) = names
        written, text = self._write(side, "quasi"), side.sql("duckdb", comments=False)
        for constant in constants:
            yield Comparison(name, written, _write_constant(constant), text, Sql(operator))

    def _write(self, node: exp.Expr, role: Role) -> Sql:
        if isinstance(node, exp.Column) and role != "mixed":  # what most conditions compare: no tree to copy
            return write_expression(exp.column(self.column(node)), copy=False)

        def rename(inner: exp.Expr) -> exp.Expr:
            # a WHEN of a CASE (exp.If) is no expression by itself: its condition and its value are
            if role == "mixed" and not isinstance(inner, exp.If) and self.role(inner) == "sensitive":
                return exp.column(f"part_{self._part(inner)}")
            return exp.column(self.column(inner)) if isinstance(inner, exp.Column) else inner

        return write_expression(replace_nodes(node, rename), copy=False)

    def _part(self, node: exp.Expr) -> int:
        """Number a piece that reads only sensitive columns; equal pieces share one number."""
        sql = self._write(node, "sensitive")
        if sql not in self.parts:
            self.parts.append(sql)
        return self.parts.index(sql) + 1


def _is_constant(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Null) and not node.find(exp.Column)


def _write_constant(node: exp.Expr) -> Sql:
    """Write an expression that reads no column; plain literals, of which a list may hold hundreds, without a walk."""
    if isinstance(node, exp.Literal) and node.name.isascii() and node.name.isalnum():
        return Sql(f"('{node.name}')" if node.is_string else f"({node.name})")
    return write_expression(node)


def _number(prefix: str, names: Sequence[str]) -> dict[str, str]:
    return {name: f"{prefix}_{number}" for number, name in enumerate(names, start=1)}


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
