"""A release loaded for estimation: coded tables, S and its inverse, the spreads of the vectors measured so far."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.estimation.coded_rows import CodedRows
from sqlanon.estimation.memory_need import UNIFORM_FITS, require_memory
from sqlanon.estimation.sound_tables import load_readable, require_soundness
from sqlanon.estimation.temporary_tables import Workspace, inline
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.least_squares import NormalEquations, prepare_equations, solve_directions
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.manifest import follows
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql, ident

EQUATIONS = 6  # times V x V numbers are held while S is read and solved, by measurement
LARGEST_SYSTEM = 5_000  # sensitive values for which S (V x V) is solved
MOST_REMEMBERED = 5_000_000  # numbers that the remembered spreads may hold
DIRECTIONS = 64  # vectors per spread query
WEIGHTS = 16  # weights of values per query for S with groups weighed
LARGEST_CUBE = 160  # sensitive values of which products of three are summed: 33 MB
PairKey = tuple[bytes, bytes]
KIND = "a QIT and an ST"
READ_OFTEN = {"line": "estimation/qit_st/line", "person": "estimation/qit_st/person"}


class GroupTables(Workspace):
    """Hold a release's tables and what depends on them only; each is made when it is first needed."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns = manifest["columns"]
        if not {"qit", "st"} <= set(tables):
            raise UsageError(f"a {manifest.get('method')} release has no QIT and ST; estimates are made from these")
        if len(columns["sensitive"]) != 1:
            raise UsageError(f"estimates need one sensitive column; the release has {len(columns['sensitive'])}")
        self.quasi: list[str] = list(columns["quasi"])
        (self.sensitive,) = columns["sensitive"]
        self._group: str = columns["group"]
        self._count: str = columns["count"]
        values = {
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "group_column": columns["group"],
            "count_column": columns["count"],
        }
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, values, names)
        self._may_depart = follows(manifest)  # members of groups may be in ST and no longer in QIT
        self.relations |= {name: relation_name(self.prefix, name) for name in ("place", "value", *READ_OFTEN)}
        self.rows_kept = False
        self._totals: Array | None = None
        self._rows: CodedRows | None = None
        self._equations: NormalEquations | None = None
        self._spreads: dict[PairKey, Array] = {}
        self._cube: Array | None = None

    # -- the published rows: kept under our names, or where they are published --------------------

    def load_totals(self) -> Array:
        """Load the release at the first call; return the values' totals f in the order of their codes.

        Raises ReleaseError where its tables are no QIT and ST that fit each other.
        """
        if self._totals is None:
            load_readable(self._keep_tables, KIND)
            values = self.engine.arrays(f"select code, row_count from {self.relations['value']}")
            totals = np.zeros(len(values["code"]))
            totals[values["code"].astype(np.int64)] = values["row_count"]
            self._totals = totals
        return self._totals

    def _keep_tables(self) -> None:
        """Keep what every query reads; see that QIT and ST fit each other, and that their columns can be read."""
        for name, sql in self._read_first():
            self.keep(name, sql)
        require_soundness(self, self._render_soundness())
        self.engine.columns(self.render(READ_OFTEN["person"], self.relations))
        # the engine would compare a text with a number as numbers, of which 1 and 01 are the same
        sql_types = [self.engine.columns(f"select * from {self.tables[name]}")[self._group] for name in ("qit", "st")]
        if ("VARCHAR" in sql_types) and len(set(sql_types)) > 1:
            raise UsageError(f"the groups of QIT are {sql_types[0]}, those of ST {sql_types[1]}")

    def keep_rows(self) -> None:
        """Keep the rows of QIT and ST under our names, for whoever reads them often."""
        self.load_totals()
        if not self.rows_kept:
            load_readable(self._keep_rows, KIND)
            self.rows_kept = True

    def _keep_rows(self) -> None:
        for name, template in READ_OFTEN.items():
            self.keep(name, self.render(template, self.relations))

    def loading_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the first query runs: a check, and the tables that it makes."""
        often = [(name, self.render(template, self.relations)) for name, template in READ_OFTEN.items()]
        place, value = self._read_first()
        return [place, ("soundness", self._render_soundness()), value, *often]

    def _read_first(self) -> list[tuple[str, str]]:
        """Return the groups with their sizes, and the values with their totals."""
        total = Sql(f"cast(sum({ident(self._count)}) as bigint)")
        values = self.render_values(self.tables["st"], ident(self.sensitive), total)
        return [("place", self.render("shared/place", self.relations)), ("value", values)]

    def _render_soundness(self) -> str:
        return self.render("estimation/qit_st/place_soundness", self.relations, may_depart=self._may_depart)

    # -- what is read once -----------------------------------------------------------------------

    def load_rows(self) -> CodedRows:
        """Return the rows of QIT coded for many queries at once, with their groups."""
        if self._rows is None:
            self.keep_rows()
            columns = [f"quasi_{number}" for number in range(1, len(self.quasi) + 1)]
            self._rows = CodedRows(self, "coded_person", self.relations["person"], columns, ["group_id"])
        self._rows.load()
        return self._rows

    def mean_group(self) -> float:
        """Return the mean size of a group."""
        (groups,) = self.read_once(f"select count(*) as row_count from {self.relations['place']}")["row_count"]
        return float(self.load_totals().sum() / max(float(groups), 1.0))

    def load_equations(self) -> NormalEquations | None:
        """Return the normal equations, None where the release has too many values for them."""
        totals = self.load_totals()
        if self._equations is None and len(totals) <= LARGEST_SYSTEM:
            require_memory(self.engine, EQUATIONS * len(totals) ** 2, remedy=UNIFORM_FITS)
            self.keep_rows()
            products = self.engine.arrays(self._render_normal())
            code, other_code = (products[name].astype(np.int64) for name in ("code", "other_code"))
            # S is symmetric; the query sums each pair of values once.
            normal = np.zeros((len(totals), len(totals)))
            normal[code, other_code] = normal[other_code, code] = products["product_sum"]
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
        if self._cube is not None or self._pays_cube(len(missing)):
            self._measure_by_cube(missing)
        else:
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
        numbers = {key: number for number, key in enumerate(vectors, start=1)}
        products = [(numbers[key], numbers[other_key]) for (key, other_key), _ in pairs]
        rows = self.engine.arrays(
            self._render_spread(len(vectors), products, inline(self._write_directions(directions)))
        )
        for number, (key, _) in enumerate(pairs, start=1):
            line = np.zeros(directions.shape[1])
            line[rows["code"].astype(np.int64)] = rows[f"product_{number}"]
            self._spreads[key] = line

    def _pays_cube(self, pairs: int) -> bool:
        """Tell whether summing the products of three values once costs less than so many spread queries."""
        totals = self.load_totals()
        if len(totals) > LARGEST_CUBE or pairs <= DIRECTIONS // 2:
            return False
        # of a group of n rows there are n³/6 products, and a spread query reads its n lines twice for each direction
        (row,) = self.engine.rows(f"select avg(group_size * group_size) as mean_square from {self.relations['place']}")
        return bool(row["mean_square"] < 12 * len(self._spreads) + 12 * pairs)

    def _measure_by_cube(self, pairs: Sequence[tuple[PairKey, tuple[Array, Array]]]) -> None:
        """Measure pairs by the cube: Σ_g s_g(v) h_g h'_g = Σ_uw x_u x'_w Σ_g s_g(v) s_g(u) s_g(w)."""
        equations = self.load_equations()
        assert equations is not None
        cube = self._load_cube()
        for key, pair in pairs:
            first, second = solve_directions(equations, np.stack(pair))
            self._spreads[key] = cube @ second @ first

    def _load_cube(self) -> Array:
        """Return Σ_g s_g(u) s_g(v) s_g(w), V x V x V."""
        if self._cube is None:
            self.keep_rows()
            size = len(self.load_totals())
            products = self.engine.arrays(self.render("estimation/qit_st/third", self.relations))
            codes = [products[name].astype(np.int64) for name in ("code", "other_code", "third_code")]
            self._cube = np.zeros((size, size, size))
            for order in itertools.permutations(codes):
                self._cube[order] = products["product_sum"]
        return self._cube

    def weigh_spreads(self, weights: Array) -> Callable[[Sequence[tuple[Array, Array]]], Array]:
        """Return what weighs pairs of vectors: for T x V weights, the sum over values of theirs times h h', T x k.

        It is x' W x' with W = Σ_g (s_g · weight) s_g s_g', which is read once for any number of vectors.
        """
        from scipy import sparse  # slow to load

        equations = self.load_equations()
        assert equations is not None
        size, normals = len(equations.totals), list[sparse.csr_array]()
        different, place = np.unique(weights, axis=0, return_inverse=True)
        for start in range(0, len(different), WEIGHTS):
            some = different[start : start + WEIGHTS]
            columns = {f"x_{number}": line for number, line in enumerate(some, start=1)}
            relation = self.keep_columns("weight", {"code": np.arange(size)} | columns)
            lines = self.engine.arrays(self._render_weighed(len(some), relation))
            code, other_code = (lines[name].astype(np.int64) for name in ("code", "other_code"))
            # x' W x is x' L x with twice what lies below the diagonal
            twice = np.where(code == other_code, 1.0, 2.0)
            normals += [
                sparse.csr_array((twice * lines[f"product_{number}"], (code, other_code)), (size, size))
                for number in range(1, len(some) + 1)
            ]
            self.forget([str(relation)])

        def weigh(vectors: Sequence[tuple[Array, Array]]) -> Array:
            # a set has few of the values: its vector is held sparse
            first = solve_directions(equations, sparse.csr_array(np.stack([vector for vector, _ in vectors])))
            same = all(vector is other_vector or (vector == other_vector).all() for vector, other_vector in vectors)
            others = sparse.csr_array(np.stack([other_vector for _, other_vector in vectors]))
            second = first if same else solve_directions(equations, others)
            first, second = (np.ascontiguousarray(side.T) for side in (first, second))
            products = [((normal @ second) * first).sum(axis=0) for normal in normals]
            if not same:
                crossed = [((normal @ first) * second).sum(axis=0) for normal in normals]
                products = [(one + other) / 2 for one, other in zip(products, crossed, strict=True)]
            return np.asarray(products)[place.ravel()]

        return weigh

    # -- the statements ------------------------------------------------------------------------

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of the queries behind S and the spreads."""
        return [
            ("normal", self._render_normal()),
            ("spread", self._render_spread(1, [(1, 1)], relation_name(self.prefix, "direction"))),
        ]

    def _render_normal(self) -> str:
        return self.render("estimation/qit_st/normal", {**self.relations, "group_class": Sql("")}, by_class=[])

    def _write_directions(self, directions: Array) -> Sql:
        """Write directions, D x V, as a table of constants, which holds their numbers exactly."""
        columns: dict[str, tuple[str, Sequence[object]]] = {"code": ("integer", range(directions.shape[1]))}
        columns |= {f"x_{number}": ("double", line.tolist()) for number, line in enumerate(directions, start=1)}
        step = constant_table("direction", columns, {})
        return inline(self.render(step.template, {}, **step.values))

    def _render_spread(self, count: int, products: Sequence[tuple[int, int]], direction: Sql) -> str:
        """Write the spread query for `count` directions and these pairs of them."""
        relations, directions = {**self.relations, "direction": direction}, list(range(1, count + 1))
        return self.render("estimation/qit_st/spread", relations, directions=directions, products=list(products))

    def _render_weighed(self, count: int, weight: Sql) -> str:
        """Write the query for S with groups weighed by so many weights of values."""
        relations = {**self.relations, "weight": weight}
        return self.render("estimation/qit_st/weighed_normal", relations, weights=list(range(1, count + 1)))

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self.rows_kept, self._totals = False, None
        self._equations = self._rows = self._cube = None
