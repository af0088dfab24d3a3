"""Answer many plain counts together: COUNT(*) with conditions joined by AND, each over one column."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sqlanon.errors import QueryError
from sqlanon.estimation.answered import Answered
from sqlanon.estimation.coded_rows import Condition, tell_holding
from sqlanon.estimation.failures import overlooked
from sqlanon.estimation.temporary_tables import Workspace, cut
from sqlanon.estimators.aggregates import COUNT
from sqlanon.estimators.evidence import BoolArray
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate, Query

T = TypeVar("T")
FEW = 8  # queries that are answered sooner alone
_COLUMN = re.compile(r"quasi_\d+")


@dataclass(frozen=True)
class PlainCount:
    """One such query, what it asks of quasi columns, and of the sensitive one."""

    query: Query
    quasi: tuple[Condition, ...]
    sensitive: tuple[Sql, ...]


def read_plain_counts(queries: Sequence[str], parse: Callable[[str], Query]) -> Iterator[tuple[int, PlainCount]]:
    """Yield the place of each text that is such a query, with what it asks; what cannot be read is left to others."""
    for place, text in enumerate(queries):
        try:
            plain_count = read_plain_count(parse(text))
        except QueryError:
            continue
        if plain_count is not None:
            yield place, plain_count


def read_plain_count(query: Query) -> PlainCount | None:
    """Return a query as one of many that are answered together; None for any other."""
    whole = not (query.grouped or query.keys or query.parts or query.derived or query.having)
    if not whole or query.limit is not None or query.aggregates != (Aggregate(COUNT),):
        return None
    conditions: list[Condition] = []
    for piece in query.filters("constant", "quasi", "mixed"):
        columns = set(_COLUMN.findall(piece.sql))  # a text that names another column makes two: answered alone
        if piece.role != "quasi" or len(columns) != 1:
            return None
        conditions.append((columns.pop(), piece.sql))
    sensitive = tuple(piece.sql for piece in query.filters("sensitive"))
    return PlainCount(query, tuple(conditions), sensitive)


def choose_values(space: Workspace, value_count: int, queries: Sequence[PlainCount]) -> BoolArray:
    """Tell which sensitive values each query asks for, V x Q."""
    conditions = list(dict.fromkeys(condition for query in queries for condition in query.sensitive))
    number = {condition: place for place, condition in enumerate(conditions)}
    holds = tell_holding(space, space.relations["value"], value_count, conditions)
    chosen = [holds[:, [number[one] for one in query.sensitive]].all(axis=1) for query in queries]
    return np.stack(chosen, axis=1)


def answer_in_chunks(
    queries: Iterable[tuple[int, T]], answer: Callable[[Sequence[T]], list[Answered]], size: int
) -> dict[int, Answered]:
    """Return the answers by the queries' places, so many queries at once.

    Where something fails on this data, those queries' answers are missing.
    """
    answers_by_place = dict[int, Answered]()
    for chunk in cut(queries, size):
        with overlooked():  # each is asked alone, and says what is wrong with it
            answers = answer([query for _, query in chunk])
            answers_by_place |= zip([place for place, _ in chunk], answers, strict=True)
    return answers_by_place
