"""The rows of a release as a model reads them: quasi values as codes, sensitive values as numbers."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Array
from sqlanon.ordered_types import is_ordered
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql

BINS = 10  # codes of a column of numbers or dates, and of all rare values of another
MOST_CODES = 50  # at most so many values of a column have a code of their own
ROWS_PER_VALUE = 10  # a code needs so many rows per sensitive value; with fewer the release tells nothing about it


class ModelRows(Workspace):
    """Number the rows of one published table and code their quasi values; `close` drops what was made."""

    def __init__(self, engine: Engine, published: Sql, quasi: Sequence[str], kept: Mapping[str, str]) -> None:
        """Take the table, its quasi columns, and further columns that are kept, published name → ours."""
        super().__init__(engine, {}, {}, {})
        self.quasi = {name: f"quasi_{number}" for number, name in enumerate(quasi, start=1)}
        self.levels = [f"level_{number}" for number in range(1, len(quasi) + 1)]
        self.kept = dict(kept)
        columns = {"quasi": list(self.quasi.items()), "kept": list(self.kept.items())}
        self.numbered = self.make("numbered", "completion/numbered_row", {"published": published}, **columns)

    def make(self, name: str, template: str, given: Mapping[str, Sql], /, **values: object) -> Sql:
        """Make a relation; return it."""
        return self.keep(name, self.render_own(template, given, **values))

    def render_own(self, template: str, given: Mapping[str, Sql], /, **values: object) -> str:
        """Render a template; it takes of the relations what it declares."""
        return render_query(template, values, given)

    def replace(
        self, name: str, before: Sql | None, template: str, given: Mapping[str, Sql], /, **values: object
    ) -> Sql:
        """Make a relation anew; the one before, which the new one may read, is dropped."""
        relation = self.make(name, template, given, **values)
        if before is not None:
            self.forget([str(before)])
        return relation

    def code(self, value_count: int) -> Sql:
        """Code the rows for a model of so many sensitive values; return them with their levels.

        `rows_of_levels` holds the rows of each level, T; `parts`, for each column, the levels that are its own.
        """
        types = self.engine.columns(f"select * from {self.numbered}")
        codes, counts = [], []
        for name in self.quasi.values():
            inputs, ordered = {"numbered": self.numbered}, is_ordered(types[name])
            least = {"least": ROWS_PER_VALUE * value_count, "most": MOST_CODES, "bins": BINS, "is_ordered": ordered}
            codes.append(self.make(f"codes_of_{name}", "completion/code", inputs, name=name, **least))
            query = f"select code, cast(sum(row_count) as bigint) as row_count from {codes[-1]} group by code"
            counts.append(self.engine.frame(f"{query} order by code asc nulls last")["row_count"].to_numpy(dtype=float))
        firsts = list(accumulate((len(count) for count in counts), initial=0))
        self.rows_of_levels: Array = np.concatenate(counts)
        self.parts = [slice(first, last) for first, last in pairwise(firsts)]
        coded = list(zip(codes, self.quasi.values(), self.levels, firsts, strict=False))
        kept_columns = list(self.kept.values())
        return self.make(
            "coded_row", "completion/coded_row", {"numbered": self.numbered}, kept=kept_columns, codes=coded
        )


def refuse_many_values(count: int, most: int) -> None:
    """Raise DataError for more sensitive values than models of such a release are learned of."""
    if count > most:
        raise DataError(f"the release has {count:,} sensitive values; complete learns of {most:,} at most here")
