"""A randomized release loaded for estimation: its values with their published counts, and their channels."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.estimation.release_tables import ReleaseTables, select_columns
from sqlanon.estimation.temporary_tables import Steps, listed
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.randomized.pooling import Everybody
from sqlanon.methods.grouping import GROUPS_PER_BLOCK, ONE_BLOCK
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Query

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.query_run import QueryRun

UNLISTED = (
    "values of {} that no row publishes may belong to somebody all the same: the count is the least; a release with"
    " `--values list` lists all of them"
)


class Randomized(ReleaseTables):
    """Hold a release's table and what depends on it only. counts: the published counts f' of columns, by place."""

    sensitive: list[str]

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table `data`; nothing runs before the first query.

        Raises UsageError for another method's release, ReleaseError where the manifest does not say γ.
        """
        if "data" not in tables:
            raise UsageError(f"a {manifest.get('method')} release has no table of randomized rows")
        columns, parameters = manifest["columns"], manifest.get("parameters", {})
        self.quasi, self.sensitive = list(columns["quasi"]), list(columns["sensitive"])
        self.gamma = [_gamma(parameters.get("gamma"), name) for name in self.sensitive]
        block, self._departed = parameters.get("block", GROUPS_PER_BLOCK), parameters.get("departed", 0)
        if not isinstance(self._departed, int) or isinstance(self._departed, bool) or self._departed < 0:
            raise ReleaseError("the manifest does not say how many persons of its ledger have departed")
        self._block = block if isinstance(block, int) and block > 0 else ONE_BLOCK
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)}
        names |= {f"sensitive_{n}": name for n, name in enumerate(self.sensitive, start=1)}
        super().__init__(engine, tables, names)
        made = ("person", *(f"value_{number}" for number in range(1, len(self.sensitive) + 1)))
        self.relations |= {name: relation_name(self.prefix, name) for name in made}
        self.counts: dict[int, Array] = {}
        self._is_loaded = False
        self._everybody: dict[tuple[int, ...], Everybody] = {}

    def value(self, place: int) -> Sql:
        """Return the relation of one sensitive column's values (by its place, from 0)."""
        return self.relations[f"value_{place + 1}"]

    def loading_steps(self, touched: Sequence[int] = ()) -> Steps:
        """Render the rows, and the values of the columns that a query reads."""
        numbers = [place + 1 for place in touched]
        shown = [number for number in numbers if f"values_{number}" in self.tables]
        columns = {"quasi": self.quasi, "sensitive": self.sensitive}
        return self.write("evidence/randomized", self.tables, **columns, touched=numbers, listed=shown)

    def load(self, touched: Sequence[int]) -> None:
        """Make the rows and the tables of values that are not there yet, and read their counts."""
        missing = [place for place in touched if place not in self.counts]
        if not missing and self._is_loaded:
            return
        rows, *values = self.loading_steps(missing)
        run_steps(values if self._is_loaded else [rows, *values], self.engine, self._made)
        self._is_loaded = True
        for place in missing:
            counted = self.engine.arrays(f"select row_count from {self.value(place)} order by code asc nulls last")
            self.counts[place] = counted["row_count"].astype(float)

    def departed_share(self, place: int) -> float:
        """Return the share of the persons whom releases of the ledger have shown that this one does not show."""
        return float(self._departed / max(self.counts[place].sum() + self._departed, 1.0))

    def closed_form(self, place: int) -> ClosedForm:
        """Return one column's channel as the closed form has it.

        Its γ is N/m, m = floor(N/γ): γ itself where every group holds γ rows, or held them before some left.
        """
        counts, gamma = self.counts[place], self.gamma[place]
        rows = float(counts.sum())
        groups = rows // gamma
        per_block = groups / max(groups // self._block, 1)
        effective = float(gamma) if self._departed else rows / max(groups, 1)
        return ClosedForm(np.minimum(counts, groups), rows, effective, per_block)

    def everybody(self, touched: Sequence[int], table: Callable[[], Array]) -> Everybody | None:
        """Return the whole release's figures of the columns that are read; None where there are none.

        table: reads the release's rows by published values, V; it runs once.
        """
        key = tuple(touched)
        if key and key not in self._everybody:
            shares = [self.counts[place] / self.counts[place].sum() for place in touched]
            self._everybody[key] = Everybody([self.closed_form(place) for place in touched], shares, table())
        return self._everybody.get(key)

    def close(self) -> None:
        """Forget the temporary tables; they are made again where they are needed again."""
        super().close()
        self._is_loaded = False
        self.counts.clear()
        self._everybody.clear()

    # -- queries ---------------------------------------------------------------------------------

    def start(self, query: Query, name: str) -> "QueryRun":
        """Start the run of an estimator."""
        from sqlanon.estimation.randomized.run import PublishedRun

        return PublishedRun(self, query, name)

    def loading_statements(self, query: Query) -> list[tuple[str, str]]:
        """Return what a query of these columns reads."""
        return listed(self.loading_steps(query.touched))

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return the published rows for quasi columns, which are not randomized."""
        return None if columns & set(self.sensitive) else select_columns(columns, self.tables["data"])

    def ask_exactly(self, sql: str, query: Query | None) -> "Answered | None":
        """Count the different values of a whole column, too: those that are listed, or the fewest there may be."""
        from sqlanon.estimation.exact import answer_exactly
        from sqlanon.sql.exact_query import read_distinct, read_exact

        if (column := read_distinct(sql, self.sensitive)) is None:
            return super().ask_exactly(sql, query)
        shown = self.tables.get(f"values_{self.sensitive.index(column) + 1}")
        rows = shown or self.tables["data"]
        exact = read_exact(sql, lambda columns: select_columns(columns, rows), self.sensitive, None)
        assert exact is not None
        answer = answer_exactly(self, exact, None)
        if shown is None:
            frame = answer.df()
            frame[[f"{frame.columns[0]}_{end}" for end in ("std_error", "high")]] = np.nan
            answer.messages = answer.warnings = [UNLISTED.format(repr(column))]
        return answer


def _gamma(value: object, column: str) -> int:
    gamma = value.get(column) if isinstance(value, Mapping) else value
    if not isinstance(gamma, int) or isinstance(gamma, bool) or gamma < 2:
        raise ReleaseError(f"the manifest does not say the gamma of {column!r}")
    return gamma
