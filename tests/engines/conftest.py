"""Engines as their callers have them, and what DuckDB publishes of the same tables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.plans.templates import ident
from tests.databases import insert
from tests.engines.hostile import CASES, KNOWN, LISTED_TABLES, SELECTED_TABLES, a_background
from tests.engines.nights import ASKED_NIGHTS, NIGHTS, people_of, publish_nights, tables_of, told_of


@pytest.fixture(scope="session")
def duck():
    """Return a connection to DuckDB with the tables that engines publish alike."""
    con = duckdb.connect()
    for name, (columns, rows) in LISTED_TABLES.items():
        con.execute(f"create table {name} ({', '.join(f'{ident(column)} {kind}' for column, kind in columns.items())})")
        insert(con, name, rows)
    for name, select in SELECTED_TABLES.items():
        con.execute(f"create table {name} as {select}").fetchall()
    for night, name in enumerate(NIGHTS):
        con.execute(f"create table {ident(name)} as from hostile limit 0")
        insert(con, ident(name), people_of(night))
    for number, column in enumerate(KNOWN):
        con.execute(f"create table known_{number} as {a_background(column)}").fetchall()
    yield con
    con.close()


@pytest.fixture(scope="session")
def expected(duck):
    """Return what publishes a case of `CASES` with DuckDB, once."""
    made: dict[str, sqlanon.Release] = {}

    def publish(name: str) -> sqlanon.Release:
        if name not in made:
            case = CASES[name]
            made[name] = getattr(sqlanon, case.method)(duck, case.source, **case.asked)
            assert case.shows(made[name]), "the tables would show less than they are for"
        return made[name]

    return publish


@pytest.fixture(scope="session")
def nights(duck, tmp_path_factory):
    """Return what publishes three nights with DuckDB under a ledger: the releases' tables, what the ledger tells."""

    @cache
    def publish(number: int) -> tuple[list[Any], Any]:
        folder = tmp_path_factory.mktemp("nights")
        releases = publish_nights(
            duck, folder / "ledger", lambda night: {"out": folder / f"{night}"}, **ASKED_NIGHTS[number]
        )
        told, history = told_of(folder / "ledger")
        assert told["stale"] and told["departed"], "the nights would show less than they are for"
        assert all(history[2][name] for name in ("returned", "arrived", "changed", "waiting"))
        return tables_of(releases), (told, history)

    return publish


@dataclass
class Side:
    """An engine beside DuckDB: its connection; `take` gives it a table of DuckDB's, and returns what it is called.

    target: where a release goes. stored: opens what lies there, read by whatever reads it quickest, or by the engine.
    """

    name: str
    con: Any
    take: Callable[[duckdb.DuckDBPyConnection, str], str]
    target: Callable[[], dict[str, Any]]
    stored: Callable[..., sqlanon.Release]

    def publish(self, method: str, source: str, **asked: Any) -> sqlanon.Release:
        """Publish what the engine calls so; return what lies there."""
        place = self.target()
        getattr(sqlanon, method)(self.con, source, **place, **asked)
        return self.stored(place)


@pytest.fixture
def side(engine, request, tmp_path):
    """Return PostgreSQL or Spark as a side: tables are temporary ones there, and files here."""
    return request.getfixturevalue(f"{engine}_side")


@pytest.fixture(scope="session")
def shop(server):
    """Make a database that sorts as English does, with the tables; return the server."""
    import psycopg

    database = server.new_database("shop", "template template0 locale_provider icu icu_locale 'en-US'")
    columns, rows = LISTED_TABLES["hostile"]
    with psycopg.connect(database, autocommit=True) as con:
        con.execute("create role guest login password 'open sesame'")
        con.execute(f"create table hostile ({', '.join(f'{ident(name)} {kind}' for name, kind in columns.items())})")
        with con.cursor().copy("copy hostile from stdin") as copy:
            for row in rows:
                copy.write_row(row)
        con.execute(
            "create table patients as select i as ssn, i % 40 as age, 'd' || i % 8 as disease"
            " from generate_series(1, 400) as t(i)"
        )
        con.execute("grant select on patients to guest")
    return server


@pytest.fixture
def postgres(shop):
    """Open a connection; what a test publishes is dropped after it."""
    import psycopg

    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        yield con
    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        con.execute("drop schema if exists release cascade")


@pytest.fixture
def postgres_side(postgres):
    def take(con: duckdb.DuckDBPyConnection, table: str) -> str:
        described = con.execute(f"describe {ident(table)}").fetchall()
        columns = ", ".join(
            f"{ident(name)} {kind.replace('DOUBLE', 'double precision')}" for name, kind, *_ in described
        )
        postgres.execute(f"create temporary table if not exists {ident(table)} ({columns})")
        postgres.execute(f"truncate pg_temp.{ident(table)}")
        with postgres.cursor().copy(f"copy pg_temp.{ident(table)} from stdin") as copy:
            for row in con.execute(f"from {ident(table)}").fetchall():
                copy.write_row(row)
        return table

    return Side(
        "postgres",
        postgres,
        take,
        lambda: {"into": "release", "overwrite": True},
        lambda place, here=True: sqlanon.open(place["into"], con=postgres),
    )


@pytest.fixture
def spark_side(spark, tmp_path):
    numbers = iter(range(100))

    def take(con: duckdb.DuckDBPyConnection, table: str) -> str:
        path: Path = tmp_path / f"{table} [1].parquet"
        con.execute(f"copy {ident(table)} to '{path}'").fetchall()
        return str(path)

    return Side(
        "spark",
        spark,
        take,
        lambda: {"out": tmp_path / f"rel {{{next(numbers)}}}"},
        lambda place, here=False: sqlanon.open(place["out"], con=spark) if here else sqlanon.open(place["out"]),
    )


def views(spark, prefix=""):
    """Return the names of a session's views."""
    # not by the catalog's own list, which Spark cannot make where it compiles nothing
    return {row.tableName for row in spark.sql("show tables").collect() if row.tableName.startswith(prefix)}
