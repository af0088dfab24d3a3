"""The rows of a release as a model reads them: quasi values as levels, sensitive values as numbers, of kinds."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import ceil

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.estimation.release_tables import Workspace
from sqlanon.estimators.evidence import Array
from sqlanon.plain_values import is_ordered
from sqlanon.plans.templates import Sql, ident

BINS = 10  # codes of a quasi column of numbers or dates, and of all rare values of another
MOST_CODES = 50  # at most so many values of a column have a code of their own
ROWS_PER_HIDDEN = 300  # a kind of sensitive values needs so many for each value among which a row's own one hides:
# with fewer, what releases say of kinds is mostly noise, and no way to deal values has as many rows as it asks for
FEW_VALUES = 20  # so many are kinds each, however rare
ROWS_PER_KIND = 10  # a level needs so many rows per kind of sensitive values; fewer tell nothing of it
Whole = NDArray[np.int64]


def salt_of(seed: int, *purpose: object) -> int:
    """Return what tells the draws of one purpose from all others: 62 bits, added to a row's number and hashed."""
    digest = hashlib.sha256(repr((seed, *purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 2


class ModelRows(Workspace):
    """Number the rows of one published table and code their quasi values; `close` drops what was made."""

    def __init__(self, engine: Engine, published: Sql, quasi: Sequence[str], kept: Mapping[str, str]) -> None:
        """Take the table, its quasi columns, and further columns that are kept, published name → ours."""
        super().__init__(engine)
        self.quasi = {name: f"quasi_{number}" for number, name in enumerate(quasi, start=1)}
        self.levels = [f"level_{number}" for number in range(1, len(quasi) + 1)]
        self.kept = dict(kept)
        columns = {"quasi": list(self.quasi.items()), "kept": list(self.kept.items())}
        self.numbered = self.make("numbered", "completion/rows/numbered_row", {"published": published}, **columns)

    def make(self, name: str, template: str, given: Mapping[str, Sql], /, **values: object) -> Sql:
        """Make a relation; return it."""
        return self.keep(name, self.render(template, given, **values))

    def keep_effects(self, effects: Array) -> Sql:
        """Keep effects, T x K, as a relation: a list for each level."""
        level, number = np.divmod(np.arange(effects.size), effects.shape[1])
        frame = pd.DataFrame({"level": level, "number": number, "effect": effects.ravel()})
        return self.make("effects", "completion/rows/effects", {"effect": self.keep_frame("effect", frame)})

    def number_values(self, name: str, published: Sql, column: str, rows: Sql, hidden: float) -> tuple[Sql, Whole]:
        """Number and code the values of a sensitive column; return the relation, and each value's code.

        published: a table with the column. rows: for how many rows a row of it stands. hidden: among how many values
        a row's own one hides. Codes are numbered from 1.
        """
        counted = f"select count(distinct {ident(column)}) as n, cast(sum({rows}) as bigint) as whole from {published}"
        (read,) = self.engine.rows(counted)
        least = 1
        if int(read["n"]) > FEW_VALUES:
            least = ceil(min(ROWS_PER_HIDDEN * hidden, int(read["whole"]) / FEW_VALUES))
        # numbers may be codes of what is no scale: each value that is frequent is a kind, also of numbers
        value = self._code(name, published, column, rows, least=least, bins=MOST_CODES, is_ordered=False)
        values = self.engine.arrays(f"select code from {value} order by value_number asc nulls last")
        return value, np.asarray(values["code"], dtype=np.int64)

    def _code(self, name: str, published: Sql, column: str, rows: Sql, **values: object) -> Sql:
        columns = {"column": column, "rows": rows, "most": MOST_CODES, **values}
        return self.make(name, "completion/rows/value", {"published": published}, **columns)

    def code(self, kinds: int) -> Sql:
        """Code the rows for a model of so many kinds of sensitive values; return them with their levels.

        `rows_of_levels` holds the rows of each level, T; `parts`, for each column, the levels that are its own.
        """
        types = self.engine.columns(f"select * from {self.numbered}")
        codes, counts = [], list[Array]()
        for name in self.quasi.values():
            least = {"least": ROWS_PER_KIND * kinds, "bins": BINS, "is_ordered": is_ordered(types[name])}
            codes.append(self._code(f"codes_of_{name}", self.numbered, name, Sql("1"), **least))
            query = f"select code, cast(sum(row_count) as bigint) as row_count from {codes[-1]} group by code"
            counted = self.engine.arrays(f"{query} order by code asc nulls last")
            counts.append(np.asarray(counted["row_count"], float))
        firsts = list(accumulate(map(len, counts), initial=0))
        self.rows_of_levels: Array = np.concatenate(counts)
        self.parts = [slice(first, last) for first, last in pairwise(firsts)]
        coded = list(zip(codes, self.quasi.values(), self.levels, firsts, strict=False))
        kept_columns = list(self.kept.values())
        return self.make(
            "coded_row", "completion/rows/coded_row", {"numbered": self.numbered}, kept=kept_columns, codes=coded
        )
