"""The queries of a comparison as the papers' generators draw them, with their true answers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import DataError
from sqlanon.estimation.plain_counts import CodedRows, Condition
from sqlanon.estimation.release_tables import Workspace
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.exact_query import SourceQuery

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SETS, CONJUNCTIONS = "sets", "conjunctions"
WORKLOADS = ("analysts", "paper")
SELECTIVITIES = (0.05, 0.01)  # expected shares of the rows, as Anatomy's paper varies them
MOST_QUASI = 3  # quasi columns in one query, as both papers have it
MOST_VALUES = 1000  # a column with more is in no set predicate
MOST_DRAWS = 20  # sets of columns that conjunctions are drawn from
_BARE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXT = ("VARCHAR", "ENUM", "UUID")

Conditions = tuple[Condition, ...]  # joined by AND


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

    @classmethod
    def read(
        cls,
        workspace: Workspace,
        source: Source,
        types: Mapping[str, str],
        quasi: Sequence[str],
        sensitive: Sequence[str],
    ) -> "Microdata":
        """Keep these columns of a source in the workspace."""
        names = (*quasi, *sensitive)
        selected = [(source.expression(name), name) for name in names]
        rows = render_query("source", {"relation": source.relation, "selected": selected}, {})
        relation, name = workspace.keep("microdata", rows), f"{workspace.prefix}microdata"
        return cls(
            workspace, relation, name, tuple(quasi), tuple(sensitive), {column: types[column] for column in names}
        )

    def frame(self, template: str, **values: object) -> "pd.DataFrame":
        """Return what a template of comparisons finds."""
        sql = self.workspace.render(template, {"microdata": self.relation}, **values)
        return self.workspace.engine.frame(sql)


def draw_queries(data: Microdata, wanted: int, seed: int) -> list[AskedQuery]:
    """Return a seeded workload with true counts: half set predicates, half conjunctions of equalities."""
    import numpy as np

    random = np.random.default_rng(seed)
    drawn = [(SETS, conditions) for conditions in _draw_sets(data, wanted // 2, random)]
    rest = wanted - len(drawn)
    drawn += [(CONJUNCTIONS, conditions) for conditions in draw_conjunctions(data, rest, seed, random)]
    if not drawn:
        raise DataError("no row has values in a quasi column and in the sensitive one; there is nothing to ask")
    truths = count_truths(data, [conditions for _, conditions in drawn])
    return [name_count(*pair, truth) for pair, truth in zip(drawn, truths, strict=True)]


def read_domains(data: Microdata) -> dict[str, "pd.DataFrame"]:
    """Return the values of each column that has few enough, with how many rows have each."""
    names = (*data.quasi, *data.sensitive)
    frames = {name: data.frame("comparison/workload/domain", column=name, most=MOST_VALUES + 1) for name in names}
    return {name: frame for name, frame in frames.items() if 0 < len(frame) <= MOST_VALUES}


def _draw_sets(data: Microdata, count: int, random: "np.random.Generator") -> list[Conditions]:
    """Draw predicates of Anatomy's paper: qd quasi columns, a sensitive one, ceil(|A| s^(1/(qd+1))) values of each."""
    domains = {name: frame["value_text"].tolist() for name, frame in read_domains(data).items()}
    quasi = [name for name in data.quasi if name in domains]
    sensitive = [name for name in data.sensitive if name in domains]
    if not quasi or not sensitive:
        return []
    most, sets = min(MOST_QUASI, len(quasi)), []
    for number in range(count):
        qd, selectivity = 1 + number % most, SELECTIVITIES[number // most % len(SELECTIVITIES)]
        drawn = [*random.choice(quasi, qd, replace=False), random.choice(sensitive)]
        terms = []
        for name in map(str, drawn):
            size = math.ceil(len(domains[name]) * selectivity ** (1 / (qd + 1)))
            places = random.choice(len(domains[name]), size, replace=False)
            values = ", ".join(write_constant(data, name, domains[name][place]) for place in places)
            terms.append((name, Sql(f"{ident(name)} in ({values})")))
        sets.append(tuple(terms))
    return sets


def draw_conjunctions(data: Microdata, count: int, seed: int, random: "np.random.Generator") -> list[Conditions]:
    """Draw predicates of SPLU's paper, A1 = v1 ∧ … ∧ SA = s, as rows would: every query has an answer."""
    most = min(MOST_QUASI, len(data.quasi))
    turns = min(MOST_DRAWS, count)
    different: dict[Conditions, None] = {}
    for turn in range(turns):
        drawn = [*random.choice(data.quasi, 1 + turn % most, replace=False), random.choice(data.sensitive)]
        names = [str(name) for name in drawn]
        share = (count - len(different)) // (turns - turn)
        frame = data.frame("comparison/workload/conjunction", columns=names, seed=f"{seed}/{turn}", most=share)
        for row in frame[names].itertuples(index=False):
            pairs = zip(names, row, strict=True)
            terms = ((name, Sql(f"{ident(name)} = {write_constant(data, name, text)}")) for name, text in pairs)
            different[tuple(terms)] = None
    return list(different)


def write_constant(data: Microdata, name: str, text: str) -> Sql:
    """Write a value of a column, read as text, as a constant of the column's type."""
    sql_type = data.types[name].upper()
    if sql_type.startswith(_TEXT):
        return literal(text)
    return Sql(text) if sql_type.startswith(_BARE) else Sql(f"cast({literal(text)} as {sql_type})")


def count_truths(data: Microdata, queries: Sequence[Conditions]) -> list[int]:
    """Count the rows that meet all conditions of each query; those that read the same columns share a pass."""
    import numpy as np

    columns = dict.fromkeys(column for query in queries for column, _ in query)
    rows = CodedRows(data.workspace, "coded_microdata", data.relation, list(columns))
    counts = np.full(len(queries), -1)
    try:
        rows.load()
        for places, many in rows.count_each(queries):
            counts[places] = many
    finally:
        rows.close()
    assert (counts >= 0).all(), "conditions of our own can be evaluated"
    return [int(count) for count in counts]


def name_count(workload: str, conditions: Conditions, truth: int) -> AskedQuery:
    """Return the query that counts the rows which meet all conditions."""
    import pandas as pd

    text = f"select count(*) as n from release where {' and '.join(condition for _, condition in conditions)}"
    shape = SourceQuery(text, ("n",), (), ("n",), frozenset("n"))
    return AskedQuery(text, workload, 0, shape, pd.DataFrame({"n": [truth]}))


def pair_figures(asked: AskedQuery, answer: "pd.DataFrame") -> Iterator[tuple[str, float, float, float, float]]:
    """Yield figure, truth, estimate, low and high for every row of the true answer.

    A row that the release's answer lacks is estimated as 0, with no interval.
    """
    keys = asked.shape.keys
    answers = {_key(row, keys): row for row in _rows(answer)}
    for true_row in _rows(asked.truth):
        row = answers.get(_key(true_row, keys), {})
        for name in asked.shape.figures:
            yield (name, _number(true_row[name]), _number(row.get(name), 0.0), _number(row.get(f"{name}_low")),
                   _number(row.get(f"{name}_high")))  # fmt: skip


def _rows(frame: "pd.DataFrame") -> list[dict[Any, Any]]:
    """Return the rows of a small frame, which pandas' own way takes ten times as long for."""
    values = zip(*(frame[name].tolist() for name in frame), strict=True)
    return [dict(zip(frame, row, strict=True)) for row in values]


def _key(row: Mapping[Any, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(str(row[name]) for name in keys)


def _number(value: Any, missing: float = math.nan) -> float:
    return missing if value is None else float(value)


def largest_share(data: Microdata, name: str, drops: bool) -> float:
    """Return the share of the most frequent value of a sensitive column; drops: of the rows without NULL in any."""
    known = data.sensitive if drops else ()
    values = {"column": name, "known_columns": known}
    (row,) = data.workspace.engine.rows(
        data.workspace.render("comparison/workload/largest_share", {"microdata": data.relation}, **values)
    )
    return float(row["largest"])
