"""Split a query over uncertain data: pieces that read one column, and what must be evaluated together.

Each largest piece that reads one quasi column is a mark of that column: its value is found once per candidate. What
is left of conditions and keys reads marks; those that share a column are one component, others are independent.
"""

from dataclasses import dataclass, field

from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query
from sqlanon.sql.user_sql import name_column_pieces

QUASI = "quasi_"


@dataclass(frozen=True)
class Component:
    """Conditions and keys over the marks of some columns; `mixed`: they read parts of the sensitive side too.

    conditions: expression and columns. keys: place among the query's quasi keys, from 1, and expression.
    keyed: the columns that the keys read.
    """

    columns: frozenset[int]
    conditions: tuple[tuple[Sql, frozenset[int]], ...] = ()
    keys: tuple[tuple[int, Sql], ...] = ()
    keyed: frozenset[int] = frozenset()
    mixed: bool = False

    @property
    def asked_columns(self) -> list[int]:
        """Return the columns that conditions and keys read: an open cell of these is certain of nothing."""
        return sorted(self.keyed.union(*(columns for _, columns in self.conditions)))

    @property
    def values(self) -> dict[str, object]:
        """Return the component as the chapter of cells takes it.

        open_conditions: each condition with the columns whose open cells may satisfy it. A column that GROUP BY reads
        is none of them: an open cell is listed under values that it may hold.
        """
        return {
            "columns": sorted(self.columns),
            "named_keys": self.keys,
            "mixed": self.mixed,
            "asked_columns": self.asked_columns,
            "open_conditions": [(text, sorted(columns - self.keyed)) for text, columns in self.conditions],
        }


@dataclass
class QueryParts:
    """The components of a query, and each read column's marks: piece → name."""

    components: list[Component] = field(default_factory=list)
    marks: dict[int, dict[Sql, str]] = field(default_factory=dict)

    def name_mark(self, column: str, piece: Sql) -> str | None:
        """Name a piece that reads one column; equal pieces share a name, and the sensitive side has none."""
        if not column.startswith(QUASI):
            return None
        marks = self.marks.setdefault(place_of(column), {})
        return marks.setdefault(piece, f"mark_{place_of(column)}_{len(marks) + 1}")

    def add(self, one: Component) -> None:
        """Add a component; those that cannot be evaluated without it become one with it."""
        # A new component may tie together several that were independent so far.
        for other in [other for other in self.components if one.columns & other.columns or (one.mixed and other.mixed)]:
            self.components.remove(other)
            one = Component(
                other.columns | one.columns,
                other.conditions + one.conditions,
                other.keys + one.keys,
                other.keyed | one.keyed,
                other.mixed or one.mixed,
            )
        self.components.append(one)


def split_query(query: Query) -> QueryParts:
    """Return the components of a query's conditions and keys that read quasi columns, or nothing (keys)."""
    parts, keys = QueryParts(), [key for key in query.keys if key.role != "sensitive"]
    for number, piece in [(0, piece) for piece in query.filters("quasi", "mixed")] + [*enumerate(keys, start=1)]:
        rest, columns = name_column_pieces(piece.sql, parts.name_mark)
        places, mixed = frozenset(place_of(name) for name in columns if name.startswith(QUASI)), piece.role == "mixed"
        if number:
            parts.add(Component(places, keys=((number, rest),), keyed=places, mixed=mixed))
        else:
            parts.add(Component(places, conditions=((rest, places),), mixed=mixed))
    return parts


def place_of(column: str) -> int:
    """Return the place of a quasi column, from 1, by our name of it."""
    return int(column.removeprefix(QUASI))
