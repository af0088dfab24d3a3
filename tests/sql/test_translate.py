"""What may travel between engines, and how each trap is spelled so that it means the same there."""

from dataclasses import replace

import duckdb
import pytest
import sqlglot

from sqlanon.errors import TemplateError
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Plan, Report, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql
from sqlanon.sql.portable import parse_portable
from sqlanon.sql.shell_script import write_script
from sqlanon.sql.translate import quote_relation, translate


def a_plan(identity="identifier", draws="keyed", nulls="value", engine="duckdb", **parameters) -> Plan:
    roles = Roles(("age", 'sex "at birth"'), ("disease",), ("ssn",) if identity != "number" else ())
    source = Source(Sql('"patients"'), numbering=Sql("row_number() over ()"))
    request = Request(source, roles, nulls=nulls, draws=draws, identity=identity, engine=engine)
    return METHODS["anatomy"].plan(request, **({"l": 3} | parameters))


def test_texts_are_joined_where_they_are_texts():
    said = "select concat_ws('/', substr(name, 1, 2), coalesce(cast(age as varchar), '')) as both from t"
    assert "concat_ws" in translate(said, "postgres")
    for part in ("age", "coalesce(age, 0)", "1.5", "cast(age as bigint)"):
        with pytest.raises(TemplateError, match="not portable: concat_ws of what is not cast to varchar"):
            translate(f"select concat_ws('/', {part}) as joined from t", "spark")


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("select age, count(*) as n from patients group by all", "group with all"),
        ("select * exclude (age) from patients", "star with except_"),
        ("select arg_max(age, ssn) as oldest from patients", "argmax"),
        ("select p.age from patients as p asof join visits as v on p.day >= v.day", "join with method"),
        ("select count(*) filter (where age > 3) as n from patients", "filter"),
        ("select age from patients qualify row_number() over (order by age) = 1", "select with qualify"),
        ("select distinct on (age) ssn from patients", "distinct with on"),
        ("select age from patients using sample 10", "select with sample"),
        ("select cast(age as hugeint) as wide from patients", "type"),
        ("select sha256(age) as h from read_parquet('x')", "readparquet"),
        ("delete from patients", "one SELECT"),
        ("select 1 as one; drop table patients", "one SELECT"),
        ("create table t as select 1 as one", "one SELECT"),
        ("select sha1(ssn) as h from patients", "sha"),
        ("select sum(distinct age) as n from patients", "distinct with expressions"),
    ],
)
def test_what_is_not_known_to_travel_is_refused(sql, found):
    with pytest.raises(TemplateError, match=found):
        parse_portable(sql)


def test_bytes_of_a_hash_are_asked_for_where_they_can_be_said():
    said = "select bytes_text(hash_bytes(word) || hash_bytes(word), 9) as part from words"
    text = translate(said, "postgres")
    assert text.count("sha512(convert_to(") == 2 and "8), 'hex')" in text
    with pytest.raises(TemplateError, match="spark has no bytes"):
        translate(said, "spark")


def test_every_name_is_quoted_and_keeps_its_letters():
    sql = 'select key.rank, "hash", hash as "Ünïq ""X""", block from "Key" as key'
    expected = 'select "key"."rank", "hash", "hash" as "Ünïq ""X""", "block" from "Key" as "key"'
    assert translate(sql, "postgres").split() == expected.split()
    assert quote_relation('"a""`b"', "spark") == '`a"``b`'


# -- scripts ----------------------------------------------------------------------------------


def test_a_report_is_shown():
    plan = a_plan()
    steps = tuple(replace(step, check=False) if isinstance(step, Report) else step for step in plan.steps)
    text = write_script(replace(plan, steps=steps), "duckdb")
    reports = sum(isinstance(step, Report) for step in steps)
    assert text.count("-- LOOK AT THIS ROW before you hand anything on") == reports > 0


@pytest.mark.parametrize("name", ["a$sqlanon$b", "${sqlanon.key}"])
def test_names_that_a_shell_would_read_are_refused(name):
    roles = Roles((name,), (name + "2",), ())
    refusing = {"a$sqlanon$b": "postgres", "${sqlanon.key}": "spark"}[name]
    request = Request(Source(Sql('"t"'), numbering=Sql("1")), roles, engine=refusing)
    plan = METHODS["anatomy"].plan(request, l=2)
    with pytest.raises(TemplateError, match="a name holds"):
        write_script(plan, refusing)


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_round_is_half_away_from_zero_everywhere(dialect):
    written = translate('select round("value_1", 1) as x from t', dialect)
    assert "floor" in written and "round" not in written
    spelled = sqlglot.parse_one(written, read=dialect).expressions[0].this.sql("duckdb")
    for value, wanted in ((0.25, 0.3), (-0.25, -0.3), (2.04, 2.0), (-0.04, -0.0)):
        found = duckdb.sql(f"select {spelled} from (select {value}::double as value_1)").fetchall()[0][0]
        assert found == pytest.approx(wanted)
    for refused in ("round(round(x))", "round(x, y)", "round(x, -1)", "round(x, 99)"):
        with pytest.raises(TemplateError, match="not portable: round"):
            translate(f"select {refused} as x from t", dialect)


NUMBERED = """
    select a, number, row_number() over apart as place
    from people
    window apart as (partition by number // 8 order by number, b)
"""


def test_rows_numbered_apart_are_sent_sorted_and_numbered_where_an_engine_sorts_parts():
    assert translate(NUMBERED, "duckdb") == NUMBERED
    spark = " ".join(translate(NUMBERED, "spark").split())
    assert spark == (
        "select `a`, `number`, monotonically_increasing_id() as `place` from ( select `a`, `number` from `people`"
        " distribute by (`number` div 8) sort by `number` nulls last, `b` nulls last ) as `sorted`"
    )
    postgres = translate(NUMBERED, "postgres")
    assert "apart" not in postgres  # written out: not every engine has names for windows
    assert 'row_number() over (partition by ("number" / 8) order by "number", "b")' in postgres
    ordinal = "select row_number() over (partition by a) as ordinal from words"
    assert "row_number() over (partition by `a` order by 1)" in " ".join(translate(ordinal, "spark").split())
