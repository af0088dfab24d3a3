"""A release loaded for estimation: coded tables, S and its inverse, the spreads of the vectors measured so far."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.estimation.coded_rows import MOST_CODES, CodedRows
from sqlanon.estimation.qit_st.row_tables import RowTables
from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.estimators.least_squares import NormalEquations, prepare_equations, solve_directions
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    from scipy import sparse

    from sqlanon.engines.base import Numbers

# ST in memory, how often value v stands in group g, s_g(v): as lines, or as a matrix for whoever asks often
MOST_LINES, MOST_DENSE = 4_000_000, 1_000_000_000  # lines, and multiplications, that take less time than loading scipy
ShortArray = NDArray[np.int32]
CHUNK = 1 << 16  # lines, or groups x values / 4, at once


class GroupLines:
    """Sum over the lines of ST, sorted by group and value. The matrix gives the same sums, to the last bit."""

    def __init__(self, lines: "Mapping[str, Numbers]", value_count: int) -> None:
        """Take group_id, code and occurrences of every line, and V."""
        self._group, self._code = (lines[name].astype(np.int32, copy=False) for name in ("group_id", "code"))
        self._count: Array = lines["occurrences"].astype(float, copy=False)
        self.shape = (int(self._group.max(initial=-1)) + 1, value_count)
        self.sizes: Array = np.asarray(np.bincount(self._group, self._count, self.shape[0]), dtype=float)  # |g|
        self._matrix: sparse.csr_array | None = None
        if len(self._count) > MOST_LINES or self.shape[0] * value_count**2 > MOST_DENSE:
            self.as_matrix()
        else:
            self._sort()

    def _sort(self) -> None:
        """Sort the lines as the matrix is; the database gives them in a few pieces that are sorted."""
        place = self._group * np.int32(self.shape[1]) + self._code
        if (place[1:] > place[:-1]).all():
            return
        order = np.argsort(place, kind="stable")
        place, count = place[order], self._count[order]
        if (place[1:] == place[:-1]).any():  # a group has a value twice
            begins = np.flatnonzero(np.diff(place, prepend=-1))
            order, count = order[begins], np.add.reduceat(count, begins)
        self._group, self._code, self._count = self._group[order], self._code[order], count

    def as_matrix(self) -> "sparse.csr_array":
        """Return groups x values as a sparse matrix; from now on all sums are made of it."""
        if self._matrix is None:
            from scipy import sparse  # slow to load

            self._matrix = sparse.csr_array((self._count, (self._group, self._code)), shape=self.shape)
            self._group = self._code = np.zeros(0, dtype=np.int32)
            self._count = np.zeros(0)
        return self._matrix

    def by_value(self, of_groups: Array) -> Array:
        """Return Σ_g x_g s_g(v), V, of numbers x by group."""
        if self._matrix is not None:
            return np.asarray(of_groups @ self._matrix)
        return self._sum(self._code, self.shape[1], of_groups, self._group)

    def by_group(self, of_values: Array) -> Array:
        """Return Σ_v s_g(v) x_v, k x G, of k rows x of numbers by value."""
        if self._matrix is not None:
            return np.asarray((self._matrix @ of_values.T).T)
        return np.stack([self._sum(self._group, self.shape[0], of_value, self._code) for of_value in of_values])

    def _sum(self, place: ShortArray, size: int, numbers: Array, number: ShortArray) -> Array:
        """Sum s_g(v) times a number by place, line after line: in chunks, for large arrays cost more than sums."""
        total = np.zeros(size)
        for start in range(0, len(place), CHUNK):
            some = slice(start, start + CHUNK)
            np.add.at(total, place[some], self._count[some] * numbers[number[some]])
        return total

    def normal(self) -> Array:
        """Return S = Σ_g s_g s_gᵀ, V x V; its numbers are whole, so that the order of the sum does not show."""
        if self._matrix is not None:
            return np.asarray((self._matrix.T @ self._matrix).toarray())
        groups, values = self.shape
        step = max(4 * CHUNK // max(values, 1), 1)
        total, dense = np.zeros((values, values)), np.zeros((min(step, groups), values))
        starts = np.arange(0, groups, step, dtype=self._group.dtype)
        edges = [*np.searchsorted(self._group, starts), len(self._group)]
        for start, (first, last) in zip(starts, itertools.pairwise(edges), strict=True):
            dense[:] = 0.0
            dense[self._group[first:last] - start, self._code[first:last]] = self._count[first:last]
            total += dense.T @ dense
        return total


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
