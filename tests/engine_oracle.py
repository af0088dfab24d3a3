"""DuckDB beside itself: every statement that runs is run again with other settings, and has the same rows.

What a statement gives is compared as a multiset, floats to nine digits: threads add them up in any order.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sqlanon.engines.duckdb.engine import DuckDBEngine

# name: what is set before a statement, and what sets it back
WAYS = {
    "without optimizer": ("pragma disable_optimizer", "pragma enable_optimizer"),
    "one thread": ("set threads = 1", "set threads = 2"),
    "four threads": ("set threads = 4", "set threads = 2"),
    # hash joins in parts, as if there were too little memory
    "in parts": ("set debug_force_external = true", "set debug_force_external = false"),
}
# statements whose rows are allowed to differ, by a piece of their text, and why: the one list of these
FREE = {
    "random()": "draws of the engine's own, where there is no key",
    "row_number() over ()": "rows of a source without numbers are counted as they come",
    "current_setting(": "tells what is set",
    "duckdb_settings()": "tells what is set",
}


class Difference(AssertionError):
    """A statement has other rows with another setting."""


@contextmanager
def compared(ways: Sequence[str] = tuple(WAYS)) -> Iterator[Counter[str]]:
    """Run every statement of DuckDB's engine in each way; yield how many were compared, and how many were not."""
    counts = Counter[str]()
    usual = {name: getattr(DuckDBEngine, name) for name in ("create", "rows", "frame", "arrays")}

    def compare(engine: DuckDBEngine, sql: str) -> None:
        if any(piece in sql for piece in FREE):
            counts["free"] += 1
            return
        expected = _multiset(engine, sql)
        for way in ways:
            change, back = WAYS[way]
            engine.connection.execute(change).fetchall()
            try:
                rows = _multiset(engine, sql)
            finally:
                engine.connection.execute(back).fetchall()
            if rows != expected:
                raise Difference(f"{way}: {(rows - expected)} for {(expected - rows)} of\n{sql}")
        counts["statements"] += 1

    def create(engine: DuckDBEngine, statement: Any, lasting: bool = False) -> None:
        compare(engine, statement.sql)
        usual["create"](engine, statement, lasting)

    def reading(name: str) -> Any:
        def read(engine: DuckDBEngine, sql: str) -> Any:
            if not sql.lstrip().lower().startswith("describe"):
                compare(engine, sql)
            return usual[name](engine, sql)

        return read

    changed = {"create": create, **{name: reading(name) for name in ("rows", "frame", "arrays")}}
    try:
        for name, method in changed.items():
            setattr(DuckDBEngine, name, method)
        yield counts
    finally:
        for name, method in usual.items():
            setattr(DuckDBEngine, name, method)


def _multiset(engine: DuckDBEngine, sql: str) -> Counter[str]:
    return Counter(repr([_rounded(value) for value in row]) for row in engine.connection.execute(sql).fetchall())


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return 0.0 if abs(value) < 1e-12 or math.isnan(value) else float(np.format_float_scientific(value, 8))
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return {name: _rounded(item) for name, item in value.items()} if isinstance(value, dict) else value
