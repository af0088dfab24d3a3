"""The order of tables that lie in several files: what a sort of the whole would put elsewhere, counted."""

import math
import random

import duckdb
import pytest

from sqlanon.engines.duckdb import engine as duckdb_engine
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PLACE_COLUMNS, PublishedTables, check_order
from tests.databases import insert
from tests.facts import each

COLUMNS = {"a": "integer", "b": "double"}
VALUES = ([None, 1, 2, 3], [None, 1.0, 2.0, math.nan])
TURNS = 60


def standing(line):
    """Return what lines are ordered by: NULL last, NaN before it."""
    return [(value is None, value != value, 0 if value is None or value != value else value) for value in line]


def test_lines_out_of_place_are_counted_in_files_and_between_them():
    con, drawn, faulty = duckdb.connect(), random.Random(3), 0
    file, place = PLACE_COLUMNS.values()
    types = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    for turn in range(TURNS):
        lines = [tuple(map(drawn.choice, VALUES)) for _ in range(drawn.randint(1, 10))]
        if turn % 2:
            lines.sort(key=standing)
        cut = drawn.randint(0, len(lines))
        parts = [(f"part {0 if row < cut else 1}", row if row < cut else row - cut) for row in range(len(lines))]
        con.execute(f"create or replace table stored ({file} varchar, {place} bigint, {types})")
        insert(con, "stored", [(*part, *line) for part, line in zip(parts, lines, strict=True)])
        for strict in (False, True):
            values = {"line_columns": tuple(COLUMNS), "all_differ": strict, **PLACE_COLUMNS}
            sql = render_query("verify/row_order", values | {"stretches": ()}, {"published": Sql("stored")})
            pairs = list(zip(map(standing, lines), map(standing, lines[1:]), strict=False))
            wanted = sum(after < before or (strict and after == before) for before, after in pairs)
            found, rows = con.execute(sql).fetchone()
            # where files meet, the least and the largest line of them are held beside each other
            assert (found > 0, rows) == (wanted > 0, len(lines))
            assert found == wanted or 0 < cut < len(lines)
            faulty += wanted > 0
    assert TURNS // 2 < faulty < 2 * TURNS


@each([([0, 1, 2, 3], 0), ([0, 1, 3, 4], 1), ([1, 2, 3, 4], 1), ([0, 2, 1, 3], 3)])
def test_a_line_whose_place_does_not_follow_is_out_of_place(given):
    places, wanted = given
    con, (file, place) = duckdb.connect(), PLACE_COLUMNS.values()
    con.execute(f"create table stored ({file} varchar, {place} bigint, a integer)")
    con.executemany("insert into stored values ('part', ?, 0)", [[number] for number in places])
    values = {"line_columns": ("a",), "all_differ": False, **PLACE_COLUMNS}
    sql = render_query("verify/row_order", values | {"stretches": ()}, {"published": Sql("stored")})
    # as an engine reads it that takes rows as they come, for it has been told that they lie by place
    told = sql.replace(f"order by {place}", "order by rowid").replace(f'order by "{place}"', "order by rowid")
    assert told != sql
    assert con.execute(told).fetchone()[0] == wanted


@pytest.mark.parametrize("given", ["b", "File_Row_Number"])
def test_a_long_file_is_read_in_stretches_that_meet(given, tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_engine, "STRETCH", 2)
    con, drawn, read = duckdb.connect(config={"threads": 3}), random.Random(4), set()
    engine = DuckDBEngine(con)
    for turn in range(TURNS):
        lines = [tuple(map(drawn.choice, VALUES)) for _ in range(drawn.randint(0, 12))]
        if turn % 2:
            lines.sort(key=standing)
        con.execute(f'create or replace table stored (a integer, "{given}" double)')
        insert(con, "stored", lines)
        path = tmp_path / f"{turn}.parquet"
        con.execute(f"copy stored to '{path}'").fetchall()
        published = PublishedTables(engine, {"qit": engine.read_parquet([path])}, {})
        read.add(len(engine.in_stretches(published.tables["qit"])))
        for strict in (False, True):
            check, told = check_order(published, {"qit": ["a", given]}, "sorted", ["qit"] if strict else ())
            pairs = list(zip(map(standing, lines), map(standing, lines[1:]), strict=False))
            wanted = sum(after < before or (strict and after == before) for before, after in pairs)
            assert check.found == ({"misplaced rows of qit": wanted} if wanted else "sorted")
            assert told == {"qit_rows": len(lines)}
    # where a column hides the numbers of rows the file is read at once
    assert read == ({1, 2, 3} if given == "b" else {1})
