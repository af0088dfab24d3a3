"""Answer from a release of uncertain data: what is certain, what is possible, what is expected.

A published cell is a node and a number of alternatives, or a largest value and a number: from these the recipient knows
what it may hold, its candidates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.estimation.cells import CellTables, QueryParts
from sqlanon.estimation.failures import refuse_unsound
from sqlanon.estimation.release_tables import Steps
from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.plans.plan import Row, relation_name
from sqlanon.plans.templates import Sql

FIGURES = {"low": "certain", "high": "possible", "value": "expected"}


class UncertainTables(CellTables):
    """Hold the tables that every query over uncertain data reads; what a column's cells are is made when it is read."""

    contents, whole = "uncertain data", ("place", "1", "whole.group_size")
    refusal = "uncertain data answers COUNT(*) alone: SUM, AVG, quantiles and expressions were removed in 0.3.0"

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns, read = manifest["columns"], described(dict(manifest))
        self.quasi, (self.sensitive,) = list(read.quasi), columns["sensitive"]
        self.hierarchies = read.trees
        self.types = {place: Sql(read.types[name]) for place, name in enumerate(self.quasi, start=1)}
        self.open_places = {place for place, _ in read.ordered}
        self._has_sets = len(columns["values"]) > 1
        self._laid_out = {
            "labels": [],
            "quasi": read.fields,
            "hidden": list(read.hidden),
            "may_depart": False,
            "values": list(columns["values"]),
            **{f"{role}_column": columns[role] for role in ("group", "count", "qiid", "alternatives")},
        }
        super().__init__(engine, tables)
        self.relations["held"] = relation_name(self.prefix, "held")

    def _load(self) -> None:
        self.keep_frame("held", self._frame_hierarchies())
        super()._load()

    def _look(self, name: str, row: Row) -> None:
        """Refuse tables that do not fit each other; remember how many rows are hidden."""
        if name == "soundness":
            refuse_unsound(row)
        else:
            self.shown_rows, self.hidden_rows = int(row["shown"]), int(row["hidden"])

    def name_figures(self, parts: QueryParts, touched: bool) -> Mapping[str, str]:
        """Return certain, possible and expected; expected alone, where a condition that joins both sides leaves no
        bounds, or what is read is certain anyway.
        """
        uncertain = (self.hidden_rows > 0 and bool(parts.marks)) or (touched and (bool(parts.marks) or self._has_sets))
        uncertain |= bool(set(parts.marks) & (self.open_places | set(self.hierarchies)))
        if uncertain and not any(component.mixed for component in parts.components):
            return FIGURES
        return {"value": FIGURES["value"]}

    def loading_steps(self) -> Steps:
        """Render what the first query runs; `held` is filled from the release's hierarchies."""
        # A cell of a column with a hierarchy shows a node, which is text whatever the type of the values below it.
        cells = [(place, Sql("varchar") if place in self.hierarchies else kind) for place, kind in self.types.items()]
        return self.write("evidence/uncertain", self.tables, cells=cells, **self._laid_out)

    def _frame_hierarchies(self) -> pd.DataFrame:
        """Return every value of every hierarchy with each node at or above it, and NULL, which is a value like any."""
        lines: list[tuple[int, str | None, str | None]] = []
        for place, hierarchy in self.hierarchies.items():
            lines += ((place, value, node) for value, node in hierarchy.held_below)
            # a group with a row without a value is generalized to the root
            lines += [(place, None, None), (place, None, hierarchy.root)]
        frame = pd.DataFrame(lines, columns=["attribute", "name", "node"])
        return frame.astype({"attribute": "int64", "name": "string", "node": "string"})

    def column(self, place: int, pieces: Sequence[Sql] = ()) -> dict[str, Any]:
        """Return how the cells of a column are read: nodes, the largest of several values, or values."""
        kind = "held" if place in self.hierarchies else "ordered" if place in self.open_places else "covered"
        cell = self.relations[f"cell_{place}"]
        column = {"kind": kind, "number": place, "sql_type": self.types[place], "cell": cell}
        # a cell that is certain stands for its own value
        covered = Sql(f"(select cell, known as name from {cell})")
        return {**column, "held": self.relations["held"], "covered": covered}
