"""The statements of a query that all methods share: its pieces sorted, and the texts that are made of them.

The values that the sensitive part selects are numbered (relation `asked`); names, order and keys are put to the figures
(`figure`) in SQL.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.temporary_tables import Workspace, inline
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import INTERVAL, Comparison, Derived, Piece, Query, Role


class QueryStatements:
    """Sort a query's pieces and write what is run of them; a method says where its relations stand.

    SELECTING: the roles of the conditions that select sensitive values. SPLITS_AVERAGES: whether the error of an
    expression over several aggregates follows from the sum and the count of each AVG in it, else from AVG's own.
    """

    SELECTING: tuple[Role, ...] = ("sensitive",)
    SPLITS_AVERAGES = True

    def __init__(self, space: Workspace, query: Query) -> None:
        """Sort the query's pieces; `relations` must name `value` before `render_asked` is called."""
        self.space, self.query = space, query
        self.quasi_keys = [key for key in query.keys if key.role != "sensitive"]
        self.sensitive_keys = [key for key in query.keys if key.role == "sensitive"]
        arguments = [agg.argument for agg in query.aggregates if agg.argument]
        weights = [piece for piece in arguments if piece.role in ("constant", "sensitive")]
        weights += [weigh_choice(agg.chosen) for agg in query.aggregates if agg.chosen]
        self.weights = list(dict.fromkeys(weights))
        measures = [piece for piece in arguments if piece.role in ("quasi", "mixed")]
        measures += [product for pair in self.pairs() if (product := self.product(*pair))]
        self.measures = list(dict.fromkeys(measures))
        self.relations = dict(space.relations) | {"point": relation_name(space.prefix, "point")}
        self.people = Sql("")  # the relation that conditions on quasi columns read
        # Other statements read `asked` for its cases and for the keys of its sets; else it is read once.
        self.keeps_asked = bool(query.parts or self.sensitive_keys)

    def spread_of(self, derived: Derived) -> tuple[Sql, tuple[int, ...]]:
        """Return the expression whose error is followed, and the numbers of the aggregates that it reads."""
        return (derived.spread, derived.linear) if self.SPLITS_AVERAGES else (derived.sql, derived.read)

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of aggregates that an expression reads both of."""
        both = (itertools.combinations(self.spread_of(derived)[1], 2) for derived in self.query.derived)
        return list(dict.fromkeys(itertools.chain.from_iterable(both)))

    def product(self, one: int, other: int) -> Piece | None:
        """Return the product of what two aggregates measure on rows; None where it is among the measures anyway."""
        first, second = (self.query.aggregates[number].argument for number in (one, other))
        if first is None or second is None or first == second or {first.role, second.role} != {"quasi"}:
            return None
        sql = Sql(f"(cast({first.sql} as double) * cast({second.sql} as double))")
        return Piece("quasi", sql, sql)

    def name_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of an aggregate called `name` as (figure, name in the answer)."""
        return [("value", name), *((end, f"{name}_{end}") for end in INTERVAL)]

    def comparisons(self) -> Sequence[Comparison]:
        """Return the constants that a row equals or none does, as far as the release tells."""
        return self.query.comparisons

    def domain(self, column: str) -> Sql:
        """Return the relation of the published values of a column, by its internal name."""
        of_values = column == "sensitive"
        return self.relations["value" if of_values else "person" if "person" in self.relations else "published"]

    # -- the texts ----------------------------------------------------------------------------

    def render_asked(self) -> str:
        """Write the query over the sensitive values."""
        return self.space.render(
            "estimation/query_statements/asked",
            self.relations,
            sensitive_conditions=[piece.sql for piece in self.query.filters(*self.SELECTING)],
            parts=self.query.parts,
            sensitive_keys=[key.sql for key in self.sensitive_keys],
            weights=[piece.sql for piece in self.weights],
        )

    def render_answer(self) -> str:
        """Write the query that puts keys, order and names to the figures."""
        relations = self._keyed()
        items: list[tuple[Sql, str]] = []
        for item in self.query.items:
            if item.aggregate is None:
                items.append((item.sql, item.name))
            else:
                items += [(Sql(f"{x}_{item.aggregate}"), name) for x, name in self.name_columns(item.name)]
        order = [Sql(f"{term.sql or f'value_{term.aggregate}'} {term.direction}") for term in self.query.order]
        limit = [] if self.query.limit is None else [self.query.limit]
        keys = self._key_columns()
        parts: dict[str, Any] = {"items": items, "having": list(self.query.having), "order": order, "limit": limit}
        return self.space.render("estimation/query_statements/answer", relations, keys=keys, **parts)

    def render_points(self, expression: Sql) -> str:
        """Write the query for an expression over aggregates at points."""
        relations = self._keyed()
        keys = self._key_columns()
        return self.space.render("estimation/derived_figures/point_value", relations, keys=keys, expression=expression)

    def closing_statements(self) -> list[tuple[str, str]]:
        """Return the statements behind the estimates: expressions over them, the answer, the search for constants.

        `point`, as `figure`, is filled from Python.
        """
        expressions = dict.fromkeys(
            sql for figure in self.query.derived for sql in (figure.sql, self.spread_of(figure)[0])
        )
        listed = [("point_value", self.render_points(sql)) for sql in expressions]
        listed += [("answer", self.render_answer())] if self.query.grouped else []
        return listed + list(MissingValues(self.space).statements(self.comparisons(), self.domain))

    def render_halves(self, of_sets: bool) -> str:
        """Write the query for the parts of a query whose last key tells rows below a threshold: sets, or cells."""
        relations, keys = self._keyed(), self.sensitive_keys if of_sets else self.quasi_keys
        names = [Sql(f"{'set_' if of_sets else ''}key_{number}") for number in range(1, len(keys) + 1)]
        return self.space.render(
            "estimation/quantile_search/half",
            {"part_key": relations["set_key" if of_sets else "cell_key"]},
            part_column=Sql("set_number" if of_sets else "cell"),
            keys=names[:-1],
            below=names[-1],
        )

    def _keyed(self) -> dict[str, Sql]:
        """Return the relations with those of the keys of cells and sets."""
        render, relations = self.space.render, dict(self.relations)
        quasi, sensitive = [key.sql for key in self.quasi_keys], [key.sql for key in self.sensitive_keys]
        relations["cell_key"], relations["set_key"] = Sql("(select 0 as cell)"), Sql("(select 0 as set_number)")
        if quasi:
            relations["cell_key"] = inline(render("estimation/query_statements/cell_key", relations, quasi_keys=quasi))
        if sensitive:
            relations["set_key"] = inline(
                render("estimation/query_statements/set_key", relations, sensitive_keys=sensitive)
            )
        return relations

    def _key_columns(self) -> list[Sql]:
        columns = []
        for key in self.query.keys:
            if key.role == "sensitive":
                columns.append(Sql(f"set_key.set_key_{self.sensitive_keys.index(key) + 1}"))
            else:
                columns.append(Sql(f"cell_key.key_{self.quasi_keys.index(key) + 1}"))
        return columns


def weigh_choice(chosen: Piece) -> Piece:
    """Return a condition on sensitive values as a weight: 1 where it holds."""
    return Piece(chosen.role, Sql(f"(case when {chosen.sql} then 1 end)"), chosen.other)
