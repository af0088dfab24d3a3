"""What analysts ask: ranges, single values, groups and averages, of all sizes; drawn with their true answers."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.comparison.comparison import BANDS, SMALL
from sqlanon.comparison.own_queries import ask
from sqlanon.comparison.workload import (
    CONJUNCTIONS,
    AskedQuery,
    Conditions,
    Microdata,
    count_truths,
    draw_conjunctions,
    name_count,
    read_domains,
    write_constant,
)
from sqlanon.errors import DataError
from sqlanon.plain_values import is_ordered
from sqlanon.plans.templates import Sql, ident

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

RANGES, GROUPS, AVERAGES = "ranges", "groups", "averages"
WIDTHS = (0.1, 0.25, 0.5)  # of a range: shares of an ordered column's values
FEW_VALUES = 12  # an ordered column with no more is asked by single values
MOST_GROUPS = 24  # rows of one answer: one question must not outweigh all others
SHARE = 0.1  # of the queries are groups, as many averages; half of the rest are ranges
DRAWN_FOR_ONE = 4  # queries that are drawn for one that is asked, so that there are some of all sizes
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "UTINYINT", "USMALLINT")

Domains = Mapping[str, "pd.DataFrame"]


def draw_analysts(data: Microdata, wanted: int, seed: int) -> list[AskedQuery]:
    """Return a seeded workload: ranges, conjunctions of single values, GROUP BY one column or two, averages."""
    import numpy as np

    random = np.random.default_rng(seed)
    domains = read_domains(data)
    part = int(wanted * SHARE)
    texts = list(dict.fromkeys(_draw_groups(data, domains, part, random) + _draw_averages(data, domains, part, random)))
    left = wanted - len(texts)
    (row,) = data.workspace.engine.rows(f"select count(*) as row_count from {data.relation}")
    rows, drawn = row["row_count"], _draw_ranges(data, domains, DRAWN_FOR_ONE * (left // 2), random)
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


def _draw_ranges(data: Microdata, domains: Domains, count: int, random: "np.random.Generator") -> list[Conditions]:
    """Draw one quasi column or two and a sensitive one, each in a range or equal to a value.

    A range of an ordered column holds a tenth, a quarter or a half of its values; a value is drawn as a row has it.
    """
    quasi, sensitive = ([name for name in names if name in domains] for names in (data.quasi, data.sensitive))
    if not quasi or not sensitive:
        return []
    ranges = []
    for number in range(count):
        columns = random.choice(quasi, 1 + number % min(2, len(quasi)), replace=False)
        width = WIDTHS[number // 2 % len(WIDTHS)]
        terms = []
        for name in map(str, [*columns, random.choice(sensitive)]):
            texts = domains[name]["value_text"].tolist()
            if is_ordered(data.types[name]) and len(texts) > FEW_VALUES:
                texts = _in_order(texts, data.types[name])
                size = math.ceil(len(texts) * width)
                first = int(random.integers(len(texts) - size + 1))
                low, high = (write_constant(data, name, texts[place]) for place in (first, first + size - 1))
                terms.append((name, Sql(f"{ident(name)} between {low} and {high}")))
            else:
                terms.append((name, _draw_value(data, domains, name, random)))
        ranges.append(tuple(terms))
    return ranges


def _draw_groups(data: Microdata, domains: Domains, count: int, random: "np.random.Generator") -> list[tuple[str, str]]:
    """Draw counts by one quasi column, or by two, of the rows with a sensitive value."""
    sizes = {name: len(domains[name]) for name in data.quasi if name in domains and len(domains[name]) <= MOST_GROUPS}
    pairs = [
        (first, second) for first in sizes for second in sizes
        if first < second and sizes[first] * sizes[second] <= MOST_GROUPS
    ]  # fmt: skip
    sensitive = [name for name in data.sensitive if name in domains]
    if not sizes or not sensitive:
        return []
    queries = []
    for number in range(count):
        keys: tuple[str, ...] = (str(random.choice(list(sizes))),)
        if number % 2 and pairs:
            keys = pairs[int(random.integers(len(pairs)))]
        listed = ", ".join(ident(name) for name in keys)
        condition = _draw_value(data, domains, str(random.choice(sensitive)), random)
        queries.append((GROUPS, f"select {listed}, count(*) as n from release where {condition} group by {listed}"))
    return queries


def _draw_averages(
    data: Microdata, domains: Domains, count: int, random: "np.random.Generator"
) -> list[tuple[str, str]]:
    """Draw the average of a quasi column of numbers among the rows with a sensitive value."""
    numbers = [name for name in data.quasi if name in domains and data.types[name].upper().startswith(_NUMBERS)]
    sensitive = [name for name in data.sensitive if name in domains]
    if not numbers or not sensitive:
        return []
    queries = []
    for _ in range(count):
        name = str(random.choice(numbers))
        condition = _draw_value(data, domains, str(random.choice(sensitive)), random)
        queries.append((AVERAGES, f"select avg({ident(name)}) as mean from release where {condition}"))
    return queries


def _draw_value(data: Microdata, domains: Domains, name: str, random: "np.random.Generator") -> Sql:
    """Return the condition that a column has a value, drawn as a row has it."""
    frame: Any = domains[name]
    shares = frame["row_count"] / frame["row_count"].sum()
    value = write_constant(data, name, str(random.choice(frame["value_text"].tolist(), p=shares)))
    return Sql(f"{ident(name)} = {value}")


def _in_order(texts: list[str], sql_type: str) -> list[str]:
    """Return the texts of values in the order of the values; those of dates and times are in it as texts."""
    return sorted(texts) if sql_type.upper().startswith(("DATE", "TIME")) else sorted(texts, key=float)
