"""A release loaded for estimation: coded tables, S and its inverse, the spreads of the vectors measured so far."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.estimation.coded_rows import MOST_CODES, CodedRows
from sqlanon.estimation.qit_st.group_lines import GroupLines
from sqlanon.estimation.qit_st.row_tables import RowTables
from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.estimators.least_squares import NormalEquations, prepare_equations, solve_directions
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    from scipy import sparse

LARGEST_SYSTEM = 5_000  # sensitive values for which S (V x V) is solved
MOST_REMEMBERED = 5_000_000  # numbers that the remembered spreads may hold
DIRECTIONS = 16  # vectors per spread query
LARGEST_HELD = 10_000_000  # rows of a release whose ST is also held in memory: 12 bytes a line, 40 while it is read
PairKey = tuple[bytes, bytes]


class GroupTables(RowTables):
    """Hold a release's tables and what depends on them only; each is made when it is first needed."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        super().__init__(engine, tables, manifest)
        self.in_memory: bool = engine.in_process and manifest.get("rows", 0) <= LARGEST_HELD
        self._lines: GroupLines | None = None
        self._rows: CodedRows | None = None
        self._equations: NormalEquations | None = None
        self._spreads: dict[PairKey, Array] = {}

    # -- what is read once -----------------------------------------------------------------------

    def load_lines(self) -> GroupLines:
        """Return ST in memory, s_g(v); a release whose rows are kept is asked often, so that a matrix is made."""
        if self._lines is None:
            totals = self.load_totals()
            self._lines = GroupLines(self.engine.arrays(self._render_held(self.rows_kept)), len(totals))
        if self.rows_kept:
            self._lines.as_matrix()
        return self._lines

    def load_occurrences(self) -> "sparse.csr_array":
        """Return ST as a sparse matrix of groups x values, s_g(v)."""
        return self.load_lines().as_matrix()

    def count_in_memory(self, groups: IntArray) -> dict[str, Array]:
        """Return b and the uniform estimates (V) of rows that lie in these groups, as the moment query does.

        With n_g the rows in group g: b = Σ n_g s_g and Σ n_g s_g/|g|.
        """
        lines = self.load_lines()
        hits = np.bincount(groups, minlength=lines.shape[0]).astype(float)
        return {"shared": lines.by_value(hits), "uniform": lines.by_value(hits / lines.sizes)}

    def load_rows(self) -> CodedRows | None:
        """Return the rows of QIT coded for many queries at once, by group; None where there are too many."""
        totals = self.load_totals()
        if totals.sum() * (len(self.quasi) + 1) > MOST_CODES:
            return None
        if self._rows is None:
            self.keep_rows()
            columns = [f"quasi_{number}" for number in range(1, len(self.quasi) + 1)]
            self._rows = CodedRows(self, "coded_person", self.relations["person"], columns, Sql("group_id"))
            self._rows.load()
        return self._rows

    def load_equations(self) -> NormalEquations | None:
        """Return the normal equations, None where the release has too many values for them."""
        totals = self.load_totals()
        if self._equations is None and len(totals) <= LARGEST_SYSTEM:
            if self.in_memory:
                normal = self.load_lines().normal()
            else:
                self.keep_rows()
                frame = self.engine.frame(self._render_normal())
                code, other_code = frame["code"].to_numpy(), frame["other_code"].to_numpy()
                # S is symmetric; the query sums each pair of values once.
                normal = np.zeros((len(totals), len(totals)))
                normal[code, other_code] = normal[other_code, code] = frame["product_sum"].to_numpy(dtype=float)
            self._equations = prepare_equations(normal, totals)
        return self._equations

    # -- the spreads of vectors ------------------------------------------------------------------

    def measure_spreads(self, vectors: Sequence[tuple[Array, Array]]) -> Array:
        """Return, for pairs of vectors a, a' (V), the sums of h h' over the places of each value: k x V.

        They depend on the selected values only, not on the quasi part of a query, so that they are remembered.
        """
        keys = [(vector.tobytes(), other_vector.tobytes()) for vector, other_vector in vectors]
        missing = [
            (key, pair) for key, pair in dict(zip(keys, vectors, strict=True)).items() if key not in self._spreads
        ]
        # A pair brings two vectors at most.
        for start in range(0, len(missing), DIRECTIONS // 2):
            self._measure_chunk(missing[start : start + DIRECTIONS // 2])
        spreads = np.stack([self._spreads[key] for key in keys])
        if len(self._spreads) * len(self.load_totals()) > MOST_REMEMBERED:
            self._spreads.clear()
        return spreads

    def _measure_chunk(self, pairs: Sequence[tuple[PairKey, tuple[Array, Array]]]) -> None:
        """Measure one chunk of pairs: one direction x = S^-1 a per different vector, one product h h' per pair."""
        equations = self.load_equations()
        assert equations is not None
        vectors = {vector.tobytes(): vector for _, pair in pairs for vector in pair}
        directions = solve_directions(equations, np.stack(list(vectors.values())))
        if self.in_memory:
            lines = self.load_lines()
            heights = dict(zip(vectors, lines.by_group(directions), strict=True))  # h_g = s_g · x
            self._spreads |= {key: lines.by_value(heights[key[0]] * heights[key[1]]) for key, _ in pairs}
            return
        columns = {f"x_{number}": line for number, line in enumerate(directions, start=1)}
        self.keep_columns("direction", {"code": np.arange(directions.shape[1])} | columns)
        numbers = {key: number for number, key in enumerate(vectors, start=1)}
        products = [(numbers[key], numbers[other_key]) for (key, other_key), _ in pairs]
        rows = self.engine.frame(self._render_spread(len(vectors), products))
        for number, (key, _) in enumerate(pairs, start=1):
            line = np.zeros(directions.shape[1])
            line[rows["code"].to_numpy()] = rows[f"product_{number}"].to_numpy(dtype=float)
            self._spreads[key] = line

    # -- the statements ------------------------------------------------------------------------

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of the queries behind S and the spreads; in memory ST is read once."""
        if self.in_memory:
            return [("held", self._render_held())]
        return [("normal", self._render_normal()), ("spread", self._render_spread(1, [(1, 1)]))]

    def _render_held(self, rows_kept: bool = True) -> str:
        return self.render("estimation/qit_st/held", self.relations | ({} if rows_kept else self.rows_in_place()))

    def _render_normal(self) -> str:
        return self.render("estimation/qit_st/normal", {**self.relations, "group_class": Sql("")}, by_class=[])

    def _render_spread(self, count: int, products: Sequence[tuple[int, int]]) -> str:
        """Write the spread query for `count` directions and these pairs of them."""
        relations = {**self.relations, "direction": relation_name(self.prefix, "direction")}
        directions = list(range(1, count + 1))
        return self.render("estimation/qit_st/spread", relations, directions=directions, products=list(products))

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._equations = self._lines = self._rows = None
