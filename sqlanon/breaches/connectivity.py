"""A question about views, and the shape of its connectivity graph: which columns join the views, which make its nodes.

A node is a row of a view: worlds are relations over all columns that are published (Definition 3.2). The paper's
Lemma 5.1 counts over association and join attributes alone, where rows that other columns tell apart fall together, so
that fewer worlds show the association.

A view may have a WHERE of its own. If its condition reads only columns that every view shows, it holds for all of a
component or for none of it. Where all views show a component, its worlds are those of the views without conditions.
Where one view shows nothing of it, a world may hold anything that the condition excludes, and nothing is counted.

Views that share different columns are joined along a tree, so that tuples can be counted without joining them all.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from sqlanon.errors import DataError, QueryError, UsageError
from sqlanon.sql.source import choose_source
from sqlanon.sql.view_definitions import Base, Condition, Secret, View, read_secret, read_view
from sqlanon.wording import option

Model = Literal["unrestricted", "restricted"]
NO_BASE = f"say what is read: {option('base', 'SOURCE')}, or {option('query', 'SELECT …')}"


@dataclass(frozen=True)
class BreachQuestion:
    """What an analysis is about, before any database was looked at: a base, views on it, a secret, a model.

    base: a file, a glob, a table, a query, or an object that the engine reads. views, secret: the texts of SELECTs.
    """

    base: object
    views: tuple[str, ...]
    secret: str
    model: Model

    def __post_init__(self) -> None:
        """Refuse a question about no view."""
        if not self.views:
            raise UsageError('name the published views, each with --view "SELECT columns FROM base"')

    @classmethod
    def of(cls, dialect: str, *, base: object, query: str | None, **rest: Any) -> "BreachQuestion":
        """Return the question about a base, or about a query in its place; raise UsageError for both and for neither.

        dialect: of the engine that runs the query. rest: the other fields.
        """
        return cls(choose_source(base, query, dialect, NO_BASE, option("base")), **rest)


def find_selections(views: Sequence[View], kept: Sequence[int], secret: Secret) -> tuple[Condition, ...]:
    """Return the conditions under which every view shows a row.

    kept: the views that no other one implies, by their places. Raises QueryError for a condition that cuts through
    components, and where views that show a component without another one tell of associations all the same.
    """
    common = set.intersection(*(set(view.columns) for view in views))
    for number, view in enumerate(views, start=1):
        for condition in view.conditions:
            hidden = condition.columns - common
            if not condition.columns:
                raise QueryError(f"a part of the WHERE of view {number} reads no column; leave it out")
            if hidden:
                names = ", ".join(repr(name) for name in sorted(hidden))
                raise QueryError(
                    f"the WHERE of view {number} reads {names}, which not every view shows: a row that it leaves out"
                    " may hold any value there, and stand behind what other views show, so that no number of worlds"
                    " follows; select by columns that every view shows"
                )
    conditions = tuple(dict.fromkeys(condition for place in kept for condition in views[place].conditions))
    together = any({secret.identifier, secret.property} <= set(views[place].columns) for place in kept)
    two_sides = len(kept) == 2 and not together
    for number, view in enumerate(views):
        must_agree = number not in kept or not two_sides
        if must_agree and not set(conditions) <= set(view.conditions):
            raise QueryError(
                f"view {number + 1} shows rows that another view's WHERE leaves out, and tells of associations there;"
                " give every view the same WHERE"
            )
    return conditions


@dataclass(frozen=True)
class Part:
    """The nodes of one view: its base columns, and which of them tell nodes apart beside id, property and join.

    keys: which of `identifier` and `property` they carry.
    """

    view: int
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    attributes: tuple[str, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Graph:
    """The parts, the join attributes, and the conditions that no view shows (they only select what is reported).

    The first part carries the id, the second the property unless the first carries both.
    `chained`: neighbours share different columns, so that components are no complete K-partite graphs. `shown`: the
    views' own conditions, over join attributes: which components every view shows.
    """

    secret: Secret
    parts: tuple[Part, ...]
    join: tuple[str, ...]
    selecting: tuple[Condition, ...]
    chained: bool
    shown: tuple[Condition, ...] = ()

    @property
    def together(self) -> bool:
        """Whether one view shows id and property side by side."""
        return "property" in self.parts[0].keys

    @property
    def has_closed_form(self) -> bool:
        """Whether there are at most two views, whose worlds are counted in closed form."""
        return len(self.parts) <= 2

    @property
    def is_simple(self) -> bool:
        """Whether the nodes of two parts are told apart by id and property alone."""
        return len(self.parts) == 2 and not self.together and not self.attributes

    @property
    def attributes(self) -> list[str]:
        """Return the columns that tell nodes apart beside id, property and the join attributes."""
        return list(dict.fromkeys(column for part in self.parts for column in part.attributes))

    @property
    def conditions(self) -> list[Condition]:
        """Return every part of WHERE."""
        return [condition for part in self.parts for condition in part.conditions] + list(self.selecting)

    @property
    def column_names(self) -> dict[str, str]:
        """Return our names for the columns of the base that count."""
        names = {column: f"join_{number}" for number, column in enumerate(self.join, 1)}
        names |= {column: f"attribute_{number}" for number, column in enumerate(self.attributes, 1)}
        names |= {self.secret.identifier: "identifier", self.secret.property: "property"}
        reading = (*self.conditions, *self.shown)
        other_columns = sorted(set().union(*(condition.columns for condition in reading)) - set(names))
        return names | {column: f"other_{number}" for number, column in enumerate(other_columns, 1)}


def connect_views(views: Sequence[View], secret: Secret) -> Graph:
    """Build the graph of `views` for `secret`; raise QueryError where the views show too little of it."""
    shown_columns = [set(view.columns) for view in views]
    published = set().union(*shown_columns)
    for role, column in (("id", secret.identifier), ("property", secret.property)):
        if column not in published:
            raise QueryError(
                f"no view shows the {role} {column!r}: nothing is published about these associations; add a view"
                " with it, or ask for another secret"
            )
    selecting, readable = _sort_conditions(secret, shown_columns)
    # Views that another one implies are left out: where V's columns lie in W's, covering W's nodes covers V's.
    kept_places = [
        place for place, columns in enumerate(shown_columns)
        if not any(columns < other for other in shown_columns) and columns not in shown_columns[:place]
    ]  # fmt: skip
    # Every view that shows a condition's columns tells the same nodes apart; one of them is enough.
    holders = {
        condition: next(number for number in kept_places if condition.columns <= shown_columns[number])
        for condition in readable
    }
    shared = [shown_columns[one] & shown_columns[other] for one, other in combinations(kept_places, 2)]
    common = set.intersection(*shared) if shared else set()
    join = tuple(column for column in views[kept_places[0]].columns if column in common)
    named = {"identifier": secret.identifier, "property": secret.property}
    parts = tuple(
        Part(
            view=number + 1,
            columns=views[number].columns,
            keys=tuple(key for key, name in named.items() if name in shown_columns[number]),
            attributes=tuple(column for column in views[number].columns if column not in {*named.values(), *join}),
            conditions=tuple(condition for condition in readable if holders[condition] == number),
        )
        for number in kept_places
    )
    # put the part with the id first (one that has the property too before all), then that with the property
    first = max(parts, key=lambda part: ("identifier" in part.keys, "property" in part.keys))
    rest = sorted((part for part in parts if part is not first), key=lambda part: "property" not in part.keys)
    return Graph(
        secret,
        (first, *rest),
        join,
        selecting,
        any(pair != common for pair in shared),
        find_selections(views, kept_places, secret),
    )


def connect_question(question: BreachQuestion, names: Collection[str]) -> tuple[tuple[View, ...], Graph]:
    """Read the definitions against the base's columns; return the views and their connectivity graph."""
    base = Base.of(names, question.base)
    views = tuple(read_view(sql, base, number) for number, sql in enumerate(question.views, start=1))
    return views, connect_views(views, read_secret(question.secret, base))


def _sort_conditions(
    secret: Secret, shown_columns: Sequence[set[str]]
) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Tell parts of WHERE that no view shows from those that one view shows; refuse what is neither."""
    published = set().union(*shown_columns)
    selecting = tuple(condition for condition in secret.conditions if not condition.columns & published)
    readable = tuple(condition for condition in secret.conditions if condition.columns & published)
    for condition in readable:
        if not any(condition.columns <= columns for columns in shown_columns):
            names = ", ".join(map(repr, sorted(condition.columns)))
            raise QueryError(
                f"a part of the secret's WHERE reads {names}, which no single view shows;"
                " join parts that each read one view with AND"
            )
    return selecting, readable


@dataclass(frozen=True)
class Edge:
    """Two parts that are neighbours in the tree, by number from 1, and the columns that they share."""

    one: int
    other: int
    shared: tuple[str, ...]


@dataclass(frozen=True)
class JoinTree:
    """Edges between parts, sets of columns, such that the parts that hold any one column hang together.

    Counts can then be handed from neighbour to neighbour (M. Yannakakis: Algorithms for acyclic database schemes.
    VLDB 1981).
    """

    edges: tuple[Edge, ...]

    def neighbours(self, part: int, but: int = 0) -> list[tuple[int, tuple[str, ...]]]:
        """Return a part's neighbours and what it shares with each, leaving one out."""
        ends = [(edge.other if edge.one == part else edge.one, edge.shared)
                for edge in self.edges if part in (edge.one, edge.other)]  # fmt: skip
        return [(end, shared) for end, shared in ends if end != but]

    def shared(self, part: int, other: int) -> tuple[str, ...]:
        """Return what two neighbours share."""
        return dict(self.neighbours(part))[other]

    def walk(self, start: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield every other part after the neighbour by which it is reached, with what the two share."""
        waiting = [(end, start, shared) for end, shared in self.neighbours(start)]
        while waiting:
            part, before, shared = waiting.pop(0)
            yield part, before, shared
            waiting += [(end, part, columns) for end, columns in self.neighbours(part, but=before)]

    def find_path(self, start: int, end: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return the parts behind `start` on the way to `end`, each with what it shares with the one before."""
        reached = {part: (before, shared) for part, before, shared in self.walk(start)}
        path: list[tuple[int, tuple[str, ...]]] = []
        while end != start:
            before, shared = reached[end]
            path.insert(0, (end, shared))
            end = before
        return path


def grow_tree(parts: Sequence[tuple[str, ...]]) -> JoinTree:
    """Join the parts by as many shared columns as possible; raise DataError where they close a ring."""
    pairs = [
        (len(set(columns) & set(other)), -number, -place, tuple(name for name in columns if name in other))
        for number, columns in enumerate(parts, start=1)
        for place, other in enumerate(parts, start=1)
        if place > number
    ]
    tree_of, edges = {number: number for number in range(1, len(parts) + 1)}, []
    for _, number, place, shared in sorted(pairs, reverse=True):
        first_tree, other = tree_of[-number], tree_of[-place]
        if first_tree != other:
            edges.append(Edge(-number, -place, shared))
            tree_of = {part: first_tree if tree == other else tree for part, tree in tree_of.items()}
    # A tree of the most shared columns joins the parts of every column, if any tree does.
    for column in {name for part in parts for name in part}:
        holding = sum(column in part for part in parts)
        if sum(column in edge.shared for edge in edges) != holding - 1:
            raise DataError(
                "these views share columns in a ring (A with B, B with C, C with A), and there are too many worlds to"
                " count one by one; leave a view out, or ask about fewer rows"
            )
    return JoinTree(tuple(edges))
