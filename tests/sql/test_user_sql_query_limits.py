"""What a user's SQL may cost before anything runs, and what passes all the same."""

import pytest

from sqlanon.errors import QueryError
from sqlanon.sql.query_reader import parse_query
from sqlanon.sql.view_definitions import Base, read_secret

GROWING = {
    "replace": "replace({}, 'a', 'aaaaaaaaaa')",
    "regexp_replace": "regexp_replace({}, '.', 'aaaaaaaaaa', 'g')",
    "repeated matches": r"regexp_replace({}, '(.*)', '\1\1\1\1\1\1\1\1\1\1')",
    "concat": "concat({0}, {0}, {0}, {0})",
    "concat_ws": "concat_ws({0}, {0}, {0}, {0})",
    "||": "({0} || {0} || {0} || {0})",
    "within other functions": "upper(coalesce(case when age > 1 then replace({}, 'a', sex || 'aaaaaaaaaa') end, 'x'))",
}


def nested(text, times, start="'aaaaaaaaaa'"):
    for _ in range(times):
        start = text.format(start)
    return start


def asked(condition):
    return parse_query(f"select count(*) from release where {condition}", ("age", "sex"), "disease")


@pytest.mark.parametrize("kind", GROWING)
def test_texts_that_grow_are_bounded(kind):
    assert asked(f"length({nested(GROWING[kind], 1)}) > 1").conditions
    for start in ("'aaaaaaaaaa'", "sex"):
        # what grows by being written again and again is a long query before it is a long text
        with pytest.raises(QueryError, match=r"texts of more than 1,000,000 letters|letters; the most is 200,000"):
            asked(f"length({nested(GROWING[kind], 9, start)}) > 1")


def test_texts_that_are_cleaned_pass():
    cleaned = nested("replace({}, 'hospital', 'clinic')", 12, "disease")
    assert asked(f"{nested('regexp_replace({}, chr(32), chr(45))', 1, cleaned)} = 'x'").conditions


def test_what_is_long_deep_or_many_is_refused():
    with pytest.raises(QueryError, match="letters; the most is 200,000"):
        asked(f"sex = '{'x' * 200_000}'")
    with pytest.raises(QueryError, match="words and signs; the most is 30,000"):
        asked(f"age in ({'1,' * 20_000} 1)")
    with pytest.raises(QueryError, match="nested more than 250 deep"):
        asked(f"{'age + ' * 400} 1 > 2")
    with pytest.raises(QueryError, match="joins 2,500 conditions by AND; the most is 2,000"):
        asked(" and ".join(["age > 1"] * 2_500))


@pytest.mark.parametrize("word", ["and", "or"])
def test_a_thousand_conditions_pass(word):
    conditions = asked(f" {word} ".join(f"age <> {number}" for number in range(1_200))).conditions
    assert len(conditions) == (1_200 if word == "and" else 1)


def test_a_thousand_conditions_of_a_secret_pass():
    where = " and ".join(f"age <> {number}" for number in range(1_200))
    secret = read_secret(f"select id, disease from base where {where}", Base(("id", "age", "disease")))
    assert len(secret.conditions) == 1_200
