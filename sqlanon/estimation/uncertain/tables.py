"""A release of uncertain data loaded for estimation: cells, what each may hold, and sets of sensitive values."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, ReleaseError, ResourceError, SqlanonError, TargetError, UsageError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.methods.uncertain.read_manifest import described, held_below
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

FOLDER = "estimation/uncertain"


class Candidates(Workspace):
    """Hold the tables that every query over uncertain data reads; each column's own are made when it is first read."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns = manifest["columns"]
        self.said = described(dict(manifest))
        self.quasi = list(self.said.quasi)
        (self.sensitive,) = columns["sensitive"]
        values = {
            "labels": [],
            "quasi": self.said.fields,
            "hidden": list(self.said.hidden),
            "values": list(columns["values"]),
            **{f"{role}_column": columns[role] for role in ("group", "count", "qiid", "alternatives")},
        }
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, values, names)
        self.shown = self.hidden = 0
        self._loaded = False
        for name, _ in (*self._tables(), ("held", "")):
            self.relations[name] = relation_name(self.prefix, name)

    @property
    def kinds(self) -> dict[int, Sql]:
        """Return the type of each quasi column's values, by its place from 1."""
        return {place: Sql(self.said.types[name]) for place, name in enumerate(self.quasi, start=1)}

    def load(self) -> None:
        """Make the tables at the first call; raise ReleaseError where they are no QIT and ST that fit each other."""
        if self._loaded:
            return
        try:
            (found,) = self.engine.rows(self.render("shared/soundness", self.relations))
            if not found["line_count"] or found["unequal_groups"] or found["faulty_lines"]:
                raise ReleaseError(
                    f"the release is damaged: {int(found['unequal_groups'])} groups are not as large in QIT as in ST,"
                    f" {int(found['faulty_lines'])} lines have no group or no whole count"
                    f"{'' if found['line_count'] else ', there are no rows'}; sqlanon verify says more"
                )
            self.keep_frame("held", self._held())
            for name, sql in self._tables():
                self.keep(name, sql)
            (rows,) = self.engine.rows(self.own("hidden_rows"))
        except (ReleaseError, ResourceError, TargetError):
            raise
        except SqlanonError as error:
            told = str(error) if isinstance(error, UsageError | DataError) else type(error).__name__
            raise ReleaseError(
                f"the release's tables cannot be read as uncertain data ({told}); sqlanon verify says more"
            ) from None
        self.shown, self.hidden, self._loaded = int(rows["shown"]), int(rows["hidden"]), True

    def own(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> str:
        """Render one of the templates for uncertain data."""
        return self.render(f"{FOLDER}/{template}", {**self.relations, **(given or {})}, **values)

    def loading(self) -> list[tuple[str, str]]:
        """Return the names and texts of what the first query runs; `held` is filled from the release's hierarchies."""
        return [
            ("soundness", self.render("shared/soundness", self.relations)),
            *self._tables(),
            ("hidden_rows", self.own("hidden_rows")),
        ]

    def _tables(self) -> list[tuple[str, str]]:
        given = {name: relation_name(self.prefix, name) for name in ("unfolded", "place", "set_line", "value")}
        cells = {place: relation_name(self.prefix, f"cell_{place}") for place in self.kinds}
        read = {place: Sql("varchar") if place in self.said.trees else kind for place, kind in self.kinds.items()}
        return [
            ("unfolded", self.render("shared/unfolded", self.relations)),
            ("place", self.render("shared/place", self.relations)),
            *((f"cell_{n}", self.own("cell", given, number=n, kind=kind)) for n, kind in read.items()),
            ("cell_person", self.own("cell_person", given, cells=list(cells.items()))),
            ("set_line", self.render("shared/set_line", self.relations)),
            ("value", self.own("alternative_value", given)),
            ("alternative", self.own("alternative", given)),
        ]

    def _held(self) -> pd.DataFrame:
        """Return every value of every hierarchy with each node at or above it, and NULL, which is a value like any."""
        lines: list[tuple[int, str | None, str | None]] = []
        for place in self.said.trees:
            lines += ((place, value, node) for value, node in held_below(self.said.hierarchies[self.quasi[place - 1]]))
            lines.append((place, None, None))
        frame = pd.DataFrame(lines, columns=["attribute", "name", "node"])
        return frame.astype({"attribute": "int64", "name": "string", "node": "string"})

    # -- one column ----------------------------------------------------------------------------

    def candidate(self, place: int) -> str:
        """Write the query for the values that cells of a column may hold."""
        if place in self.said.trees:
            return self.own("candidate_held", number=place, kind=self.kinds[place])
        return self.own("candidate_published", {"cell": self.relations[f"cell_{place}"]}, number=place)

    def spread(self, place: int, marked: Sql, signature: Sql) -> str:
        """Write the query for how likely each cell of a column has each signature."""
        given = {"cell": self.relations[f"cell_{place}"], "marked": marked}
        if place in self.said.trees:
            return self.own("spread_held", given, number=place)
        if place in self.said.plain:
            return self.own("spread_certain", given)
        return self.own("spread_ordered", given | {"signature": signature})

    def close(self) -> None:
        """Forget the temporary tables; they are made again where they are needed again."""
        super().close()
        self._loaded = False
