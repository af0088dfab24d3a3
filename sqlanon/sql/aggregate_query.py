"""A recipient's query in pieces, each written over names of ours: what `query_reader` reads and estimation runs.

Columns are called `quasi_1` …, `sensitive` (of several: `sensitive_1` …). A condition or expression that mixes quasi
columns with sensitive ones is split: its largest pieces that read only sensitive columns are the `parts`; they are
evaluated once per sensitive value (or combination of values), and the mixture reads them as columns `part_1` ….
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    from sqlanon.estimators.aggregates import Function

Role = Literal["constant", "quasi", "sensitive", "mixed"]
INTERVAL = ("std_error", "low", "high")  # the columns that an aggregate adds to the answer, behind its own name


@dataclass(frozen=True)
class Piece:
    """An expression over internal names."""

    role: Role
    sql: Sql

    @property
    def counted(self) -> "Piece":
        """Return 1 where the expression is not NULL, else NULL."""
        return Piece(self.role, Sql(f"(case when {self.sql} is not null then 1 end)"))


@dataclass(frozen=True)
class Aggregate:
    """A function of an argument; COUNT of none counts rows, and COUNT of one sums its 1 and NULL.

    chosen, limit: conditions on sensitive columns, and on quasi columns, that leave out values, and rows, for this
    aggregate alone. times: what of the sensitive columns the argument, of quasi columns, is multiplied by.
    """

    function: "Function"
    argument: Piece | None = None
    chosen: Piece | None = None
    limit: Piece | None = None
    times: Piece | None = None


@dataclass(frozen=True)
class Derived:
    """An expression over aggregates: `sql` reads `value_0` … and `key_1` …, by the numbers of the aggregates (`read`).

    is_share: whether it is a count over one of the same rows and more: between 0 and 1, and 1 where nothing is left
    out. divisors: what of aggregates it divides by.
    """

    sql: Sql
    read: tuple[int, ...]
    is_share: bool
    divisors: tuple[Sql, ...] = ()


@dataclass(frozen=True)
class Item:
    """One column of the answer: an aggregate (by number), or an expression over `key_1` ….

    The numbers of expressions over aggregates come behind those of the aggregates.
    """

    name: str
    aggregate: int | None
    sql: Sql


@dataclass(frozen=True)
class Order:
    """One term of ORDER BY: an aggregate (by number) or an expression over keys, and its direction."""

    aggregate: int | None
    sql: Sql
    direction: Sql


@dataclass(frozen=True)
class Comparison:
    """An expression over one column that the query compares with a constant, both over internal names.

    column: the internal name. named: the expression as the user wrote it. operator: = (for IN, <> and
    NOT IN as well), or one of < <= > >= (for BETWEEN two of them).
    """

    column: str
    side: Sql
    constant: Sql
    named: str
    operator: Sql


@dataclass(frozen=True)
class Query:
    """A query in pieces: conjuncts and keys by what they read, aggregates, the answer's columns and order.

    touched: the sensitive columns that it reads, by their place among the release's, from 0. comparisons: the
    constants that it compares columns with, wherever it does. having: conditions on `value_0` … and `key_1` ….
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
    comparisons: tuple[Comparison, ...] = ()
    derived: tuple[Derived, ...] = ()
    having: tuple[Sql, ...] = ()

    def filters(self, *roles: Role) -> list[Piece]:
        """Return the conjuncts of WHERE that have one of these roles."""
        return [piece for piece in self.conditions if piece.role in roles]
