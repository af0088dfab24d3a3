"""The grammar: what passes is rebuilt with DuckDB's meaning, what does not is refused by name."""

import functools
from dataclasses import replace

import duckdb
import pytest

from sqlanon.errors import QueryError
from sqlanon.estimators.aggregates import MEDIAN, QUANTILE_CONT, QUANTILE_DISC
from sqlanon.sql.query_reader import parse_query
from tests.databases import connect
from tests.facts import each
from tests.pairs import read_pairs

QUASI = ("age", "Sex", "group id", "count", "born")
SENSITIVE = "disease"


def asked(sql):
    return parse_query(sql, QUASI, SENSITIVE)


REFUSED = read_pairs("refused_questions")
REFUSED |= {"select count(*) from release where disease = 'a\0b'": "NUL", "": "0 statements"}


@each(REFUSED)
def test_refused_by_name(sql):
    with pytest.raises(QueryError) as caught:
        asked(sql)
    assert REFUSED[sql].lower() in str(caught.value).lower()
    assert "\n" not in str(caught.value)


def test_the_message_says_what_is_allowed():
    with pytest.raises(QueryError) as caught:
        asked("select age, count(*) from release group by age qualify true")
    assert str(caught.value) == (
        "QUALIFY is not answered from a release; a release answers SELECT [columns,] COUNT(*) | SUM(e) |"
        " AVG(e) | MEDIAN(e), … FROM release [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n], and any"
        " SELECT of columns that it holds as they are"
    )


UNREADABLE = {
    "select count(* from release": "near 'from' (line 1, column 19)",
    "select count(*)\nfrom release where age > 1 adn sex = 'F'": "near 'adn' (line 2, column 30)",
    "select count(*) from release where": "something is missing after 'where' (line 1, column 34)",
    "select count(*) from release order by": "something is missing after 'order by' (line 1, column 37)",
    "select count(*) from release where age = 'x": "a quote, a name in quotes or a comment does not end",
    'select count(*) from release where sex = "F"': "a text stands in single quotes, 'F'; its columns are",
    "select count(*) from release where agee = 1": "no column 'agee' in the release; did you mean 'age'? its columns",
    "select count(*) from release where uper(sex) = 'F'": "is not answered from a release; did you mean upper?",
}


@pytest.mark.parametrize("sql", UNREADABLE)
def test_what_is_wrong_is_said_in_words_of_ours(sql):
    with pytest.raises(QueryError) as caught:
        asked(sql)
    assert UNREADABLE[sql] in str(caught.value)
    assert not {"sqlglot", "class", "Expecting", "Col:"} & set(str(caught.value).replace("'", " ").split())


def test_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(QueryError):
        asked("select count(*) from release where " + "(" * 5000 + "true" + ")" * 5000)


FILTERED = {
    "with adults as (select * from release where age >= 18) select count(*) from adults where disease = 'x'": 2,
    "with a as (select * from release where age > 1), b as (select age, sex from a where a.age < 5 or a.sex = 'F')"
    " select sex, count(*) from b x where x.age <> 3 group by 1 order by sex": 3,
    "select count(*) from (select * from release r where r.age > 3 and r.sex = 'F') s where s.age < 5": 3,
    "from (from (from release where age > 3) where age < 5) select count(*)": 2,
}


@pytest.mark.parametrize("sql", FILTERED)
def test_what_only_filters_the_release_is_part_of_where(sql):
    query = asked(sql)
    assert len(query.conditions) == FILTERED[sql]
    assert '"quasi_1" ' in " ".join(piece.sql for piece in query.conditions)


def test_filters_in_filters_end():
    layers = "select * from release where age > 0"
    for number in range(60):
        layers = f"select * from ({layers}) where age > {number}"
    with pytest.raises(QueryError, match="more than 50 filters"):
        asked(f"select count(*) from ({layers})")


@functools.cache
def people() -> duckdb.DuckDBPyConnection:
    con = connect()
    con.execute(
        "create table release as select * from (values (23, 'M', 7, 1, date '1999-12-31', 'flu'),"
        " (null, 'F', null, 2, null, null), (40, 'M%', 8, 3, date '2001-02-28', ' gastritis '),"
        " (35, 'M!x', 7, 4, date '2000-02-29', 'it''s')) t(age, Sex, \"group id\", \"count\", born, disease)"
    )
    con.execute(
        'create view renamed as select age as quasi_1, Sex as quasi_2, "group id" as quasi_3,'
        ' "count" as quasi_4, born as quasi_5, disease as sensitive from release'
    )
    return con


@each(read_pairs("expressions"))
def test_what_passes_keeps_duckdbs_meaning(text):
    con = people()
    query = asked(f"select count(*) from release group by ({text})")
    sql = query.keys[0].sql
    for number, part in enumerate(query.parts, start=1):
        sql = sql.replace(f'"part_{number}"', part)
    mine = con.execute(f"select {sql} from renamed").fetchall()
    assert mine == con.execute(f"select {text} from release").fetchall()


def test_columns_are_found_without_case_and_named_as_published():
    query = asked('select SEX, "GROUP ID", count(*) from RELEASE where AGE > 3 group by sex, 2')
    assert [item.name for item in query.items] == ["Sex", "group id", "count"]
    assert [key.sql for key in query.keys] == ['"quasi_2"', '"quasi_3"']


def test_names_of_results():
    query = asked("select count(*), sum(age), sum(count), avg(age) as mean, count(*) as Sum from release r")
    assert [item.name for item in query.items] == ["count", "sum", "sum_2", "mean", "Sum_3"]
    query = asked("select age as count_low, count(*) from release group by 1")
    assert [item.name for item in query.items] == ["count_low", "count_2"]


def test_order_by_alias_ordinal_expression_aggregate_and_all():
    query = asked(
        "select age + 1 as x, count(*) as n from release group by x"
        " order by n desc nulls first, 1, age + 1, count(*), sum(age), x"
    )
    assert [(term.aggregate, term.sql) for term in query.order] == [
        (0, ""),
        (None, '"key_1"'),
        (None, '"key_1"'),
        (0, ""),
        (1, ""),
        (None, '"key_1"'),
    ]
    assert query.order[0].direction == "desc nulls first" and query.order[1].direction == "asc nulls last"
    query = asked("select age, count(*) from release group by all order by all desc limit 3")
    assert [term.aggregate for term in query.order] == [None, 0] and query.limit == 3


def test_nothing_of_the_users_text_is_pasted():
    query = asked("select count(*) from release where disease = 'x'' or true --' and age /* ; drop */ > 1")
    assert [piece.sql for piece in query.conditions] == [
        "(\"sensitive\" = 'x'' or true --')",
        '("quasi_1" > 1)',
    ]


def test_several_sensitive_columns_are_numbered_and_those_read_are_told():
    query = parse_query(
        "select count(*) from release where Job = 'x' and age > 1 and (sex = 'M' or job <> pay) and pay = job",
        ("age", "sex"),
        ("pay", "job", "town"),
    )
    assert [piece.role for piece in query.conditions] == ["sensitive", "quasi", "mixed", "sensitive"]
    assert query.conditions[0].sql == "(\"sensitive_2\" = 'x')"
    assert query.parts == ('("sensitive_2" <> "sensitive_1")',)
    assert query.touched == (0, 1)
    assert parse_query("select count(*) from release", ("age",), ("pay", "job")).touched == ()
    assert parse_query("select sum(job) from release", ("age",), ("pay", "job")).touched == (1,)


def test_quantiles_in_all_their_spellings():
    sql = (
        "select median(age), quantile_cont(age, 0.5) as a, percentile_cont(0.5) within group (order by age) as b,"
        " quantile(age, 1) as c, percentile_disc(1.0) within group (order by age) filter (where sex = 'F') as d"
        " from release order by median"
    )
    query = asked(sql)
    assert [item.name for item in query.items] == ["median", "a", "b", "c", "d"]
    functions = [aggregate.function for aggregate in query.aggregates]
    assert functions == [MEDIAN, replace(QUANTILE_CONT, level=0.5), *2 * [replace(QUANTILE_DISC, level=1)]]
    assert [item.aggregate for item in query.items] == [0, 1, 1, 2, 3]
    assert query.order[0].aggregate == 0
