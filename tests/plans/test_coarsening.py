"""Coarser values: what SQL makes of each rule is what arithmetic, the calendar and a slice make of it."""

import datetime
import functools
import math
import unicodedata
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.engines.connect import engine_of
from sqlanon.errors import UsageError
from sqlanon.plans.coarsening import PATTERN, Coarsening, resolve_rules
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from tests.databases import connect
from tests.examples import examples
from tests.facts import each

DAY = datetime.date
WHOLE = st.integers(-(2**31), 2**31 - 1)
MONDAY = datetime.timedelta(days=1)


@functools.cache
def open_engine():
    """Open the engine that serves every example: opening one takes longer than coarsening a few values."""
    return engine_of(connect())


def coarsen(rule, kind, values):
    """Return what a column of values becomes, through SQL, with the type that it is said to have."""
    engine = open_engine()
    source = Source(Sql("given"), texts=frozenset({"v"} if kind == "VARCHAR" else ()))
    coarse, types = source.coarsened({"v": kind}, resolve_rules({"V": rule}, ("v",), {"v": kind}))
    read_list = f"select generate_subscripts(list, 1) as place, unnest(list) as v from (select ?::{kind}[] as list)"
    engine.execute(f"create or replace temp table given as {read_list}", [values])
    expression = coarse.expression("v").replace(' collate "C"', "")
    read = f"select {expression} as v from given order by place"
    assert engine.columns(read)["v"].partition("(")[0] == types["v"].partition("(")[0]
    return [row["v"] for row in engine.rows(read)]


@examples(25)
@given(st.lists(WHOLE | st.none(), min_size=1, max_size=20), st.integers(1, 10**6))
def test_a_step_of_whole_numbers_is_its_lower_end(values, step):
    made = coarsen(str(step), "INTEGER", values)
    assert made == [None if value is None else value // step * step for value in values]


@examples(25)
@given(st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1, max_size=20), st.sampled_from(["2.5", "0.05", "7"]))
def test_so_is_one_of_decimals_exactly(values, step):
    made = coarsen(step, "DECIMAL(12,2)", values)
    assert made == [math.floor(value / Decimal(step)) * Decimal(step) for value in values]


@each([("-99.9", "10", -100), ("-0.5", "100000", -100000), ("99.9", "0.3", Decimal("99.9")), ("-99.9", "9.9", -108.9)])
def test_the_lower_end_of_decimals_may_have_more_digits_than_they_have(case):
    value, step, lower = case
    (made,) = coarsen(step, "DECIMAL(3,1)", [Decimal(value)])
    assert float(made) == float(lower) and coarsen(step, "DECIMAL(9,1)", [made]) == [made]


@examples(25)
@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-500, 500).map(lambda n: n / 20) | st.none(), min_size=1, max_size=20),
    st.sampled_from(["2.5", "0.1", "0.05", "10"]),
)
def test_so_is_one_of_floats(values, step):
    made = coarsen(step, "DOUBLE", values)
    assert made == [None if value is None else lower_end(value, Fraction(step)) for value in values]
    assert coarsen(step, "DOUBLE", made) == made


def lower_end(value, step):
    """Return the largest multiple of a step, as a float, that is not above a float."""
    multiple = math.floor(Fraction(value) / step) + 2
    while float(multiple * step) > value:
        multiple -= 1
    return float(multiple * step)


def test_floats_that_are_no_step_s_stay_as_they_are():
    made = coarsen("10", "DOUBLE", ["inf", "-inf", "nan", "-0.0"])  # a list of numbers holds no NaN in DuckDB 1.4
    assert made[:2] == [math.inf, -math.inf] and math.isnan(made[2]) and math.copysign(1, made[3]) == 1


def test_floats_of_32_bits_are_read_as_they_are_written():
    assert coarsen("0.1", "FLOAT", [0.1, 0.3, 0.7, -0.7, 0.69]) == [0.1, 0.3, 0.7, -0.7, 0.6]


@examples(25)
@given(
    st.lists(st.dates(DAY(1, 1, 8), DAY(3000, 1, 1)), min_size=1, max_size=10),
    st.sampled_from(["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"]),
)
def test_units_of_time_begin_on_their_first_day(values, kind):
    assert coarsen("year", kind, values) == [DAY(value.year, 1, 1) for value in values]
    assert coarsen("month", kind, values) == [value.replace(day=1) for value in values]
    assert coarsen("quarter", kind, values) == [DAY(v.year, (v.month - 1) // 3 * 3 + 1, 1) for v in values]
    assert coarsen("week", kind, values) == [value - value.weekday() * MONDAY for value in values]
    assert coarsen("decade", kind, values) == [value.year // 10 * 10 for value in values]
    assert coarsen("century", "INTEGER", [v.year for v in values]) == [v.year // 100 * 100 for v in values]


@examples(25)
@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6), min_size=1, max_size=10))
def test_letters_are_the_first_ones(values):
    coarse = coarsen("2 letters", "VARCHAR", values)
    assert [value[:2] for value in coarse] == [value[:2] for value in values]
    assert all(unicodedata.category(accent) == "Mn" for value in coarse for accent in value[2:])


def test_accents_stay_with_their_letter():
    kept = ["Ju\u0308", "Am", "Ve\u0309\u0302", "ab", ""]
    assert coarsen("2 letters", "VARCHAR", ["Ju\u0308rgen", "Ame\u0301lie", "Ve\u0309\u0302", "ab", ""]) == kept
    assert coarsen("2 letters", "VARCHAR", kept) == kept


@pytest.mark.parametrize("labels", [{}, {"hierarchy": {"zip": "tree.csv"}}], ids=["sets", "a hierarchy"])
def test_boxes_of_coarser_texts_verify(con, tmp_path, monkeypatch, labels):
    monkeypatch.chdir(tmp_path)
    con.execute(
        "create table t as select i, 'z' || (100 + i % 19) as zip, 20 + i % 20 as age, i % 5 as d from range(60) r(i)"
    ).fetchall()
    (tmp_path / "tree.csv").write_text("child,parent\n" + "".join(f"z1{n},every zip\n" for n in range(2)))
    asked = {"quasi": ["zip", "age"], "sensitive": "d", "id": "i", "k": 5, "coarsen": {"zip": "3 letters"}, **labels}
    sqlanon.mondrian(con, "t", out=tmp_path / "release", **asked)
    assert sqlanon.open(tmp_path / "release", con=con).verify(against="t").holds
    text = (tmp_path / "release" / "release.json").read_text(encoding="utf-8")
    assert "3 letters" in text
    (tmp_path / "release" / "release.json").write_text(text.replace("3 letters", "2 letters"), encoding="utf-8")
    (found,) = [check for check in sqlanon.verify(tmp_path / "release").checks if check.name == "manifest"]
    assert "zip" in str(found.found) and found.holds is False


@each([(" 10 ", "10"), ("010.50", "10.5"), ("1 Letter", "1 letters"), ("3letters", "3 letters"), ("DECADE", "decade")])
def test_rules_are_written_alike(case):
    text, rule = case
    assert Coarsening.read("age", text).rule == rule == Coarsening.read("age", rule).rule


@pytest.mark.parametrize(
    ("rule", "kind", "message"),
    [
        *((text, "INTEGER", "is no way to coarsen values: say a step of numbers")
          for text in ("0", "0.0", "-5", "ten", "", "1e3", "٣", "3 words", "0 letters", "10; drop table t", "1" * 12)),
        ("2.5", "INTEGER", "'2.5' is not for values of type INTEGER: steps are for numbers .with no more decimals"),
        ("2.55", "DECIMAL(4,1)", "with no more decimals than these have"),
        ("10", "VARCHAR", "'10' is not for values of type VARCHAR"),
        ("year", "VARCHAR", "units of time for dates"),
        ("year", "TIMESTAMP WITH TIME ZONE", r"read the column as CAST.v AS TIMESTAMP. AS v in a"),
        ("year", "INTEGER", "decade and century for numbers of years"),
        ("decade", "DOUBLE", "is not for values of type DOUBLE"),
        ("2 letters", "DOUBLE", "letters for texts"),
        ("2 letters", "BOOLEAN", "letters for texts"),
        ("10", "BOOLEAN", "steps are for numbers"),
    ],
)  # fmt: skip
def test_what_is_no_rule_for_a_column_is_refused(rule, kind, message):
    with pytest.raises(UsageError, match=message):
        Coarsening.read("v", rule).type_of("v", kind)


def test_rules_are_for_quasi_columns_alone():
    with pytest.raises(UsageError, match="is for quasi columns, and 'disease' is none of them"):
        resolve_rules({"disease": "1 letters"}, ("age",), {"age": "INTEGER", "disease": "VARCHAR"})
    with pytest.raises(UsageError, match="did you mean 'age'"):
        resolve_rules({"agee": "10"}, ("age",), {"age": "INTEGER"})


def test_a_manifest_can_say_what_a_rule_is_read_as():
    import re

    rules = ["10", "0.5", "12.25", "year", "century", "week", "12 letters"]
    assert all(re.fullmatch(PATTERN, Coarsening.read("v", rule).rule) for rule in rules)
    assert not any(re.fullmatch(PATTERN, text) for text in ("0", "10.", "-1", "1e3", "letters", "10 or 1"))
