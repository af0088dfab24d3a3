"""Loops are declared: a body, what is left over, a limit; the driver runs them and a script unrolls them."""

import logging

import duckdb
import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.errors import DataError
from sqlanon.key import Key
from sqlanon.plans.plan import Loop, Plan, Publication, Report
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.publishing.publish import plan_text
from sqlanon.sql.shell_script import write_script
from tests.databases import connect

NUMBER, NEXT = '"t_number"', '"t_next"'
TOO_MANY = "numbers above 1 are left over"


def a_plan(limit: int) -> Plan:
    """Halve 1 … 40 until none is above 1: six turns."""
    start = Statement("number", "select i as number from range(1, 41) as numbers(i)", "table", NUMBER)
    left = Statement("halves", f"select count(*) as left_over from {NUMBER} where number > 1", "query", "")
    turn = Statement("next", f"select number // 2 as number from {NUMBER}", "table", NEXT, replaces=NUMBER)
    loop = Loop("halves", (turn,), left, limit)
    text = f"select case when count(*) > 0 then count(*) || ' {TOO_MANY}' end as refusal from {NUMBER} where number > 1"
    check = Report(Statement("small", text, "query"), check=True)
    output = Statement("data", f"select count(*) as rows, max(number) as most from {NUMBER}", "table", '"t_data"')
    return Plan("halving", (start, loop, check), Publication((output,)), key=Sql('"t_key"'))


def test_a_loop_ends_when_none_is_left(con, caplog):
    engine, plan = DuckDBEngine(con), a_plan(20)
    with caplog.at_level(logging.INFO, "sqlanon"), run_plan(plan, engine, Key.fresh()) as found:
        assert found["halves"] == {"left_over": 0, "turns": 5}
        assert engine.rows(plan.outputs[0].sql) == [{"rows": 40, "most": 1}]
        assert engine.rows("select table_name as name from duckdb_tables() order by all") == [
            {"name": "t_key"},
            {"name": "t_number"},
        ]
    assert "halves, turn 0: 39 left" in caplog.messages
    assert "halves, turn 5: 0 left" in caplog.messages
    assert engine.rows("select * from duckdb_tables()") == []


def test_a_loop_that_reaches_its_limit_refuses_and_leaves_nothing(con):
    engine = DuckDBEngine(con)
    with pytest.raises(DataError, match="9 numbers above 1"), run_plan(a_plan(4), engine, Key.fresh()):
        pass
    assert engine.rows("select * from duckdb_tables()") == []


def test_a_printed_loop_says_when_it_ends(con):
    text = plan_text(a_plan(20), DuckDBEngine(con))
    assert f"{NEXT} takes the place of {NUMBER}; again from left_over on, while it is above 0, at most 20 turns" in text


@pytest.mark.parametrize(("limit", "refused"), [(5, False), (4, True)])
def test_a_script_unrolls_a_loop(limit, refused):
    text = write_script(a_plan(limit), "duckdb")
    assert text.count("create temporary table") == 2 + 2 * limit
    run = connect()
    run.execute(f"set variable sqlanon_key = '{'ab' * 32}'").fetchall()
    if refused:
        with pytest.raises(duckdb.Error, match=TOO_MANY):
            run.execute(text).fetchall()
        return
    run.execute(text).fetchall()
    assert run.execute("from t_data").fetchall() == [(40, 1)]
