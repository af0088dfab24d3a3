"""What releases of every form answer alike: exact cases, groups as single questions, averages, hostile names."""

import functools

import numpy as np
import pandas as pd
import pytest

from sqlanon.plans.templates import ident
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.estimation import test_qit_st as groups
from tests.estimation import test_randomized as randomized
from tests.estimators import test_ridge as classes

OPENED = {  # by form: a census, its sensitive column, estimators
    "groups": (groups.make_census, "income", ("uniform", "ridge")),
    "classes": (classes.make_census, "income", ("ridge",)),
    "randomized": (randomized.make_census, "job", ("shrinkage", "closed_form", "iterative")),
}
open_census = functools.cache(lambda form: OPENED[form][0]())
NAMES = [*NASTY_NAMES, "group_id", "count", "code", "sensitive", "sensitive_1", "quasi_1", "cell", "key_1", "n"]
NAMES = list({name.lower(): name for name in NAMES}.values())

EXACT = [
    "count(*) from release where age between 30 and 40 and sex = 'M'",
    "count(*), sum(age), avg(age), sum(age * 2.5) from release",
    "count(*), sum(age), avg(age / 7) from release where sex = 'F'",
    "sex, count(*), sum(age), avg(age) from release group by sex order by sex",
    "age // 10 as decade, sex, count(*) from release group by all order by 1 desc, 2 limit 5",
    "count(*) from release where true and not false",
    "sum(age) from release where age < 0",
    "age, count(*) from release where false group by age",
]
OF_VALUES = [
    "count(*) from release where income in (1, 2)",
    "sum(income), avg(income), sum(income * income) from release",
    "sum(income), avg(income) from release where income > 3",
    "income, count(*) from release where income < 4 group by income order by 1",
    "income % 2 as odd, count(*), sum(income) from release group by 1 order by 1",
    "count(*) from release where age > 0 and income = 2",
    "count(*) from release where age < 0 and income = 2",
    "sum(age), avg(income), count(*) from release where age < 0",
    "sum(age) from release where income = 99",
    "sum(2), avg(2) from release where income = 3",
]
CASES = [(form, name, sql) for form in ("groups", "randomized") for name in OPENED[form][2] for sql in EXACT]
CASES += [("groups", name, sql) for name in OPENED["groups"][2] for sql in OF_VALUES]
CASES += [
    ("classes", "ridge", f"{sql} from release group by all order by all")
    for sql in ("area, sex, income, count(*)", "sex, income, count(*)", "area, income, count(*)")
]
CASES += [
    ("classes", "ridge", f"{sql} from release where {where}")
    for sql, where in (
        ("count(*)", "sex = 0 and area in (1, 3) and income > 4"),
        ("count(*)", "age > 0 and income = 2"),
        ("count(*), sum(age), avg(age)", "age > 999 and income = 2"),
    )
]


@pytest.mark.parametrize(("form", "estimator", "sql"), CASES)
def test_exact_cases_equal_duckdb_on_the_microdata(form, estimator, sql):
    session = open_census(form)
    answer = session.answer(f"select {sql}", estimator)
    truth = session.con.execute(f"select {sql}".replace("release", "microdata")).df()
    assert len(answer) == len(truth)
    for place, name in enumerate(c for c in answer.columns if not c.endswith(("_std_error", "_low", "_high"))):
        wanted = truth.iloc[:, place].astype(object).where(truth.iloc[:, place].notna(), None).tolist()
        found = answer[name].astype(object).where(answer[name].notna(), None).tolist()
        assert found == [pytest.approx(one, rel=1e-9) if isinstance(one, float | int) else one for one in wanted]
        if f"{name}_std_error" in answer:
            known = answer[answer[name].notna()]
            assert (known[f"{name}_std_error"] == 0).all()
            assert (known[f"{name}_low"] == known[name]).all() and (known[f"{name}_high"] == known[name]).all()


@pytest.mark.parametrize(
    ("form", "estimator", "keys", "figures"),
    [
        ("classes", "ridge", ("area", "income"), "count(*), sum(age), avg(age)"),
        ("randomized", "shrinkage", ("sex", "job"), "count(*), sum(age)"),
        ("randomized", "iterative", ("sex", "job"), "count(*)"),
    ],
)
def test_groups_equal_single_questions(form, estimator, keys, figures):
    session = open_census(form)
    names, where = ", ".join(keys), "where age > 35"
    table = session.answer(f"select {names}, {figures} from release {where} group by all order by all", estimator)
    for row in table.iloc[::5].to_dict("records"):
        only = " and ".join([where, *(f"{key} = {row[key]!r}" for key in keys)])
        one = session.answer(f"select {figures} from release {only}", estimator).iloc[0]
        for name in one.index:
            assert row[name] == pytest.approx(one[name], nan_ok=True, abs=1e-6), (row, name)


@pytest.mark.parametrize("argument", ["age * 10", "{}", "age", "age + {}", "nullif(age, 40)"])
@pytest.mark.parametrize(("form", "estimator"), [("groups", "uniform"), ("randomized", "closed_form")])
def test_averages_are_sums_over_counts_of_what_is_there(form, estimator, argument):
    session, column = open_census(form), OPENED[form][1]
    argument = argument.format(column)
    where = f"from release where sex = 'M' and {column} in (5, 6, 7) and ({argument}) is not null"
    both = session.answer(f"select sum({argument}), count(*), avg({argument}) {where}", estimator)
    if column not in argument or form == "groups":
        assert both["avg"][0] == pytest.approx(both["sum"][0] / both["count"][0])
    if form == "randomized":
        (truth,) = session.con.execute(f"select avg({argument}) {where.replace('release', 'microdata')}").fetchone()
        assert both["avg_low"][0] <= truth <= both["avg_high"][0]


def open_named(form, names, frame):
    """Open a release whose columns have these names, the last ones sensitive."""
    if form == "randomized":
        return randomized.session_of(frame, names[-2:], [2, 2])
    rows = [(*row, i // 2) for i, row in enumerate(frame.itertuples(index=False, name=None))]
    return groups.session_of(rows, names, "group_id_2", "count_2")


@pytest.mark.parametrize("shift", range(0, len(NAMES), 3))
@pytest.mark.parametrize("form", ["groups", "randomized"])
def test_hostile_names(form, shift):
    names = (NAMES[shift:] + NAMES[:shift])[:12]
    frame = pd.DataFrame({name: np.random.default_rng(place).integers(0, 3, 60) for place, name in enumerate(names)})
    session = open_named(form, names, frame)
    shown = [names[0], names[-1]]
    answer = session.answer(f"select {', '.join(map(ident, shown))}, count(*) as total from release group by all")
    assert list(answer.columns[:2]) == shown and len(answer) == 9
    assert answer["total"].sum() == pytest.approx(len(frame), rel=0.05)
    one = session.answer(f"select sum({ident(names[0])}) from release where {ident(names[1])} = 0")
    assert one["sum"][0] == frame.loc[frame[names[1]] == 0, names[0]].sum()


def test_hostile_names_and_values_tell_classes():
    names, signature = [*NASTY_NAMES, "income"], [NASTY_NAMES[0], NASTY_NAMES[6], NASTY_NAMES[17]]
    values = [*NASTY_VALUES, None]
    rows = []
    for number in range(240):
        own = [values[(number // 4 + place) % len(values)] for place in range(len(NASTY_NAMES))]
        own[4] = str(number * 7 % 3)
        rows.append((*own, "abcd"[number % 4], number // 4))
    session = classes.robust(rows, names, signature, added=("group_id_2", "count_2"))
    where = f"{ident(NASTY_NAMES[4])} = '1' and income in ('a', 'b')"
    row = session.answer(f"select count(*) from release where {where}").iloc[0]
    (truth,) = session.con.execute(f"select count(*) from microdata where {where}").fetchone()
    assert row["count_low"] <= truth <= row["count_high"] and row["count_std_error"] > 0
    assert len(session.tables_of("").systems.rows) == len(values)
