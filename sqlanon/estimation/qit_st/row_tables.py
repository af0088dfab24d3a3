"""The published rows of QIT and ST as queries read them: kept under our names, or where they are published."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.estimation.sound_tables import load_readable, require_soundness
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Array
from sqlanon.plans.manifest import follows
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

KIND = "a QIT and an ST"
READ_FIRST = {"place": "shared/place", "value": "estimation/qit_st/value"}
READ_OFTEN = {"line": "estimation/qit_st/line", "person": "estimation/qit_st/person"}


class RowTables(Workspace):
    """Hold what queries read of QIT and ST; each relation is made when it is first needed."""

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
        values = {
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "group_column": columns["group"],
            "count_column": columns["count"],
        }
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, values, names)
        self._may_depart = follows(manifest)  # members of groups may be in ST and no longer in QIT
        self.relations |= {name: relation_name(self.prefix, name) for name in (*READ_FIRST, *READ_OFTEN)}
        self.rows_kept = False
        self._totals: Array | None = None

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
        for name, template in READ_FIRST.items():
            self.keep(name, self.render(template, self.relations))
        require_soundness(self, self._render_soundness())
        self.engine.columns(self.render(READ_OFTEN["person"], self.relations))
        # the engine would compare a text with a number as numbers, of which 1 and 01 are the same
        kinds = [self.engine.columns(f"select * from {self.tables[name]}")[self._group] for name in ("qit", "st")]
        if ("VARCHAR" in kinds) and len(set(kinds)) > 1:
            raise UsageError(f"the groups of QIT are {kinds[0]}, those of ST {kinds[1]}")

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
        tables = [(name, self.render(template, self.relations)) for name, template in (READ_FIRST | READ_OFTEN).items()]
        return [tables[0], ("soundness", self._render_soundness()), *tables[1:]]

    def _render_soundness(self) -> str:
        return self.render("estimation/qit_st/place_soundness", self.relations, may_depart=self._may_depart)

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self.rows_kept, self._totals = False, None
