"""Settings that hold while one statement of ours runs, and are set back after it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import tuple_row

# no function and no operator of the database's owner stands in for one of the server's
_PATH = {"search_path": "pg_catalog, pg_temp"}
# each worker groups rows by itself, and where groups are nearly as many as rows it hands on nearly all of them, which
# costs more than it saves; the server, which has no figures of rows that a statement makes, takes groups to be few
# and the start of a worker takes as much of a processor as some 100,000 rows do, which below millions saves nothing
_FEW_HANDED_ON = {"parallel_tuple_cost": "0.5", "parallel_setup_cost": "50000"}
# of tables that are read once or twice a tenth of the server's own sample tells enough
FEW_ROWS = {"default_statistics_target": "10"}
# `lag(…) over ()` sees the rows as they lie: one process reads the table, from its first page on, and no index
_STORED_ORDER = {
    "max_parallel_workers_per_gather": "0",
    "synchronize_seqscans": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
}
# of rows that a statement makes itself little is known, and where it is guessed that they are few, a nested loop over
# them takes the square of their number; our tables have no index, so that in no case it is much better than a hash
_NO_LOOPS = {"enable_nestloop": "off"}
_JOINS = re.compile(r"\bjoin\b", re.IGNORECASE)
# what only loops can join: forbidden, they would outweigh every other cost
_LOOPS = re.compile(r"\b(cross join|lateral|on\s+true|unnest)\b", re.IGNORECASE)
# what many rows are sorted or hashed for
_SORTS = re.compile(r"\b(?:group by|order by|partition by|distinct|(?<!cross )join)\b", re.IGNORECASE)
_LAG = re.compile(r"\blag\(", re.IGNORECASE)
_ENOUGH = 64 * 1024  # kilobytes: beyond it, sorts and hashes of millions of rows hardly get faster
_KILOBYTES = {"B": 1 / 1024, "kB": 1, "MB": 1024, "GB": 1024**2, "TB": 1024**3}


def settings_for(sql: str) -> Mapping[str, str]:
    """Return what a statement has to run under."""
    loops = _NO_LOOPS if _JOINS.search(sql) and not _LOOPS.search(sql) else {}
    return {**_PATH, **_FEW_HANDED_ON, **loops, **(_STORED_ORDER if _LAG.search(sql) else {})}


def quarters_for(sql: str) -> int:
    """Return how many quarters of a task's memory one sort or hash of a statement has: two where there is one alone."""
    return 2 if len(_SORTS.findall(sql)) == 1 else 1


@contextmanager
def pinned(connection: psycopg.Connection[Any], settings: Mapping[str, str], quarters: int = 1) -> Iterator[None]:
    """Hold settings to these values, inside; and sorts and hashes to the memory of `least_memory`, at least."""
    cursor, names = connection.cursor(row_factory=tuple_row), [*settings, "work_mem", "maintenance_work_mem"]
    calls = ", ".join(["pg_catalog.current_setting(%s)"] * len(names))
    ((*before, maintenance),) = cursor.execute(f"select {calls}", names).fetchall()
    values = {**settings, "work_mem": least_memory(before[-1], maintenance, quarters)}
    cursor.execute(_set(values), [text for pair in values.items() for text in pair])
    yield  # an error undoes this with all else
    cursor.execute(_set(values), [text for pair in zip(values, before, strict=True) for text in pair])


def least_memory(work: str, maintenance: str, quarters: int = 1) -> str:
    """Return the memory of one sort or hash: the session's own, or so many quarters of what a task may have.

    work, maintenance: `work_mem` and `maintenance_work_mem` as the server writes them. A statement of ours
    has four sorts and hashes of many rows at most: together they stay within the second. One alone has two quarters,
    for a hash takes twice what it is given.
    """
    return f"{max(_kilobytes(work), min(_kilobytes(maintenance) * quarters // 4, _ENOUGH))}kB"


def _kilobytes(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\D*)", text).groups()  # type: ignore[union-attr]
    return int(int(number) * _KILOBYTES[unit or "kB"])


def _set(names: Sequence[str] | Mapping[str, str]) -> str:
    return f"select {', '.join(['pg_catalog.set_config(%s, %s, true)'] * len(names))}"
