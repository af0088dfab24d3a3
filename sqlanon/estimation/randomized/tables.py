"""A randomized release loaded for estimation: its values with their published counts, and their channels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.closed_form import ClosedForm, Joint
from sqlanon.estimators.evidence import Array
from sqlanon.estimators.randomized.pooling import Everybody
from sqlanon.methods.grouping import GROUPS_PER_BLOCK, ONE_BLOCK
from sqlanon.plans.plan import Loop, Report, relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql


class Randomized(Workspace):
    """Hold a release's table and what depends on it only; each is made when it is first needed."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published table `data`; nothing runs before the first query.

        Raises UsageError for another method's release, ReleaseError where the manifest does not say γ.
        """
        if "data" not in tables:
            raise UsageError(f"a {manifest.get('method')} release has no table of randomized rows")
        columns, parameters = manifest["columns"], manifest.get("parameters", {})
        self.quasi: list[str] = list(columns["quasi"])
        self.sensitive: list[str] = list(columns["sensitive"])
        self.gamma = [_gamma(parameters.get("gamma"), name) for name in self.sensitive]
        block = parameters.get("block", GROUPS_PER_BLOCK)
        self.departed = _departed(parameters.get("departed", 0))
        self.block = block if isinstance(block, int) and block > 0 else ONE_BLOCK
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)}
        names |= {f"sensitive_{n}": name for n, name in enumerate(self.sensitive, start=1)}
        super().__init__(engine, tables, {}, names)
        places = range(len(self.sensitive))
        self.relations |= {
            name: relation_name(self.prefix, name) for name in ("person", *map(self._value_name, places))
        }
        self._loaded = False
        self._counts: dict[int, Array] = {}
        self._everybody: dict[tuple[int, ...], Everybody] = {}

    def value(self, place: int) -> Sql:
        """Return the relation of one sensitive column's values (by its place, from 0)."""
        return self.relations[self._value_name(place)]

    @staticmethod
    def _value_name(place: int) -> str:
        return f"value_{place + 1}"

    def loading_steps(self, touched: Sequence[int] = ()) -> list[Statement | Report | Loop]:
        """Render the rows, and the values of the columns that a query reads."""
        columns = {"quasi": self.quasi, "sensitive": self.sensitive}
        listed = [place + 1 for place in touched if f"values_{place + 1}" in self.tables]
        numbers = [place + 1 for place in touched]
        return self.write("evidence/randomized", self.tables, **columns, touched=numbers, listed=listed)

    def load(self, touched: Sequence[int]) -> None:
        """Make the rows and the tables of values that are not there yet, and read their counts."""
        missing = [place for place in touched if place not in self._counts]
        if not missing and self._loaded:
            return
        rows, *values = self.loading_steps(missing)
        run_steps(values if self._loaded else [rows, *values], self.engine, self._made)
        self._loaded = True
        for place in missing:
            counted = self.engine.arrays(f"select row_count from {self.value(place)} order by code asc nulls last")
            self._counts[place] = counted["row_count"].astype(float)

    def counts(self, place: int) -> Array:
        """Return the published counts f' of a column's values, in the order of their codes."""
        return self._counts[place]

    def departed_share(self, place: int) -> float:
        """Return the share of the persons whom releases of the ledger have shown that this one does not show."""
        rows = float(self.counts(place).sum())
        return self.departed / max(rows + self.departed, 1.0)

    def effective_gamma(self, place: int) -> float:
        """Return N/m, m = floor(N/γ): γ itself where every group holds γ rows, or held them before some left."""
        rows = float(self.counts(place).sum())
        if self.departed:
            return float(self.gamma[place])
        return rows / max(rows // self.gamma[place], 1)

    def closed_form(self, place: int) -> ClosedForm:
        """Return one column's channel as the closed form has it."""
        counts, gamma = self.counts(place), self.effective_gamma(place)
        rows = float(counts.sum())
        groups = rows // self.gamma[place]
        per_block = groups / max(groups // self.block, 1)
        return ClosedForm(np.minimum(counts, groups), rows, gamma, per_block)

    def joint(self, touched: Sequence[int]) -> Joint:
        """Return the channels of several columns as one."""
        return Joint([self.closed_form(place) for place in touched])

    def everybody(self, touched: Sequence[int], table: Callable[[], Array]) -> Everybody | None:
        """Return the whole release's figures of the columns that are read; None where there are none.

        table: reads the release's rows by published values, V; it runs once.
        """
        key = tuple(touched)
        if key and key not in self._everybody:
            columns = [self.closed_form(place) for place in touched]
            shares = [self.counts(place) / self.counts(place).sum() for place in touched]
            self._everybody[key] = Everybody(columns, shares, table())
        return self._everybody.get(key)

    def close(self) -> None:
        """Forget the temporary tables; they are made again where they are needed again."""
        super().close()
        self._loaded = False
        self._counts.clear()
        self._everybody.clear()


def _departed(count: object) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ReleaseError("the manifest does not say how many persons of its ledger have departed")
    return count


def _gamma(value: object, column: str) -> int:
    gamma = value.get(column) if isinstance(value, Mapping) else value
    if not isinstance(gamma, int) or isinstance(gamma, bool) or gamma < 2:
        raise ReleaseError(f"the manifest does not say the gamma of {column!r}")
    return gamma
