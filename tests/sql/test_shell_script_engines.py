"""The same key gives the same release on every engine: scripts run for real and compared as multisets.

What an engine needs may be missing, and its tests are skipped; `SQLANON_TEST_ENGINES=spark` asks for it.
"""

import re
from functools import partial
from pathlib import Path

import duckdb
import pytest

from sqlanon.methods import METHODS
from sqlanon.plans.plan import Plan, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.shell_script import write_script
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import insert

KEY = "ab" * 32
VALUES = [*NASTY_VALUES, None, "é", "e\u0301", "a\\b", "AB", "ab"]
QUASI = tuple(NASTY_NAMES)
SENSITIVE, IDENTIFIER = "sens'it\"ive", 'my "" `id` \\'


def a_request(dialect, nulls="value") -> Request:
    roles = Roles(QUASI, (SENSITIVE,), (IDENTIFIER, "born"))
    return Request(Source(Sql('"hostile"')), roles, nulls=nulls, identity="identifier", engine=dialect)


def a_plan(dialect, size=4, nulls="value") -> Plan:
    return METHODS["anatomy"].plan(a_request(dialect, nulls), l=size)


# each by the dialect of the engine that runs it
GIVEN = {
    "identifier": a_plan,
    "randomized": lambda dialect: METHODS["splu"].plan(a_request(dialect), gamma=4),
}
OUTPUTS = sorted({output.relation for plan in GIVEN.values() for output in plan("duckdb").outputs})
REFUSED = {"NULL": partial(a_plan, nulls="refuse"), "value": partial(a_plan, size=13)}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Make the table in DuckDB and as a Parquet file that every user may read."""
    folder = tmp_path_factory.mktemp("source")
    con = duckdb.connect()
    names = [*QUASI, SENSITIVE, IDENTIFIER]
    columns = "".join(f"{ident(name)} varchar, " for name in names)
    con.execute(f"create table hostile ({columns}born date)")
    rows = [
        [VALUES[(i * (place + 3) + i // 7) % len(VALUES)] for place in range(len(QUASI))]
        + [
            VALUES[i % (len(VALUES) - i % 3)],
            f"{i % 150}é\\",
            f"19{i % 90 + 10}-0{1 + i // 150}-0{1 + i % 9}",
        ]
        for i in range(300)
    ]
    insert(con, "hostile", rows)
    con.execute(f"copy hostile to '{folder}/hostile.parquet'")
    return con, folder / "hostile.parquet"


def comparable(rows) -> list[str]:
    return sorted(repr(tuple(row)) for row in rows)


def expected(con, plan: Plan) -> list[list[str]]:
    con.execute(f"set variable sqlanon_key = '{KEY}'")
    con.execute(write_script(plan, "duckdb"))
    found = [comparable(con.execute(f"from {output.relation}").fetchall()) for output in plan.outputs]
    for output in plan.outputs:
        con.execute(f"drop table {output.relation}")
    return found


def pieces(text: str) -> list[str]:
    """Split a script where its statements end: no name or value of these tests ends a line with `;`."""
    return [piece for piece in re.split(r";\n", text) if re.sub(r"--.*", "", piece).strip()]


class Postgres:
    """Run scripts in a database of their own."""

    fixture = "server"

    def __init__(self, server, folder: Path) -> None:
        import psycopg

        self.con = psycopg.connect(server.new_database("scripts"), autocommit=True)
        self.error = psycopg.Error

    def load(self, con, parquet: Path) -> None:
        description = con.execute("describe hostile").fetchall()
        columns = ", ".join(f"{ident(name)} {kind}" for name, kind, *_ in description)
        self.con.execute(f"create table hostile ({columns})")
        with self.con.cursor().copy("copy hostile from stdin") as copy:
            for row in con.execute("from hostile").fetchall():
                copy.write_row(row)

    def run(self, text: str, key: str | None) -> None:
        self.con.execute(f"set sqlanon.key = '{key or ''}'")
        self.con.execute("set datestyle = 'German'")
        try:
            self.con.execute(text)
        except self.error:
            self.con.execute("rollback")
            raise

    def rows(self, relation: str) -> list:
        return self.con.execute(f"select * from {relation}").fetchall()

    def forget(self) -> None:
        for output in OUTPUTS:
            self.con.execute(f"drop table if exists {output}")

    def close(self) -> None:
        self.con.close()


SPARKS_OWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Etc/UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


class Spark:
    """Run scripts statement by statement, with the settings that Spark itself has."""

    fixture = "spark"

    def __init__(self, spark, folder: Path) -> None:
        self.session = spark.newSession()
        for setting, value in SPARKS_OWN.items():
            self.session.conf.set(setting, value)
        self.error = Exception

    def load(self, con, parquet: Path) -> None:
        self.session.read.parquet(str(parquet)).createOrReplaceTempView("hostile")

    def run(self, text: str, key: str | None) -> None:
        self.session.sql(f"set sqlanon.key={key}" if key else "reset sqlanon.key")
        for piece in pieces(text):
            self.session.sql(piece).collect()

    def rows(self, relation: str) -> list:
        return self.session.table(relation.replace('"', "")).collect()

    def forget(self) -> None:
        for row in self.session.sql("show tables").collect():
            if row.tableName.startswith("sqlanon_"):
                self.session.sql(f"drop {'view' if row.isTemporary else 'table'} `{row.tableName}`")

    def close(self) -> None:
        self.forget()


ENGINES = {"postgres": Postgres, "spark": Spark}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, source, tmp_path_factory):
    kind = ENGINES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    opened = kind(request.getfixturevalue(kind.fixture), folder)
    opened.load(*source)
    opened.dialect = request.param
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def clean(engine):
    yield
    engine.forget()


@pytest.mark.parametrize("plan", GIVEN.values(), ids=GIVEN)
def test_the_same_key_gives_the_same_release(engine, source, plan):
    own = plan(engine.dialect)
    engine.run(write_script(own, engine.dialect), KEY.upper())
    published = [comparable(engine.rows(output.relation)) for output in own.outputs]
    assert published == expected(source[0], plan("duckdb"))


@pytest.mark.parametrize("plan", REFUSED.values(), ids=REFUSED)
def test_what_the_data_does_not_allow_is_refused(engine, plan):
    with pytest.raises(engine.error, match=r"rows have no value|l = 13 is not possible"):
        engine.run(write_script(plan(engine.dialect), engine.dialect), KEY)


def test_without_a_key_nothing_runs(engine):
    with pytest.raises(engine.error, match="the key is missing: hand over 64 hex digits"):
        engine.run(write_script(GIVEN["identifier"](engine.dialect), engine.dialect), None)
