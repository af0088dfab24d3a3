"""The queries of a comparison: the papers' two generators, or the user's own file; with their true answers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import DataError, QueryError, SourceError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.query_file import split_queries
from sqlanon.sql.source_query import SourceQuery, write_over_source

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SETS, CONJUNCTIONS, OWN = "sets", "conjunctions", "own"
SELECTIVITIES = (0.05, 0.01)  # expected shares of the rows, as Anatomy's paper varies them
MOST_QUASI = 3  # quasi columns in one query, as both papers have it
MOST_VALUES = 1000  # a column with more is in no set predicate
MOST_DRAWS = 20  # sets of columns that conjunctions are drawn from
TRUTHS_AT_ONCE = 100  # conditions that one scan counts
_BARE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXT = ("VARCHAR", "ENUM", "UUID")


@dataclass(frozen=True)
class AskedQuery:
    """One query: its text FROM release, its kind, how its rows and figures are called, and its true answer."""

    text: str
    workload: str
    line: int
    shape: SourceQuery
    truth: "pd.DataFrame"


@dataclass(frozen=True)
class Microdata:
    """The rows that are compared: a temporary table with the published columns under their own names."""

    workspace: Workspace
    relation: Sql
    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    types: Mapping[str, str]

    def frame(self, template: str, **values: object) -> "pd.DataFrame":
        """Return what a template of comparisons finds."""
        sql = self.workspace.render(f"comparison/{template}", {"microdata": self.relation}, **values)
        return self.workspace.engine.frame(sql)


def draw_queries(data: Microdata, wanted: int, seed: int) -> list[AskedQuery]:
    """Return a seeded workload, half of it set predicates and half conjunctions of equalities, with true counts."""
    import numpy as np

    random = np.random.default_rng(seed)
    sets = _draw_sets(data, wanted // 2, random)
    conditions = [(SETS, where) for where in sets]
    conditions += [(CONJUNCTIONS, where) for where in _draw_conjunctions(data, wanted - len(sets), seed, random)]
    if not conditions:
        raise DataError("no row has values in a quasi column and in the sensitive one; there is nothing to ask")
    return _with_truths(data, conditions)


def _draw_sets(data: Microdata, wanted: int, random: "np.random.Generator") -> list[str]:
    """Draw predicates of Anatomy's paper: qd quasi columns, a sensitive one, ceil(|A| s^(1/(qd+1))) values of each."""
    names = (*data.quasi, *data.sensitive)
    read = {name: data.frame("domain", column=name, most=MOST_VALUES + 1)["value_text"].tolist() for name in names}
    domains = {name: values for name, values in read.items() if 0 < len(values) <= MOST_VALUES}
    quasi = [name for name in data.quasi if name in domains]
    sensitive = [name for name in data.sensitive if name in domains]
    if not quasi or not sensitive:
        return []
    most, conditions = min(MOST_QUASI, len(quasi)), []
    for number in range(wanted):
        qd, selectivity = 1 + number % most, SELECTIVITIES[number // most % len(SELECTIVITIES)]
        drawn = [*random.choice(quasi, qd, replace=False), random.choice(sensitive)]
        terms = []
        for name in map(str, drawn):
            size = math.ceil(len(domains[name]) * selectivity ** (1 / (qd + 1)))
            chosen = random.choice(len(domains[name]), size, replace=False)
            values = ", ".join(_constant(data, name, domains[name][place]) for place in chosen)
            terms.append(f"{ident(name)} in ({values})")
        conditions.append(" and ".join(terms))
    return conditions


def _draw_conjunctions(data: Microdata, wanted: int, seed: int, random: "np.random.Generator") -> list[str]:
    """Draw predicates of SPLU's paper, A1 = v1 ∧ … ∧ SA = s, as rows would: every query has an answer."""
    most = min(MOST_QUASI, len(data.quasi))
    turns = min(MOST_DRAWS, wanted)
    conditions: dict[str, None] = {}
    for turn in range(turns):
        drawn = [*random.choice(data.quasi, 1 + turn % most, replace=False), random.choice(data.sensitive)]
        names = [str(name) for name in drawn]
        share = (wanted - len(conditions)) // (turns - turn)
        found = data.frame("conjunction", columns=names, seed=f"{seed}/{turn}", most=share)
        for row in found[names].itertuples(index=False):
            terms = (f"{ident(name)} = {_constant(data, name, text)}" for name, text in zip(names, row, strict=True))
            conditions[" and ".join(terms)] = None
    return list(conditions)


def _constant(data: Microdata, name: str, text: str) -> Sql:
    """Write a value of a column, read as text, as a constant of the column's type."""
    kind = data.types[name].upper()
    if kind.startswith(_TEXT):
        return literal(text)
    return Sql(text) if kind.startswith(_BARE) else Sql(f"cast({literal(text)} as {kind})")


def _with_truths(data: Microdata, conditions: Sequence[tuple[str, str]]) -> list[AskedQuery]:
    """Count what meets each condition, many in one scan."""
    import pandas as pd

    asked = []
    for begin in range(0, len(conditions), TRUTHS_AT_ONCE):
        part = conditions[begin : begin + TRUTHS_AT_ONCE]
        counts = data.frame("truth", conditions=[Sql(where) for _, where in part]).iloc[0].tolist()
        for (workload, where), count in zip(part, counts, strict=True):
            text = f"select count(*) as n from release where {where}"
            shape = SourceQuery(text, ("n",), (), ("n",), frozenset("n"))
            asked.append(AskedQuery(text, workload, 0, shape, pd.DataFrame({"n": [count]})))
    return asked


def read_queries(data: Microdata, path: Path) -> tuple[list[AskedQuery], list[str]]:
    """Return the queries of a file with their true answers, and what is said of those that cannot be compared.

    Raises SourceError for a file that cannot be read, QueryError where no query is left.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SourceError(f"cannot read the queries in {str(path)!r}: {reason}") from None
    asked, refused = [], []
    for line, query in split_queries(text):
        try:
            shape = write_over_source(query, data.name, data.quasi, data.sensitive)
            truth = data.workspace.engine.frame(shape.sql).set_axis(list(shape.names), axis="columns")
        except (QueryError, DataError) as error:
            refused.append(f"line {line}: {error}")
        else:
            asked.append(AskedQuery(query, OWN, line, shape, truth))
    if not asked:
        raise QueryError(f"no query of {str(path)!r} can be compared: {refused[0] if refused else 'it holds none'}")
    return asked, refused


def pair_figures(asked: AskedQuery, answer: "pd.DataFrame") -> Iterator[tuple[str, float, float, float, float]]:
    """Yield figure, truth, estimate, low and high for every row of the true answer.

    A row that the release's answer lacks is estimated as 0, with no interval.
    """
    keys = asked.shape.keys
    answers = {_key(row, keys): row for row in answer.to_dict("records")}
    for true_row in asked.truth.to_dict("records"):
        row = answers.get(_key(true_row, keys), {})
        for name in asked.shape.figures:
            yield (name, _number(true_row[name]), _number(row.get(name), 0.0), _number(row.get(f"{name}_low")),
                   _number(row.get(f"{name}_high")))  # fmt: skip


def _key(row: Mapping[Any, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(str(row[name]) for name in keys)


def _number(value: Any, missing: float = math.nan) -> float:
    return missing if value is None else float(value)
