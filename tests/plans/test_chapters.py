"""Chapters: what they render to, and what is refused when they are read."""

import shutil
import sys

import duckdb
import jinja2
import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.errors import DataError, TemplateError, UsageError
from sqlanon.key import Key
from sqlanon.plans import chapters, templates
from sqlanon.plans.build import build, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Loop, Plan, Publication, Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_script

COUNTING = """
-- table number: where counting begins
select {{ first | literal }} as n, 0 as turn

-- repeat doubling until 100 <= (select max(n) from {{ number }}), at most {{ turns | literal }} turns

-- view doubled: twice as much
select 2 * n as n from {{ number }}

-- table number: the larger number
select n, {{ turn }} as turn from {{ doubled }}

-- end

-- table number: one more
select n + 1 as n, turn from {{ number }}

-- report size: how large it is
select n, 3 as dropped_rows, 'counted' as note from {{ number }}

-- check small: it is small enough
select 'first' as about, 7 as possible, case when n > {{ most | literal }} then
    {{ "{n:,} is more than {most:,}" | message(n="n" | sql, most=most) }} end as refusal
from {{ number }}
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a chapter of the test's own, called `own`."""
    monkeypatch.setattr(templates, "FOLDERS", [tmp_path])

    def forget():
        templates.environment.cache_clear()
        chapters._names_of.cache_clear()

    def write(text):
        forget()
        (tmp_path / "own.sql.j2").write_text(text)
        return lambda **values: build([Chapter("own", values)], "t_", {"given": Sql('"given"')})

    yield write
    forget()


def run(con, steps):
    plan = Plan("counting", steps, Publication(()), key=Sql('"t_key"'))
    with run_plan(plan, DuckDBEngine(con), Key.fresh()) as reports:
        return plan, dict(reports), con.execute(f"from {steps[-3].relation}").fetchall()


def test_sections_run_in_order_and_a_loop_ends_by_its_condition(con, written):
    steps = written(COUNTING)(first=3, turns=10, most=1000)
    plan, reports, rows = run(con, steps)
    assert rows == [(3 * 2**6 + 1, 5)] and reports["doubling"]["turns"] == 6
    assert plan.dropped_rows(reports) == 3 and plan.notes(reports) == ["counted"]
    assert [step.sentence for step in steps if hasattr(step, "sentence")] == ["where counting begins", "one more"]
    assert not con.execute("select count(*) from duckdb_tables() where temporary").fetchone()[0]


def test_a_loop_ends_at_its_last_turn_and_a_check_says_why_it_refuses(con, written):
    steps = written(COUNTING)(first=3, turns=2, most=1000)
    assert run(con, steps)[2] == [(13, 1)]
    assert isinstance(steps[1], Loop) and steps[1].limit == 2
    with pytest.raises(DataError, match="1,537 is more than 1,000") as refusal:
        run(con, written(COUNTING.replace("100 <=", "1500 <="))(first=3, turns=20, most=1000))
    assert (refusal.value.about, refusal.value.possible) == (("first",), 7)


@pytest.mark.parametrize("turns", [4, 6, 9])
def test_a_script_takes_every_turn_that_there_may_be(con, written, turns):
    steps = written(COUNTING)(first=3, turns=turns, most=1000)
    output = Statement("data", f"select max(n) as most from {steps[-3].relation}", "table", '"t_data"')
    script = write_script(Plan("counting", steps, Publication((output,)), key=Sql('"t_key"')), "duckdb")
    con.execute(f"set variable sqlanon_key = '{'ab' * 32}'").fetchall()
    if turns == 9:
        with pytest.raises(duckdb.Error, match="1,537 is more than 1,000"):
            con.execute(script)
    else:
        con.execute(script)
        assert con.execute("from t_data").fetchall() == [(3 * 2**turns + 1,)]


def test_a_refusal_of_what_is_right_on_no_data_is_one_of_usage(con, written):
    with pytest.raises(UsageError, match="no"):
        chapter = written("-- table one: one\nselect 1 as n\n\n-- view two: two\nselect 2 as n\n\n"
                          "-- check never: never\nselect true as is_usage, 'no' as refusal\n\n"
                          "-- report last: last\nselect 1 as n\n")  # fmt: skip
        run(con, chapter())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-- table one: one\nselect * from {{ unknown }}", "'unknown' is undefined"),
        ("-- table one: one\nselect * from {{ two }}\n\n-- table two: two\nselect 1 as n", "is read before it is made"),
        ("-- table one: one\nselect {{ value }} as n", "without a quoting filter"),
        ("-- table one: one\nselect {{ value | literal }} as n; drop table patients", "a section is one SELECT"),
        ("-- table one: one\n", "a section is one SELECT"),
        ("select {{ value | literal }} as n\n\n-- table one: one\nselect 1 as n", "stands in no section"),
        ("-- table one: one\nselect 1 as n", "does not read"),
        ("-- table one\nselect {{ value | literal }} as n", "begins no section"),
        ("-- end\n\n-- table one: one\nselect {{ value | literal }} as n", "begins no section"),
    ],
)  # fmt: skip
def test_what_is_no_chapter_is_refused_when_it_is_read(written, text, said):
    values = {"value": "x"} if "value" in text or said == "does not read" else {}
    with pytest.raises(TemplateError, match=said):
        written(text)(**values)


HOSTILE = """
-- table one: one
select {{ value | literal }} as n, {{ value | ident }} from (select 1 as {{ value | ident }})

-- view two: two
select 2 as n

-- report last: last
select 1 as n
"""


@pytest.mark.parametrize("value", ["\n-- table evil: by a value\nselect 1 as n", "'; drop table patients; --", "\\"])
def test_no_value_begins_a_section_or_ends_a_statement(con, written, value):
    steps = written(HOSTILE)(value=value)
    assert len(steps) == 3 and run(con, steps)[2] == [(value, 1)]


def test_a_section_is_asked_for_by_its_name_with_what_its_chapter_imports(written):
    written("{% from \"_macros/several.sql.j2\" import size_band %}\n\n-- view one: the number one\nselect 1 as n\n\n"
            "-- view band: the band of a number\nselect {{ size_band(number | literal) }} as band\n")  # fmt: skip
    assert render_query("own/one", {}, {}) == "select 1 as n"
    assert render_query("own/band", {"number": 3}, {}).endswith("else 17 end as band")
    with pytest.raises(TemplateError, match=r"does not read \['number'\]"):
        render_query("own/one", {"number": 3}, {})
    for unknown in ("own/two", "own/one/band", "elsewhere/one"):
        with pytest.raises(jinja2.TemplateNotFound):
            render_query(unknown, {}, {})


@pytest.mark.parametrize("writable", [True, False])
def test_code_that_is_kept_is_that_of_the_template_as_it_is(written, tmp_path, monkeypatch, writable):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    root, kept = tmp_path / "templates", tmp_path / "templates" / "__pycache__"
    shutil.copytree(templates.template_root(), root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(templates, "template_root", lambda: root)
    if not writable:  # whoever runs the tests may write anywhere

        def refuse(**_options):
            raise PermissionError

        monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    for name, values in (("first", {"first": 1}), ("second", {"second": 2})) * 2:
        written(f"-- view one: {name}\nselect {{{{ {name} | literal }}}} as n")
        assert render_query("own/one", values, {}) == f"select {values[name]} as n"
        with pytest.raises(TemplateError, match="does not read"):
            render_query("own/one", {**values, "other": 3}, {})
    assert bool(list(kept.iterdir())) == writable
    for file in kept.iterdir():
        file.write_bytes(b"no code")
    written("-- view one: again\nselect 3 as n")
    assert render_query("own/one", {}, {}) == "select 3 as n"
