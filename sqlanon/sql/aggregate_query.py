"""Read a recipient's SELECT, refuse what is outside the grammar, and rebuild its pieces over our own names.

The user's text never reaches an engine: it is parsed, every node must be in the allow-list, columns become
`quasi_1` …, `sensitive` (of several: `sensitive_1` …), and each piece is written again from the tree. A condition
or expression that mixes quasi columns with sensitive ones is split: its largest pieces that read only sensitive
columns are the `parts`; they are evaluated once per sensitive value (or combination of values), and the mixture
reads them as columns `part_1` ….
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.grammar import CLAUSE_NAMES, CLAUSES, GRAMMAR
from sqlanon.sql.user_sql import Wording, check, conjuncts, replaced, statement, text

Role = Literal["constant", "quasi", "sensitive", "mixed"]
INTERVAL = ("std_error", "low", "high")


@dataclass(frozen=True)
class Piece:
    """An expression over internal names; `other` is the same one reading `other_part_1` … for its parts."""

    role: Role
    sql: Sql
    other: Sql


@dataclass(frozen=True)
class Aggregate:
    """COUNT(*) (no argument), SUM or AVG of an argument."""

    function: Literal["count", "sum", "avg"]
    argument: Piece | None = None


@dataclass(frozen=True)
class Item:
    """One column of the answer: an aggregate (by number), or an expression over `key_1` …."""

    name: str
    aggregate: int | None
    sql: Sql


@dataclass(frozen=True)
class Order:
    """One term of ORDER BY: an aggregate (by number) or an expression over keys, and what follows it."""

    aggregate: int | None
    sql: Sql
    direction: Sql


@dataclass(frozen=True)
class Query:
    """A query in pieces: conjuncts and keys by what they read, aggregates, the answer's columns and order.

    touched: the sensitive columns that it reads, by their place among the release's, from 0.
    """

    conditions: tuple[Piece, ...]
    parts: tuple[Sql, ...]
    keys: tuple[Piece, ...]
    aggregates: tuple[Aggregate, ...]
    items: tuple[Item, ...]
    order: tuple[Order, ...]
    limit: int | None
    grouped: bool
    touched: tuple[int, ...] = ()

    def filters(self, *roles: Role) -> list[Piece]:
        """Return the conjuncts of WHERE that have one of these roles."""
        return [piece for piece in self.conditions if piece.role in roles]


def parse(sql: str, quasi: Sequence[str], sensitive: str | Sequence[str]) -> Query:
    """Read one query over the published columns.

    quasi, sensitive: the published names; matched without case. A text is one sensitive column, called `sensitive`
    in the pieces; those of a sequence are called `sensitive_1` ….
    Raises QueryError, naming what was asked and what is allowed, for all that the grammar leaves out.
    """
    try:
        return _Reader(statement(sql, WORDING, CLAUSES), quasi, sensitive).query()
    except RecursionError:
        raise QueryError("the query is nested too deeply; write it with fewer brackets") from None


WORDING = Wording("the query", "is not answered from a release", GRAMMAR)
_refuse = WORDING.refuse


class _Reader:
    """Turn one SELECT into a Query; the tables of names and parts fill as pieces are read."""

    def __init__(self, statement: exp.Select, quasi: Sequence[str], sensitive: str | Sequence[str]) -> None:
        self.statement = statement
        secret = {sensitive: "sensitive"} if isinstance(sensitive, str) else _numbered("sensitive", sensitive)
        self.secret = list(secret.values())
        self.internal = {name.lower(): inside for name, inside in (_numbered("quasi", quasi) | secret).items()}
        self.published = {name.lower(): name for name in (*quasi, *secret)}
        self.touched: set[str] = set()
        self.qualifier = self._source()
        self.parts: list[str] = []
        self.aggregates: list[Aggregate] = []
        self.keys: list[Piece] = []

    def query(self) -> Query:
        """Read the clauses in the order in which they give names to each other."""
        where = self.statement.args.get("where")
        conditions = tuple(self.piece(node) for node in conjuncts(where.this)) if where else ()
        self.keys = [self.piece(node) for node in self._keys()]
        self._require_aggregate()
        items = self._items()
        order = tuple(self._order(items))
        return Query(
            conditions,
            tuple(Sql(part) for part in self.parts),
            tuple(self.keys),
            tuple(self.aggregates),
            tuple(items),
            order,
            self._limit(),
            bool(self.statement.args.get("group")) or any(item.aggregate is None for item in items),
            tuple(place for place, name in enumerate(self.secret) if name in self.touched),
        )

    def _require_aggregate(self) -> None:
        items = [_unaliased(node) for node in self.statement.expressions]
        if not any(_is_aggregate(node) for node in items):
            for node in items:
                check(node, WORDING)
            _refuse("a query without an aggregate")

    # -- FROM and names ------------------------------------------------------------------------

    def _source(self) -> str:
        source = self.statement.args.get("from_")
        table = source.this if source else None
        if isinstance(table, exp.Subquery):
            _refuse("a subquery")
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            _refuse("this FROM", "read FROM release")
        extra = [key for key, value in table.args.items() if value and key not in {"this", "alias"}]
        if extra:
            _refuse(CLAUSE_NAMES.get(extra[0], extra[0].upper()), "read FROM release, without more")
        if table.name.lower() != "release":
            _refuse(f"FROM {table.name!r}", "the one table is called release")
        alias = table.args.get("alias")
        if alias is not None and alias.columns:
            _refuse("renaming columns in FROM")
        return (alias.name if alias is not None else table.name).lower()

    def _column(self, node: exp.Column) -> str:
        if not isinstance(node.this, exp.Identifier) or node.args.get("db"):
            _refuse(node.sql("duckdb"), "columns are written name or release.name")
        if node.table and node.table.lower() != self.qualifier:
            _refuse(f"the table {node.table!r}", "the one table is called release")
        name = self.internal.get(node.name.lower())
        if name is None:
            known = ", ".join(repr(column) for column in self.published.values())
            raise QueryError(f"no column {node.name!r} in the release; its columns are {known}")
        self.touched.add(name)
        return name

    # -- expressions ---------------------------------------------------------------------------

    def piece(self, node: exp.Expr) -> Piece:
        """Check an expression and write it over internal names."""
        check(node, WORDING)
        role = self._role(node)
        return Piece(role, self._written(node, role, "part"), self._written(node, role, "other_part"))

    def _role(self, node: exp.Expr) -> Role:
        names = {self._column(column) for column in node.find_all(exp.Column)}
        if not names:
            return "constant"
        if names <= set(self.secret):
            return "sensitive"
        return "mixed" if names & set(self.secret) else "quasi"

    def _written(self, node: exp.Expr, role: Role, part: str) -> Sql:
        def renamed(inner: exp.Expr) -> exp.Expr:
            if role == "mixed" and not isinstance(inner, exp.If) and self._role(inner) == "sensitive":
                return exp.column(f"{part}_{self._part(inner)}")
            return exp.column(self._column(inner)) if isinstance(inner, exp.Column) else inner

        return text(replaced(node, renamed))

    def _part(self, node: exp.Expr) -> int:
        """Number a piece that reads only sensitive columns; equal pieces share one number."""
        sql = self._written(node, "sensitive", "part")
        if sql not in self.parts:
            self.parts.append(sql)
        return self.parts.index(sql) + 1

    # -- the clauses ---------------------------------------------------------------------------

    def _keys(self) -> list[exp.Expr]:
        group = self.statement.args.get("group")
        if group is None:
            return []
        for clause, value in group.args.items():
            if value and clause not in {"expressions", "all"}:
                _refuse(f"GROUP BY {clause.upper()}")
        items = self.statement.expressions
        if group.args.get("all"):
            return [_unaliased(node) for node in items if not _is_aggregate(_unaliased(node))]
        return [self._key(node) for node in group.expressions]

    def _key(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = self._ordinal(node, "GROUP BY")
        elif self._is_alias(node) and node.name.lower() not in self.internal:
            node = self._aliased(node.name) or node
        if _is_aggregate(node):
            _refuse("GROUP BY an aggregate")
        return node

    def _ordinal(self, node: exp.Expr, clause: str) -> exp.Expr:
        items = self.statement.expressions
        if not node.name.isdigit() or not 1 <= int(node.name) <= len(items):
            raise QueryError(f"{clause} {node.name} is no column of the answer; it has columns 1 to {len(items)}")
        return _unaliased(items[int(node.name) - 1])

    def _is_alias(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and not node.table and isinstance(node.this, exp.Identifier)

    def _aliased(self, name: str) -> exp.Expr | None:
        for node in self.statement.expressions:
            if isinstance(node, exp.Alias) and node.alias.lower() == name.lower():
                return _unaliased(node)
        return None

    def _items(self) -> list[Item]:
        items: list[Item] = []
        taken: list[str] = []
        for node in self.statement.expressions:
            inner = _unaliased(node)
            counted = _is_aggregate(inner)
            name = _free(node.alias or self._natural_name(inner), taken, counted)
            taken += [name, *(f"{name}_{end}" for end in INTERVAL if counted)]
            items.append(
                Item(name, self._aggregate(inner), Sql("")) if counted else Item(name, None, self._over_keys(inner))
            )
        return items

    def _natural_name(self, node: exp.Expr) -> str:
        if _is_aggregate(node):
            return type(node).__name__.lower()
        if isinstance(node, exp.Column):
            self._column(node)
            return self.published[node.name.lower()]
        return node.sql("duckdb", comments=False)

    def _aggregate(self, node: exp.Expr) -> int:
        aggregate = self._read_aggregate(node)
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return self.aggregates.index(aggregate)

    def _read_aggregate(self, node: exp.Expr) -> Aggregate:
        if isinstance(node, exp.Count):
            if not isinstance(node.this, exp.Star) or any(node.this.args.values()) or node.expressions:
                distinct = "DISTINCT " if isinstance(node.this, exp.Distinct) else ""
                _refuse(f"COUNT({distinct}x)", "count rows with COUNT(*), and say what they satisfy in WHERE")
            return Aggregate("count")
        name = type(node).__name__.lower()
        if node.this is None or isinstance(node.this, exp.Star):
            _refuse(f"{name.upper()} without an expression")
        return replace(Aggregate("sum"), function=name, argument=self.piece(node.this))  # type: ignore[arg-type]

    def _over_keys(self, node: exp.Expr, figure: Callable[[exp.Expr], exp.Expr | None] = lambda _: None) -> Sql:
        """Write an expression over the GROUP BY keys that it is made of, and over what `figure` puts in place."""
        check(replaced(node, lambda inner: exp.null() if _is_aggregate(inner) and figure(inner) else inner), WORDING)
        keys = {key.sql: number for number, key in enumerate(self.keys, start=1)}

        def as_key(inner: exp.Expr) -> exp.Expr:
            known = figure(inner)
            if known is not None:
                return known
            if isinstance(inner, exp.Column | exp.Expr) and not isinstance(inner, exp.Identifier | exp.If):
                number = keys.get(self._plain(inner))
                if number is not None:
                    return exp.column(f"key_{number}")
            if isinstance(inner, exp.Column):
                _refuse(f"{inner.sql('duckdb')} outside GROUP BY", "group by it, or aggregate it")
            return inner

        written = replaced(node, as_key)
        return text(written)

    def _plain(self, node: exp.Expr) -> Sql:
        """Write an expression as the keys are written, to compare the two; nothing is kept of it."""
        before = list(self.parts)
        try:
            return self._written(node, self._role(node), "part")
        finally:
            self.parts = before

    def _order(self, items: Sequence[Item]) -> Iterator[Order]:
        clause = self.statement.args.get("order")
        for term in clause.expressions if clause else ():
            if not isinstance(term, exp.Ordered) or term.args.get("with_fill"):
                _refuse("this ORDER BY")
            nulls = "nulls first" if term.args.get("nulls_first") else "nulls last"
            direction = Sql(f"{'desc' if term.args.get('desc') else 'asc'} {nulls}")
            if isinstance(term.this, exp.Var) and term.this.name.upper() == "ALL":
                yield from (Order(item.aggregate, item.sql, direction) for item in items)
            else:
                yield self._order_term(term.this, direction)

    def _order_term(self, node: exp.Expr, direction: Sql) -> Order:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = self._ordinal(node, "ORDER BY")
        elif self._is_alias(node):
            node = self._aliased(node.name) or self._by_result_name(node)
        if _is_aggregate(node):
            return Order(self._aggregate(node), Sql(""), direction)
        return Order(None, self._over_keys(replaced(node, self._named_inside), self._figure), direction)

    def _named_inside(self, node: exp.Expr) -> exp.Expr:
        """Put what a result's name stands for into an expression of ORDER BY; columns come first."""
        if not self._is_alias(node) or node.name.lower() in self.internal:
            return node
        found = self._aliased(node.name) or self._by_result_name(node)
        return node if found is node else found.copy() if _is_aggregate(found) else exp.Paren(this=found.copy())

    def _figure(self, node: exp.Expr) -> exp.Expr | None:
        return exp.column(f"value_{self._aggregate(node)}") if _is_aggregate(node) else None

    def _by_result_name(self, node: exp.Expr) -> exp.Expr:
        """Find an aggregate that bears its default name, as in ORDER BY count; columns come first."""
        if node.name.lower() in self.internal:
            return node
        for item in map(_unaliased, self.statement.expressions):
            if _is_aggregate(item) and type(item).__name__.lower() == node.name.lower():
                return item
        return node

    def _limit(self) -> int | None:
        limit = self.statement.args.get("limit")
        if limit is None:
            return None
        number = limit.args.get("expression")
        plain = isinstance(limit, exp.Limit) and isinstance(number, exp.Literal) and number.name.isdigit()
        if not plain or number.is_string or limit.args.get("limit_options") or limit.expressions:
            _refuse("this LIMIT", "LIMIT takes a whole number")
        return int(number.name)


def _numbered(prefix: str, names: Sequence[str]) -> dict[str, str]:
    return {name: f"{prefix}_{number}" for number, name in enumerate(names, start=1)}


def _unaliased(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _is_aggregate(node: exp.Expr) -> bool:
    return type(node) in (exp.Count, exp.Sum, exp.Avg)


def _free(wanted: str, taken: Sequence[str], counted: bool) -> str:
    """Return the first of wanted, wanted_2, … that leaves room for its own columns of error and bounds."""
    tried: list[str] = list(taken)
    while True:
        name = free_name(wanted, tried)
        columns = [f"{name}_{end}".lower() for end in INTERVAL] if counted else []
        if not set(columns) & {other.lower() for other in taken}:
            return name
        tried.append(name)
