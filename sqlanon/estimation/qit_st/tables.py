"""A release loaded for estimation: coded tables, S and its inverse, the spreads of the sets asked so far."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, ReleaseError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators import least_squares
from sqlanon.estimators.least_squares import System
from sqlanon.estimators.moments import Array
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

LARGEST_SYSTEM = 5_000  # sensitive values for which S (V x V) is solved
MOST_REMEMBERED = 5_000_000  # numbers that the spreads of asked sets may hold
DIRECTIONS = 16  # asked vectors per spread query
LARGEST_HELD = 20_000_000  # rows of a release whose ST is also held in memory, 12 bytes a line
LOADED = {
    "value": "estimation/qit_st/value",
    "place": "shared/place",
    "line": "estimation/qit_st/line",
    "person": "estimation/qit_st/person",
}


class Loaded(Workspace):
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
        values = {
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "group_column": columns["group"],
            "count_column": columns["count"],
        }
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, values, names)
        self.relations |= {n: relation_name(self.prefix, n) for n in LOADED}
        self.in_memory: bool = engine.in_process and manifest.get("rows", 0) <= LARGEST_HELD
        self._held: sparse.csr_array | None = None
        self._totals: Array | None = None
        self._system: System | None = None
        self._spreads: dict[tuple[bytes, bytes], Array] = {}

    def totals(self) -> Array:
        """Load the release at the first call; return the values' totals f in the order of their codes.

        Raises ReleaseError where its tables are no QIT and ST that fit each other.
        """
        if self._totals is None:
            self._load()
            frame = self.engine.frame(f"select code, row_count from {self.relations['value']}")
            totals = np.zeros(len(frame))
            totals[frame["code"].to_numpy()] = frame["row_count"]
            self._totals = totals
        return self._totals

    def _load(self) -> None:
        try:
            (found,) = self.engine.frame(self.soundness_text()).to_dict("records")
            if not found["line_count"] or found["unequal_groups"] or found["faulty_lines"]:
                raise ReleaseError(
                    f"the release is damaged: {int(found['unequal_groups'])} groups are not as large in QIT as in ST,"
                    f" {int(found['faulty_lines'])} lines have no group or no whole count"
                    f"{'' if found['line_count'] else ', there are no rows'}; sqlanon verify says more"
                )
            for name, sql in self._tables():
                self.keep(name, sql)
        except (ReleaseError, ResourceError, TargetError):
            raise
        except SqlanonError as error:
            told = str(error) if isinstance(error, UsageError | DataError) else type(error).__name__
            raise ReleaseError(
                f"the release's tables cannot be read as a QIT and an ST ({told}); sqlanon verify says more"
            ) from None

    def held(self) -> sparse.csr_array:
        """Return ST as a sparse matrix of groups x values, s_g(v)."""
        if self._held is None:
            totals, frame = self.totals(), self.engine.frame(self.render("estimation/qit_st/held", self.relations))
            group, code = frame["group_id"].to_numpy(), frame["code"].to_numpy()
            shape = (int(group.max(initial=-1)) + 1, len(totals))
            self._held = sparse.csr_array((frame["occurrences"].to_numpy(), (group, code)), shape=shape)
        return self._held

    def counted(self, groups: NDArray[np.int64]) -> dict[str, Array]:
        """Return b and the uniform estimates (V) of rows that lie in these groups, as the moment query does."""
        held = self.held()
        hits = np.bincount(groups, minlength=held.shape[0]).astype(float)
        size = held @ np.ones(held.shape[1])
        return {"shared": hits @ held, "uniform": (hits / size) @ held}

    def system(self) -> System | None:
        """Return S and its inverse, None where the release has too many values for it."""
        totals = self.totals()
        if self._system is None and len(totals) <= LARGEST_SYSTEM and self.in_memory:
            self._system = least_squares.system((self.held().T @ self.held()).toarray(), totals)
        elif self._system is None and len(totals) <= LARGEST_SYSTEM:
            frame = self.engine.frame(self.normal_text())
            one, two = frame["code"].to_numpy(), frame["other_code"].to_numpy()
            normal = np.zeros((len(totals), len(totals)))
            normal[one, two] = normal[two, one] = frame["product_sum"].to_numpy(dtype=float)
            self._system = least_squares.system(normal, totals)
        return self._system

    def spreads(self, wanted: Sequence[tuple[Array, Array]]) -> Array:
        """Return, for pairs of asked vectors a, a', the sums of h h' over the places of each value: k x V."""
        keys = [(one.tobytes(), two.tobytes()) for one, two in wanted]
        missing = {key: pair for key, pair in zip(keys, wanted, strict=True) if key not in self._spreads}
        pairs = list(missing.items())
        for start in range(0, len(pairs), DIRECTIONS // 2):
            self._measure_spreads(pairs[start : start + DIRECTIONS // 2])
        found = np.stack([self._spreads[key] for key in keys])
        if len(self._spreads) * len(self.totals()) > MOST_REMEMBERED:
            self._spreads.clear()
        return found

    def _measure_spreads(self, pairs: Sequence[tuple[tuple[bytes, bytes], tuple[Array, Array]]]) -> None:
        """Run the spread query for one chunk: one column per different vector, one product per pair."""
        system = self.system()
        assert system is not None
        vectors = {vector.tobytes(): vector for _, pair in pairs for vector in pair}
        number = {key: place for place, key in enumerate(vectors, start=1)}
        found = least_squares.directions(system, np.stack(list(vectors.values())))
        if self.in_memory:
            heights = dict(zip(vectors, (self.held() @ found.T).T, strict=True))
            for key in (key for key, _ in pairs):
                self._spreads[key] = (heights[key[0]] * heights[key[1]]) @ self.held()
            return
        frame = pd.DataFrame({"code": np.arange(found.shape[1])} | {f"x_{n}": x for n, x in enumerate(found, 1)})
        self.keep_frame("direction", frame)
        products = [(number[one], number[two]) for (one, two), _ in pairs]
        rows = self.engine.frame(self.spread_text(len(vectors), products))
        for place, (key, _) in enumerate(pairs, start=1):
            line = np.zeros(found.shape[1])
            line[rows["code"].to_numpy()] = rows[f"product_{place}"].to_numpy(dtype=float)
            self._spreads[key] = line

    def spread_text(self, count: int, products: Sequence[tuple[int, int]]) -> str:
        """Write the spread query for `count` directions and these pairs of them."""
        given = {**self.relations, "direction": relation_name(self.prefix, "direction")}
        return self.render(
            "estimation/qit_st/spread", given, directions=list(range(1, count + 1)), products=list(products)
        )

    def loading(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the first query runs: a check, and the tables that it makes."""
        return [("soundness", self.soundness_text()), *self._tables()]

    def _tables(self) -> list[tuple[str, str]]:
        return [(name, self.render(template, self.relations)) for name, template in LOADED.items()]

    def soundness_text(self) -> str:
        """Write the query that tells whether QIT and ST fit each other."""
        return self.render("shared/soundness", self.relations)

    def normal_text(self) -> str:
        """Write the query for S."""
        return self.render("estimation/qit_st/normal", {**self.relations, "group_class": Sql("")}, by_class=[])

    def solving(self) -> list[tuple[str, str]]:
        """Return the names and texts of the queries behind S and the spreads; in memory ST is read once."""
        if self.in_memory:
            return [("held", self.render("estimation/qit_st/held", self.relations))]
        return [("normal", self.normal_text()), ("spread", self.spread_text(1, [(1, 1)]))]

    def close(self) -> None:
        """Forget the temporary tables; they are made again where they are needed again."""
        super().close()
        self._totals = self._system = self._held = None
