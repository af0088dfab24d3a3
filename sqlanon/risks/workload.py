"""The queries of a comparison with their true answers, drawn as analysts ask or as the papers draw, or a user's own.

Analysts ask for ranges, single values, groups and averages, of all sizes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.bounded_files import read_text
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SourceError, SqlanonError
from sqlanon.estimation.plain_counts import CodedRows, Condition
from sqlanon.estimation.release_tables import Workspace, inline
from sqlanon.plain_values import is_ordered
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.sql.exact_query import SourceQuery, write_over_source
from sqlanon.sql.user_sql import split_queries

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SMALL = 10  # rows: what the papers call small counts
BANDS = ((0.005, "up to 0.5 %"), (0.01, "0.5 to 1 %"), (0.05, "1 to 5 %"), (math.inf, "above 5 %"))
SETS, CONJUNCTIONS = "sets", "conjunctions"
WORKLOADS = ("analysts", "paper")
SELECTIVITIES = (0.05, 0.01)  # expected shares of the rows, as Anatomy's paper varies them
MOST_QUASI = 3  # quasi columns in one query, as both papers have it
MOST_VALUES = 1000  # a column with more is in no set predicate
MOST_DRAWS = 20  # sets of columns that conjunctions are drawn from
_BARE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXT = ("VARCHAR", "ENUM", "UUID")

Conditions = tuple[Condition, ...]  # joined by AND
RANGES, GROUPS, AVERAGES = "ranges", "groups", "averages"
WIDTHS = (0.1, 0.25, 0.5)  # of a range: shares of an ordered column's values
FEW_VALUES = 12  # an ordered column with no more is asked by single values
MOST_GROUPS = 24  # rows of one answer: one question must not outweigh all others
SHARE = 0.1  # of the queries are groups, as many averages; half of the rest are ranges
DRAWN_FOR_ONE = 4  # queries that are drawn for one that is asked, so that there are some of all sizes
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "UTINYINT", "USMALLINT")
OWN = "own"
LONGEST = 2**22  # bytes of a file of queries


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
    """Count the rows that meet all conditions of each query."""
    counts = _count_together(data, data.relation, queries)
    assert -1 not in counts, "conditions of our own can be evaluated"
    return counts


def _count_together(data: Microdata, relation: Sql, queries: Sequence[Conditions]) -> list[int]:
    """Count rows by queries, those that read the same columns in one pass; -1 where a condition cannot be evaluated."""
    columns = dict.fromkeys(column for query in queries for column, _ in query)
    rows = CodedRows(data.workspace, "coded_microdata", relation, list(columns))
    counts = [-1] * len(queries)
    try:
        rows.load()
        for places, many in rows.count_each(queries):
            for place, count in zip(places, many, strict=True):
                counts[place] = int(count)
    finally:
        rows.close()
    return counts


def name_count(workload: str, conditions: Conditions, truth: int) -> AskedQuery:
    """Return the query that counts the rows which meet all conditions."""
    import pandas as pd

    text = f"select count(*) as n from release where {' and '.join(condition for _, condition in conditions)}"
    shape = SourceQuery(text, ("n",), (), ("n",), frozenset("n"))
    return AskedQuery(text, workload, 0, shape, pd.DataFrame({"n": [truth]}))


@dataclass(frozen=True)
class Drawing:
    """What queries are drawn from: the rows, the values of columns with few enough, and which columns these are."""

    data: Microdata
    domains: Mapping[str, "pd.DataFrame"]
    quasi: Sequence[str]
    sensitive: Sequence[str]
    random: "np.random.Generator"

    def draw_value(self, name: str) -> Sql:
        """Return the condition that a column has a value, drawn as a row has it."""
        frame: Any = self.domains[name]
        shares = frame["row_count"] / frame["row_count"].sum()
        text = str(self.random.choice(frame["value_text"].tolist(), p=shares))
        return Sql(f"{ident(name)} = {write_constant(self.data, name, text)}")

    def draw_sensitive(self) -> Sql:
        """Return the condition that a sensitive column has a value."""
        return self.draw_value(str(self.random.choice(self.sensitive)))


def draw_analysts(data: Microdata, wanted: int, seed: int) -> list[AskedQuery]:
    """Return a seeded workload: ranges, conjunctions of single values, GROUP BY one column or two, averages."""
    import numpy as np

    domains, random, part = read_domains(data), np.random.default_rng(seed), int(wanted * SHARE)
    quasi, sensitive = ([name for name in names if name in domains] for names in (data.quasi, data.sensitive))
    drawing = Drawing(data, domains, quasi, sensitive, random)
    texts = list(dict.fromkeys([*_draw_groups(drawing, part), *_draw_averages(drawing, part)] if sensitive else []))
    left = wanted - len(texts)
    (row,) = data.workspace.engine.rows(f"select count(*) as row_count from {data.relation}")
    rows = row["row_count"]
    drawn = _draw_ranges(drawing, DRAWN_FOR_ONE * (left // 2)) if quasi and sensitive else []
    ranges = _choose(data, rows, RANGES, drawn, left // 2)
    left -= len(ranges)
    pool = draw_conjunctions(data, DRAWN_FOR_ONE * left, seed, random)
    texts_of_ranges = {query.text for query in ranges}  # some are single values in all columns
    pool = [conditions for conditions in pool if name_count("", conditions, 0).text not in texts_of_ranges]
    counts = [*ranges, *_choose(data, rows, CONJUNCTIONS, pool, left)]
    if not counts and not texts:
        raise DataError("no row has values in a quasi column and in the sensitive one; there is nothing to ask")
    return [*counts, *(ask(data, text, kind) for kind, text in texts)]


def _choose(data: Microdata, rows: int, kind: str, drawn: Sequence[Conditions], wanted: int) -> list[AskedQuery]:
    """Return so many of the queries, as evenly as there are of all sizes; what no row meets comes last."""
    drawn = list(dict.fromkeys(drawn))
    if not drawn:
        return []
    limits = [0.0, float(SMALL), *(rows * most for most, _ in BANDS)]
    by_size: list[list[AskedQuery]] = [[] for _ in limits]
    for conditions, truth in zip(drawn, count_truths(data, drawn), strict=True):
        size = next(place for place, most in enumerate(limits) if truth <= most)
        by_size[size].append(name_count(kind, conditions, truth))
    chosen: list[AskedQuery] = []
    for turn in range(len(drawn)):
        chosen += [queries[turn] for queries in by_size[1:] if turn < len(queries)]
    return [*chosen, *by_size[0]][:wanted]


def _draw_ranges(drawing: Drawing, count: int) -> list[Conditions]:
    """Draw one quasi column or two and a sensitive one, each in a range or equal to a value.

    A range of an ordered column holds a tenth, a quarter or a half of its values; a value is drawn as a row has it.
    """
    data, random, ranges = drawing.data, drawing.random, []
    for number in range(count):
        columns = random.choice(drawing.quasi, 1 + number % min(2, len(drawing.quasi)), replace=False)
        width = WIDTHS[number // 2 % len(WIDTHS)]
        terms = []
        for name in map(str, [*columns, random.choice(drawing.sensitive)]):
            texts = drawing.domains[name]["value_text"].tolist()
            if is_ordered(data.types[name]) and len(texts) > FEW_VALUES:
                texts = _in_order(texts, data.types[name])
                size = math.ceil(len(texts) * width)
                first = int(random.integers(len(texts) - size + 1))
                low, high = (write_constant(data, name, texts[place]) for place in (first, first + size - 1))
                terms.append((name, Sql(f"{ident(name)} between {low} and {high}")))
            else:
                terms.append((name, drawing.draw_value(name)))
        ranges.append(tuple(terms))
    return ranges


def _draw_groups(drawing: Drawing, count: int) -> Iterator[tuple[str, str]]:
    """Draw counts by one quasi column, or by two, of the rows with a sensitive value."""
    sizes = {name: size for name in drawing.quasi if (size := len(drawing.domains[name])) <= MOST_GROUPS}
    pairs = [
        (first, second) for first in sizes for second in sizes
        if first < second and sizes[first] * sizes[second] <= MOST_GROUPS
    ]  # fmt: skip
    for number in range(count if sizes else 0):
        keys: tuple[str, ...] = (str(drawing.random.choice(list(sizes))),)
        if number % 2 and pairs:
            keys = pairs[int(drawing.random.integers(len(pairs)))]
        listed = ", ".join(ident(name) for name in keys)
        condition = drawing.draw_sensitive()
        yield GROUPS, f"select {listed}, count(*) as n from release where {condition} group by {listed}"


def _draw_averages(drawing: Drawing, count: int) -> Iterator[tuple[str, str]]:
    """Draw the average of a quasi column of numbers among the rows with a sensitive value."""
    numbers = [name for name in drawing.quasi if drawing.data.types[name].upper().startswith(_NUMBERS)]
    for _ in range(count if numbers else 0):
        name = str(drawing.random.choice(numbers))
        yield AVERAGES, f"select avg({ident(name)}) as mean from release where {drawing.draw_sensitive()}"


def _in_order(texts: list[str], sql_type: str) -> list[str]:
    """Return the texts of values in the order of the values; those of dates and times are in it as texts."""
    return sorted(texts) if sql_type.upper().startswith(("DATE", "TIME")) else sorted(texts, key=float)


def read_queries(data: Microdata, path: Path) -> tuple[list[AskedQuery], list[str]]:
    """Return the queries of a file with their true answers, and what is said of those that cannot be compared.

    Raises SourceError for a file that cannot be read, QueryError where no query is left.
    """
    try:
        text = read_text(path, LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SourceError(f"cannot read the queries in {str(path)!r}: {reason}") from None
    queries, refused = [], list[tuple[int, SqlanonError]]()
    read: list[tuple[int, str, SourceQuery]] = []
    for line, query in split_queries(text):
        try:
            read.append((line, query, write_over_source(query, data.name, data.quasi, data.sensitive)))
        except QueryError as error:
            refused.append((line, error))
    selected = [(Sql(ident(name)), f"column_{place}") for place, name in enumerate(data.types, start=1)]
    renamed = inline(render_query("source", {"relation": data.relation, "selected": selected}, {}))
    counted = [place for place, (*_, shape) in enumerate(read) if shape.conditions is not None]
    counts = _count_together(data, renamed, [read[place][2].conditions or () for place in counted])
    count_of = {place: count for place, count in zip(counted, counts, strict=True) if count >= 0}
    for place, (line, query, shape) in enumerate(read):
        try:
            queries.append(AskedQuery(query, OWN, line, shape, _find_truth(data, shape, count_of.get(place))))
        except (QueryError, DataError) as error:
            refused.append((line, error))
    notes = [f"line {line}: {error}" for line, error in sorted(refused, key=lambda each: each[0])]
    if not queries:
        raise QueryError(f"no query of {str(path)!r} can be compared: {notes[0] if notes else 'it holds none'}")
    return queries, notes


def ask(data: Microdata, query: str, workload: str) -> AskedQuery:
    """Return a query FROM release with its true answer; raise QueryError where it is outside the grammar."""
    shape = write_over_source(query, data.name, data.quasi, data.sensitive)
    return AskedQuery(query, workload, 0, shape, _find_truth(data, shape))


def _find_truth(data: Microdata, shape: SourceQuery, count: int | None = None) -> "pd.DataFrame":
    """Return the true answer of a query; count: what it is where that was counted together with others."""
    if count is not None:
        import pandas as pd

        return pd.DataFrame([[count] * len(shape.names)], columns=list(shape.names))
    return data.workspace.engine.frame(shape.sql).set_axis(list(shape.names), axis="columns")


def true_answer(
    engine: Engine, source: object, quasi: Sequence[str], sensitive: Sequence[str], query: str
) -> tuple[SourceQuery, "pd.DataFrame"]:
    """Return a query FROM release as one over its source, and the true answer; nothing of it is kept.

    Raises QueryError where the query is outside the grammar, or which rows it has depends on the figures.
    """
    found_source, types = engine.find_source(source)
    workspace = Workspace(engine)
    try:
        data = Microdata.read(workspace, found_source, types, quasi, sensitive)
        asked = ask(data, query, OWN)
        return asked.shape, asked.truth
    finally:
        workspace.close()
