"""Scripts run in an engine's own shell, as they are printed, and give the release that DuckDB's script gives."""

import re

import pytest

from sqlanon.methods import METHODS
from sqlanon.plans.plan import Plan, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_script
from tests.engines.hostile import IDENTIFIERS, KEY, QUASI, SENSITIVE

pytestmark = pytest.mark.parametrize("engine", ["postgres", "spark"])
SPARKS_OWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Etc/UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


def a_plan(method: str, dialect: str, nulls: str = "value", **parameters: int) -> Plan:
    known, secret = (*QUASI[1:], SENSITIVE), QUASI[0]  # which some have no value of
    roles = Roles(tuple(name for name in known if name != "seen"), (secret,), tuple(IDENTIFIERS))
    request = Request(Source(Sql('"hostile"')), roles, nulls=nulls, identity="identifier", engine=dialect)
    return METHODS[method].plan(request, **parameters)


def comparable(rows) -> list[str]:
    return sorted(repr(tuple(row)) for row in rows)


@pytest.fixture
def shell(side, duck):
    """Return what runs a script beside the hostile table, and what reads a table that it made."""
    table = side.take(duck, "hostile")
    if side.name == "postgres":
        con = side.con

        def run(text: str, key: str) -> None:
            con.execute(f"set sqlanon.key = '{key}'; set datestyle = 'German'")
            con.execute(text)

        yield run, lambda relation: con.execute(f"select * from {relation}").fetchall()
        con.execute("rollback; reset datestyle; drop table if exists sqlanon_qit, sqlanon_st, sqlanon_data")
        return
    session = side.con.newSession()
    for setting, value in SPARKS_OWN.items():
        session.conf.set(setting, value)
    session.read.parquet(table.replace("[", "\\[").replace("]", "\\]")).createOrReplaceTempView("hostile")

    def run_pieces(text: str, key: str) -> None:
        session.sql(f"set sqlanon.key={key}" if key else "reset sqlanon.key")
        # no name or value of these tests ends a line with `;`
        for piece in re.split(r";\n", text):
            if re.sub(r"--.*", "", piece).strip():
                session.sql(piece).collect()

    yield run_pieces, lambda relation: session.table(relation.replace('"', "")).collect()
    for row in session.sql("show tables").collect():
        if row.tableName.startswith("sqlanon_"):
            session.sql(f"drop {'view' if row.isTemporary else 'table'} `{row.tableName}`")


@pytest.mark.parametrize(("method", "parameters"), [("anatomy", {"l": 3}), ("splu", {"gamma": 4})])
def test_the_same_key_gives_the_same_release(side, duck, shell, method, parameters):
    run, rows = shell
    plans = [a_plan(method, dialect, **parameters) for dialect in (side.name, "duckdb")]
    run(write_script(plans[0], side.name), KEY.upper())
    duck.execute(f"set variable sqlanon_key = '{KEY}'")
    duck.execute(write_script(plans[1], "duckdb"))
    wanted = [comparable(duck.execute(f"from {output.relation}").fetchall()) for output in plans[1].outputs]
    for output in plans[1].outputs:
        duck.execute(f"drop table {output.relation}")
    assert [comparable(rows(output.relation)) for output in plans[0].outputs] == wanted


@pytest.mark.parametrize(
    ("nulls", "l", "key", "words"),
    [
        ("refuse", 3, KEY, "rows have no value"),
        ("value", 40, KEY, "l = 40 is not possible"),
        ("value", 3, "", "the key is missing: hand over 64 hex digits"),
    ],
)
def test_a_script_refuses_in_words(side, shell, nulls, l, key, words):
    with pytest.raises(Exception, match=words):
        shell[0](write_script(a_plan("anatomy", side.name, nulls, l=l), side.name), key)
