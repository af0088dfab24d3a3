"""Read the definitions of views and of a secret query: which columns of the base they show, and which rows.

A view is `SELECT columns FROM base [WHERE condition]`, a secret `SELECT id, property FROM base [WHERE condition]`.
What is read here is columns and checked trees; the user's text goes no further.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.plans.roles import tell_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.user_sql import (
    Wording,
    check_expression,
    conjuncts,
    parse_select,
    read_table,
    replace_nodes,
    write_expression,
)

# what names a file is no name that FROM could use
PATH = re.compile(r"/|\.(csv|tsv|txt|parquet|parq|pq|json|jsonl|ndjson|gz|zst)\Z", re.IGNORECASE)
VIEW = "a view is SELECT [DISTINCT] columns FROM base [WHERE condition over columns that every view shows]"
SECRET = "a secret is SELECT id, property FROM base [WHERE condition]"


@dataclass(frozen=True)
class View:
    """The base columns that one view shows, and the parts of WHERE that AND joins; `distinct` where it says so."""

    columns: tuple[str, ...]
    distinct: bool
    conditions: tuple["Condition", ...] = ()


@dataclass(frozen=True)
class Condition:
    """One part of a WHERE, and the base columns that it reads."""

    columns: frozenset[str]
    _tree: exp.Expr = field(repr=False)
    _spelled: Mapping[str, str] = field(repr=False, compare=False)

    def over(self, names: Mapping[str, str]) -> Sql:
        """Write the condition over other names of its columns."""

        def rename(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column):
                return exp.column(names[self._spelled[node.name.lower()]])
            return node

        return write_expression(replace_nodes(self._tree, rename))


@dataclass(frozen=True)
class Secret:
    """Which associations are secret: columns of id and property, and the parts of WHERE that AND joins."""

    identifier: str
    property: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Base:
    """The base's columns, and the names by which FROM may call it (`base` always)."""

    columns: Collection[str]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Collection[str], source: object) -> "Base":
        """Take a source as it was asked for: a table is called by its name, a file or an object `base` alone."""
        is_name = isinstance(source, str) and not PATH.search(source)
        return cls(columns, (str(source),) if is_name else ())

    def spelling(self) -> dict[str, str]:
        """Return the columns as the base spells them by their names without case."""
        return {name.lower(): name for name in self.columns}


def read_view(sql: str, base: Base, number: int) -> View:
    """Read the definition of view `number`; raise QueryError, naming the piece, for all that is no projection."""
    words = Wording(f"view {number}", f"is not allowed in view {number}", VIEW)
    select = parse_select(sql, words, {"expressions", "from_", "distinct", "where"})
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        words.refuse("DISTINCT ON")
    qualifiers = _qualifiers(select, base, words)
    columns = [_column(node, base, qualifiers, words) for node in select.expressions]
    conditions = _conditions(select, base, qualifiers, words)
    return View(tuple(dict.fromkeys(columns)), distinct is not None, conditions)


def read_secret(sql: str, base: Base) -> Secret:
    """Read the secret query; raise QueryError, naming the piece, for all that is outside its grammar."""
    words = Wording("the secret", "is not allowed in the secret", SECRET)
    select = parse_select(sql, words, {"expressions", "from_", "where"})
    qualifiers = _qualifiers(select, base, words)
    columns = [_column(node, base, qualifiers, words) for node in select.expressions]
    if len(columns) != 2:
        raise QueryError(f"the secret names {len(columns)} columns; name the id, then the property")
    if columns[0] == columns[1]:
        raise QueryError(f"the secret names {columns[0]!r} as id and as property; an association has two columns")
    return Secret(columns[0], columns[1], _conditions(select, base, qualifiers, words))


def name_columns(definitions: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that definitions name, as the first one spells each: all that is known without a database."""
    words = Wording("a definition", "is not allowed in a definition", f"{VIEW}; {SECRET}")
    trees = [parse_select(sql, words, {"expressions", "from_", "distinct", "where"}) for sql in definitions]
    columns: dict[str, str] = {}
    for column in (node for tree in trees for node in tree.find_all(exp.Column)):
        if isinstance(column.this, exp.Identifier):
            columns.setdefault(column.name.lower(), column.name)
    return tuple(columns.values())


def _qualifiers(select: exp.Select, base: Base, words: Wording) -> set[str]:
    """Check that FROM names the base alone; return the names that may stand before a column's."""
    source = select.args.get("from_")
    table = read_table(source and source.this, words, f"read FROM {_name_base(base)}", {"db", "catalog"})
    parts = [part.name for part in table.parts]
    allowed = {"base", *(name.lower() for name in base.names)}
    # a base that was named as schema.table may stand in FROM by its last part
    allowed |= {name.rpartition(".")[2] for name in allowed if len(name.split(".")) <= 3}
    if ".".join(parts).lower() not in allowed:
        raise QueryError(f"{words.subject} reads {'.'.join(parts)!r}; there is one table to read: {_name_base(base)}")
    # an alias hides the table's own name, in every engine
    return {table.alias_or_name.lower()}


def _name_base(base: Base) -> str:
    return " or ".join(dict.fromkeys(("base", *(str(ident(name)) for name in base.names))))


def _column(node: exp.Expr, base: Base, qualifiers: set[str], words: Wording) -> str:
    """Return the base's column that a node names; refuse an expression."""
    inner = node.unalias()
    if not isinstance(inner, exp.Column) or not isinstance(inner.this, exp.Identifier) or inner.args.get("db"):
        words.refuse(
            node.sql("duckdb", comments=False), f"{words.grammar}, and its columns are plain, named one by one"
        )
    if inner.table and inner.table.lower() not in qualifiers:
        words.refuse(f"the table {inner.table!r}", f"the one table is {_name_base(base)}")
    name = base.spelling().get(inner.name.lower())
    if name is None:
        told = tell_columns(base.columns)
        raise QueryError(f"{words.subject} names {inner.name!r}, no column of the base; {told}")
    return name


def _conditions(select: exp.Select, base: Base, qualifiers: set[str], words: Wording) -> tuple[Condition, ...]:
    """Return the parts of WHERE that AND joins."""
    where, conditions = select.args.get("where"), []
    for node in conjuncts(where.this) if where else ():
        check_expression(node, words)
        columns = frozenset(_column(column, base, qualifiers, words) for column in node.find_all(exp.Column))
        conditions.append(Condition(columns, node, base.spelling()))
    return tuple(conditions)
