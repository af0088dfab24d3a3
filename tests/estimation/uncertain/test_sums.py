"""SUM and AVG over uncertain data: least, greatest and expected, against worlds written down one by one."""

import json
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import AnswerError, QueryError
from tests.conftest import PAPERS
from tests.estimation.uncertain.test_session import KEYS, pieces, releases, small
from tests.examples import examples
from tests.oracles import uncertain_sums as oracle
from tests.uncertain_release import write_release


@pytest.fixture(scope="module")
def paper():
    return sqlanon.open(PAPERS / "uncertain" / "release")


def three(frame, name):
    return tuple(frame.iloc[0][[f"{name}_certain", f"{name}_possible", f"{name}_expected"]])


def test_the_papers_release_answered_by_hand(paper):
    # t1 25, t2 21, t4 48 or 21, 25, 45, t5 45; two hidden rows are between 21 and 48, and expected as the others are
    frame = paper.estimate("SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM release")
    assert three(frame, "n") == (6, 6, 6)
    expected = (25 + 21 + 45 + 48 / 2 + (21 + 25 + 45) / 6) * 1.5
    assert three(frame, "s") == pytest.approx((25 + 21 + 45 + 3 * 21, 25 + 21 + 45 + 3 * 48, expected))
    assert three(frame, "a") == pytest.approx((154 / 6, 235 / 6, expected / 6))
    # one of t1 and t2 has insomnia: t1 or t2
    frame = paper.estimate("SELECT SUM(age) AS s, AVG(age) AS a FROM release WHERE disease = 'insomnia'")
    assert three(frame, "s") == three(frame, "a") == pytest.approx((21, 25, 23))
    # the lengths of what the sick have in the third group: 11 for one, 12 or 7 for the other
    frame = paper.estimate("SELECT SUM(length(disease)) AS s FROM release WHERE age > 40 AND sex = 'M'")
    assert three(frame, "s") == pytest.approx((7, 12 + 11 + 28, (4 / 6 + 1) * (11 + 9.5) / 2 + (4 / 6 + 1) / 4 * 28))


# -- against the oracle -------------------------------------------------------------------------


def _age(row, _):
    return row["age"]


def _signed(row, _):
    return None if row["age"] is None or row["school"] is None else row["age"] * (-1 if row["school"] < "c" else 1)


MEASURES = {
    "age": (_age, {"age"}, False),
    "age - 30": (lambda row, _: None if row["age"] is None else row["age"] - 30, {"age"}, False),
    "age * (CASE WHEN school < 'c' THEN -1 WHEN school >= 'c' THEN 1 END)": (_signed, {"age", "school"}, False),
    "CASE WHEN sex = 'M' THEN 2 END": (lambda row, _: 2 if row["sex"] == "M" else None, {"sex"}, False),
    "length(disease) - 8": (lambda _, value: len(value) - 8, set(), True),
    "CASE WHEN disease > 'k' THEN 3.5 END": (lambda _, value: 3.5 if value > "k" else None, set(), True),
    "-2": (lambda *_: -2, set(), False),
}
FIGURES = [f"{name}_{figure}" for name in "sa" for figure in ("certain", "possible", "expected")]


@pytest.mark.thorough
@examples(40)
@given(
    release=releases(),
    conditions=st.lists(pieces().filter(lambda piece: not (piece[2] and piece[3])), max_size=2),
    measure=st.sampled_from([*MEASURES]),
    key=st.sampled_from([None, None, *KEYS]),
)
def test_figures_are_those_of_the_worlds(tmp_path_factory, release, conditions, measure, key):
    opened = sqlanon.open(write_release(tmp_path_factory.mktemp("worlds"), **release))
    where = " AND ".join(f"({sql})" for sql, *_ in conditions)
    wanted = oracle.total(release, [piece[1:] for piece in conditions], MEASURES[measure], KEYS.get(key))
    text = f"SUM({measure}) AS s, AVG({measure}) AS a FROM release {'WHERE ' if where else ''}{where}"
    frame = opened.estimate(f"SELECT {text}" if key is None else f"SELECT {key} AS k, {text} GROUP BY 1")
    keys = [None] * len(frame) if key is None else [None if pd.isna(value) else value for value in frame["k"]]
    found = dict(zip(keys, frame[FIGURES].itertuples(index=False, name=None), strict=True))
    for name, figures in found.items():
        if wanted[name] is None:
            assert pd.isna(figures[0]) and pd.isna(figures[3]), (name, text)
            continue
        # of AVG nothing is expected where only worlds that are not likely at all count a row
        told = [None if pd.isna(figure) else figure for figure in figures]
        truth = [None if figure is None else float(figure) for figure in wanted[name][:6]]
        assert told == pytest.approx(truth, abs=1e-7), (name, text)
    # a group that is not listed is nobody's in every world that is likely
    unlisted = [one for name, one in wanted.items() if name not in found and one is not None]
    assert all(not one[2] for one in unlisted), text
    empty = sum(wanted[name] is not None and wanted[name][6] for name in found)
    told = any("no row to add up" in message for message in frame.attrs["messages"])
    assert told == bool(empty)
    opened.engine.connection.close()


AGES = {"age": ("age", MEASURES["age"]), "length(disease)": ("length(disease)", (lambda _, v: len(v), set(), True))}


@pytest.mark.thorough
@examples(15)
@given(
    release=releases(),
    conditions=st.lists(pieces().filter(lambda piece: not (piece[2] and piece[3])), max_size=2),
    measure=st.sampled_from([*AGES]),
    quarters=st.integers(0, 4),
    key=st.sampled_from([None, None, *KEYS]),
)
def test_quantiles_are_those_of_the_worlds(tmp_path_factory, release, conditions, measure, quarters, key):
    opened = sqlanon.open(write_release(tmp_path_factory.mktemp("worlds"), **release))
    where = " AND ".join(f"({sql})" for sql, *_ in conditions)
    values = range(0, 100)
    wanted = oracle.least_and_greatest_quantile(
        release, [piece[1:] for piece in conditions], AGES[measure][1], values, Fraction(quarters, 4), KEYS.get(key)
    )
    text = f"QUANTILE_DISC({measure}, {quarters / 4}) AS q FROM release {'WHERE ' if where else ''}{where}"
    frame = opened.estimate(f"SELECT {text}" if key is None else f"SELECT {key} AS k, {text} GROUP BY 1")
    keys = [None] * len(frame) if key is None else [None if pd.isna(value) else value for value in frame["k"]]
    for name, least, greatest in zip(keys, frame["q_certain"], frame["q_possible"], strict=True):
        if pd.isna(least):  # where no likely world counts a row, there is no quantile to be expected
            continue
        assert (least, greatest) == wanted[name], (name, text)
    opened.engine.connection.close()


# -- how large, what kinds ----------------------------------------------------------------------


def test_a_world_without_a_row_is_told(paper):
    frame = paper.estimate("SELECT sex, SUM(age) AS s, AVG(age) AS a FROM release WHERE age > 45 GROUP BY sex")
    assert frame.values.tolist() == [["M", 0, 3 * 48, 36, 48, 48, 48]]
    told = frame.attrs["messages"]
    assert "in 1 of 1 answers of SUM and AVG some world has no row to add up" in " ".join(told)
    assert "certain is the least and possible the greatest value that any world gives" in " ".join(told)
    assert "a row behind '*' is taken to be what another row may hold" in told[-1]
    assert not frame.attrs["warnings"]


def test_nobody_in_any_world_is_null(paper):
    nobody = "WHERE age > 90 AND sex = 'F'"
    frame = paper.estimate(f"SELECT SUM(age) AS s, AVG(age) AS a, COUNT(*) AS n FROM release {nobody}")
    assert frame.filter(regex="^[sa]_").isna().all(axis=None) and frame["n_possible"][0] == 2
    assert paper.estimate("SELECT SUM(age) AS s FROM release WHERE 1 = 0").isna().all(axis=None)
    assert paper.estimate("SELECT AVG(age) AS a FROM release WHERE disease = 'none'").isna().all(axis=None)


@pytest.mark.parametrize(
    ("kind", "values", "measure", "figures"),
    [
        ("DECIMAL(6,2)", ("1.50", "2.25"), "x", (5.25, 6.0, 5.625)),
        ("DOUBLE", (-1e300, 1e300), "x", (-1e300, 1e300, 0)),
        ("DATE", ("2020-01-01", "2022-01-01"), "year(x)", (6062, 6064, 6063)),
        ("BIGINT", (-7, 2**53), "x % 10", (-12, -3, -7.5)),
    ],
)
def test_every_kind_of_number_is_added_up(tmp_path, kind, values, measure, figures):
    people = [({}, values[:1]), ({}, values[1:]), ({"x": 2}, values[1:])]
    release = small(tmp_path / "release", {"x": kind}, people)
    frame = release.estimate(f"SELECT SUM({measure}) AS s FROM release")
    assert three(frame, "s") == pytest.approx(figures)


def test_numbers_that_have_no_sum_are_refused(tmp_path):
    people = [({}, (1.0,)), ({}, (float("inf"),)), ({"x": 2}, (1e308,)), ({}, (1.5e308,)), ({}, (1.5e308,))]
    release = small(tmp_path / "release", {"x": "DOUBLE"}, people)
    with pytest.raises(AnswerError, match="NaN or infinite in 1 cells of rows or values; leave them out with WHERE"):
        release.estimate("SELECT SUM(x) FROM release")
    with pytest.raises(AnswerError, match="numbers whose sum is too large"):
        release.estimate("SELECT SUM(x) FROM release WHERE x < 1.6e308")
    with pytest.raises(QueryError, match="SUM and AVG take numbers, and 'x' is VARCHAR"):
        release.estimate("SELECT AVG('' || x) FROM release")


def test_the_same_figures_in_the_shell(shell):
    release, sql = PAPERS / "uncertain" / "release", "SELECT SUM(age) AS s, AVG(age) AS a FROM release WHERE sex = 'M'"
    done = shell("estimate", release, sql, "--format", "json")
    (line,) = json.loads(done.stdout)
    frame = sqlanon.open(release).estimate(sql)
    assert line == pytest.approx(frame.iloc[0].to_dict())
    assert "of SUM and AVG, certain is the least and possible the greatest" in done.stderr
    texts = shell("estimate", release, sql, "--sql").stdout
    for name in ("valued_1", "expected_sum_1", "extreme_sum_1", "extreme_average_1"):
        assert f"-- {name}\n" in texts
