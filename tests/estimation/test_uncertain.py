"""Counts over uncertain data: what is certain, possible and expected, against worlds written down one by one."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import AnswerError, QueryError, ReleaseError, UsageError
from tests.conftest import NASTY_NAMES, NASTY_VALUES, PAPERS
from tests.examples import examples
from tests.oracles import uncertain as oracle
from tests.uncertain_release import TABLE_8, WEIGHTS, write_release


@pytest.fixture(scope="module")
def paper():
    return sqlanon.open(PAPERS / "uncertain" / "release")


FIGURES = ["certain", "possible", "expected"]


def told(frame):
    """Return the figures of the one answer: expected alone where nothing else is told."""
    return tuple(frame.iloc[0][[name for name in FIGURES if name in frame]])


@pytest.mark.parametrize(
    ("where", "counts"),
    [
        ("", (6,)),  # what no cell leaves open is expected alone
        # t5 is a Master; t1 and t4 are one of three; two hidden rows are like the four others: 2 (1 + 1/3 + 1/3) / 4
        ("WHERE education = 'Master'", (1, 5, 2.5)),
        # t5 is 45; t4 is 48, or 21, 25 or 45: 1/2 + 1/6
        ("WHERE age >= 45", (1, 4, 2.5)),
        ("WHERE age >= 45 AND education = 'Master'", (1, 4, (1 + 2 / 9) * 1.5)),
        ("WHERE age >= 45 OR education = 'Master'", (1, 5, (1 + 1 / 3 + 7 / 9) * 1.5)),
        ("WHERE NOT age < 45 AND age < 48", (1, 4, (1 + 1 / 6) * 1.5)),
        # t2 may be obese or have flu; in the third group one row is obese or short of breath
        ("WHERE disease = 'obesity'", (0, 2, 1)),
        ("WHERE disease IN ('obesity', 'flu')", (1, 2, 1.5)),
        ("WHERE disease = 'obesity' AND sex = 'M'", (0, 2, 1)),
        ("WHERE disease = 'obesity' AND age > 40", (0, 1, (1 + 2 / 3) / 4)),
        # one of the two of the first group, who is a man for sure
        ("WHERE disease IN ('obesity', 'flu') AND sex = 'M' AND age < 40", (1, 2, 1 + 1 / 3 / 4)),
        # the hidden rows have mammary cancer: expected to satisfy it as all others would; such counts have no bounds
        ("WHERE disease = 'mammary cancer' OR age > 40", (1 + 2 / 3 + 2,)),
        ("WHERE disease = 'mammary cancer' AND (age > 40 OR disease = 'flu')", (2 * (1 + 2 / 3) / 4,)),
        ("WHERE 1 = 0 AND age > 3", (0, 0, 0)),
        ("WHERE 1 = 0", (0,)),
    ],
)
def test_the_papers_release_answered_by_hand(paper, where, counts):
    frame = paper.estimate(f"SELECT COUNT(*) FROM release {where}")
    assert list(frame.columns) == FIGURES[-len(counts) :]
    assert told(frame) == pytest.approx(counts, abs=1e-8)


def test_groups_have_every_value_that_a_cell_may_hold(paper):
    frame = paper.estimate("SELECT education, COUNT(*) AS n FROM release GROUP BY education ORDER BY n DESC, education")
    assert list(frame.columns) == ["education", "n_certain", "n_possible", "n_expected"]
    assert frame.values.tolist() == [["Bachelor", 1, 5, 2.5], ["Master", 1, 5, 2.5], ["Ph.D", 0, 4, 1]]
    ill = paper.estimate("SELECT disease, COUNT(*) FROM release GROUP BY disease ORDER BY disease LIMIT 2")
    assert ill.values.tolist() == [["flu", 0, 1, 0.5], ["insomnia", 1, 1, 1]]


def test_what_only_hidden_rows_can_be_is_listed(paper):
    sql = "disease = 'mammary cancer' AND (sex = 'M' OR disease = 'flu')"
    frame = paper.estimate(f"SELECT sex, COUNT(*) FROM release WHERE {sql} GROUP BY sex")
    assert frame.values.tolist() == [["M", 2]]


def test_hidden_rows_and_inner_nodes_are_told(paper):
    with pytest.warns(sqlanon.AnswerWarning, match="'University'"):
        frame = paper.estimate("SELECT COUNT(*) FROM release WHERE education = 'University'")
    assert told(frame) == (0, 2, 0)
    assert "2 rows are hidden behind '*'" in frame.attrs["messages"][0]
    assert "'University' is no value of 'education' but a node above several" in frame.attrs["messages"][1]
    assert len(frame.attrs["messages"]) == 2
    assert not paper.estimate("SELECT COUNT(*) FROM release WHERE disease = 'flu'").attrs["messages"]


def test_having_goes_by_what_is_expected(paper):
    frame = paper.estimate("SELECT education, COUNT(*) AS n FROM release GROUP BY education HAVING n > 2 ORDER BY 1")
    assert frame.values.tolist() == [["Bachelor", 1, 5, 2.5], ["Master", 1, 5, 2.5]]


def test_a_value_that_no_cell_may_hold_is_told(paper):
    with pytest.warns(sqlanon.AnswerWarning):
        frame = paper.estimate("SELECT COUNT(*) FROM release WHERE education = 'Masters' AND disease = 'flue'")
    assert frame.attrs["warnings"] == [
        "no such value in the release: education = 'Masters'; did you mean 'Master'?",
        "no such value in the release: disease = 'flue'; did you mean 'flu'?",
    ]


# -- against the oracle -------------------------------------------------------------------------

TREE = [["low", "any"], ["high", "any"], ["a", "low"], ["b", "low"], ["c", "high"], ["d", "high"], ["e", "high"]]
DISEASES = list(WEIGHTS)
CELLS = {
    "school": [(leaf, 1) for leaf in (*"abcde", None)] + [("low", 2), ("high", 2), ("high", 3), ("any", 2), ("any", 4)],
    "age": [(n, 1) for n in (None, 20, 30, 40)] + [(n, count) for n in (20, 30, 40, 50) for count in (2, 3)],
    "sex": [("M", 1), ("F", 1)],
}


@st.composite
def releases(draw):
    """Draw a release of two or three groups of two or three rows; a group may be hidden."""
    people, lines = [], []
    for group in range(1, draw(st.integers(2, 3)) + 1):
        size, away = draw(st.integers(2, 3)), group == 2 and draw(st.booleans())
        for _ in range(size):
            cells = {name: draw(st.sampled_from(cells)) for name, cells in CELLS.items()}
            counts = {} if away else {name: count for name, (_, count) in cells.items() if count > 1}
            people.append(("", counts, ("*",) * 3 if away else tuple(value for value, _ in cells.values()), group))
        sets = st.sets(st.sampled_from(DISEASES), min_size=1, max_size=2)
        owned = [tuple(sorted(draw(sets))) for _ in range(size)]
        lines += [(group, values, owned.count(values)) for values in sorted(set(owned))]
    quasi = {"school": "VARCHAR", "age": "BIGINT", "sex": "VARCHAR"}
    return {"quasi": quasi, "people": people, "lines": lines, "weights": WEIGHTS, "hierarchies": {"school": TREE}}


def compared(row, value, limit):
    return row["age"] is not None and row["age"] <= limit


@st.composite
def pieces(draw, depth=1):
    """Draw a condition: its SQL, the same in Python, the quasi columns that it reads, whether it reads a disease."""
    kind = draw(st.sampled_from(["school", "age", "sex", "disease", *(["or", "not"] if depth else [])]))
    if kind == "school":
        value = draw(st.sampled_from("abcde"))
        return f"(school = '{value}') IS TRUE", lambda row, _: row["school"] == value, {"school"}, False
    if kind == "age":
        limit = draw(st.sampled_from([20, 25, 30, 40, 45, 50]))
        return f"(age <= {limit}) IS TRUE", lambda row, value: compared(row, value, limit), {"age"}, False
    if kind == "sex":
        return "sex = 'M'", lambda row, _: row["sex"] == "M", {"sex"}, False
    if kind == "disease":
        values = draw(st.sets(st.sampled_from(DISEASES), min_size=1, max_size=4))
        listed = ", ".join(f"'{value}'" for value in sorted(values))
        return f"disease IN ({listed})", lambda _, value: value in values, set(), True
    one = draw(pieces(depth - 1))
    if kind == "not":
        return f"NOT ({one[0]})", lambda row, value: not one[1](row, value), one[2], one[3]
    two = draw(pieces(depth - 1))
    joined = f"(({one[0]}) OR ({two[0]}))"
    return joined, lambda row, value: one[1](row, value) or two[1](row, value), one[2] | two[2], one[3] or two[3]


def joins(piece):
    """Tell whether a condition reads both sides."""
    return bool(piece[2] and piece[3])


KEYS = {
    "school": (lambda row, _: row["school"], {"school"}, False),
    "age": (lambda row, _: row["age"], {"age"}, False),
    "disease": (lambda _, value: value, set(), True),
    "coalesce(age, 0) >= 30": (lambda row, _: (row["age"] or 0) >= 30, {"age"}, False),
}


@examples(40)
@given(release=releases(), conditions=st.lists(pieces(), max_size=3), key=st.sampled_from([None, *KEYS]))
def test_counts_are_those_of_the_worlds(tmp_path_factory, release, conditions, key):
    opened = sqlanon.open(write_release(tmp_path_factory.mktemp("worlds"), **release))
    where = " AND ".join(f"({sql})" for sql, *_ in conditions)
    wanted = oracle.count(release, [piece[1:] for piece in conditions], KEYS.get(key))
    text = f"COUNT(*) FROM release {'WHERE ' if where else ''}{where}"
    frame = opened.estimate(f"SELECT {text}" if key is None else f"SELECT {key} AS k, {text} GROUP BY 1")
    keys = [None] * len(frame) if key is None else [None if pd.isna(value) else value for value in frame["k"]]
    figures = [name for name in FIGURES if name in frame]
    found = dict(zip(keys, frame[figures].itertuples(index=False, name=None), strict=True))
    for name, counts in found.items():
        assert counts == pytest.approx(wanted[name][-len(figures) :], abs=1e-7), (name, text)
        assert len(figures) == 3 or wanted[name][0] == wanted[name][1] or any(joins(piece) for piece in conditions)
    everyone_hidden = all(oracle.hidden(values) for _, _, values, _ in release["people"])
    missing = {name: counts for name, counts in wanted.items() if name not in found}
    assert everyone_hidden or all(counts[0] == counts[2] == 0 for counts in missing.values()), missing
    opened.engine.connection.close()


# -- how large, what kinds ----------------------------------------------------------------------


def small(folder, quasi, people, hierarchies=None, **more):
    """Write a release of one group whose rows have flu, obesity, insomnia, … in turn."""
    given = [("", counts, values, 1) for counts, values in people]
    lines = sorted((1, (DISEASES[place % len(DISEASES)],), 1) for place in range(len(people)))
    merged = [(1, values, lines.count((1, values, 1))) for values in sorted({values for _, values, _ in lines})]
    kept = {"people": given, "lines": merged, "weights": WEIGHTS, "hierarchies": hierarchies or {}}
    return sqlanon.open(write_release(folder, quasi, undiverse="merge", **kept, **more))


@pytest.mark.parametrize(
    ("kind", "values", "condition"),
    [
        ("DATE", ("2020-01-01", "2021-01-01", "2022-01-01"), "day >= DATE '2021-01-01'"),
        ("TIMESTAMP", ("2020-01-01 01:00", "2021-01-01", "2022-01-01"), "year(day) >= 2021"),
        ("DECIMAL(6,2)", ("1.50", "2.25", "10.00"), "day >= 2.25"),
        ("DOUBLE", (-1e300, 0.5, 1e300), "day >= 0.5"),
        ("UTINYINT", (1, 200, 255), "day >= 200"),
    ],
)
def test_every_type_with_an_order_has_a_largest_alternative(tmp_path, kind, values, condition):
    people = [({}, values[:1]), ({}, values[1:2]), ({"day": 3}, values[2:]), ({"day": 2}, values[2:])]
    release = small(tmp_path / "release", {"day": kind}, people)
    # three alternatives: 1/3 the largest, 2/3 one of two values, of which one satisfies; two: 1/2 and 1/2
    frame = release.estimate(f"SELECT COUNT(*) FROM release WHERE {condition}")
    assert told(frame) == pytest.approx((1, 3, 1 + (1 / 3 + 1 / 3) + (1 / 2 + 1 / 4)))


def test_a_hierarchy_over_numbers_is_asked_by_numbers(tmp_path):
    tree = [["young", "any"], ["old", "any"], *([str(n), "young" if n < 40 else "old"] for n in range(30, 50))]
    people = [({}, ("31",)), ({"age": 2}, ("young",)), ({"age": 3}, ("any",))]
    release = small(tmp_path / "release", {"age": "BIGINT"}, people, {"age": tree})
    assert release.verify().holds, release.verify().failed()
    frame = release.estimate("SELECT COUNT(*) FROM release WHERE age + 1 > 39")
    assert told(frame) == pytest.approx((0, 2, 1 / 10 + 11 / 20))


def test_an_open_cell_is_certain_of_nothing(tmp_path):
    """No value is published below a largest one: what else the cell may hold is published nowhere."""
    people = [({"age": 2}, (20,)), ({}, (30,)), ({"age": 3}, (30,))]
    release = small(tmp_path / "release", {"age": "BIGINT"}, people)
    assert told(release.estimate("SELECT COUNT(*) FROM release WHERE age <= 30")) == (1, 3, 3)
    assert told(release.estimate("SELECT COUNT(*) FROM release WHERE age = 7")) == (0, 2, 0)
    ages = release.estimate("SELECT age, COUNT(*) FROM release GROUP BY age ORDER BY age").values.tolist()
    assert ages == [[20, 0, 2, pytest.approx(1 + 2 / 3)], [30, 1, 2, pytest.approx(1 + 1 / 3)]]


def test_where_all_rows_are_hidden_nothing_is_expected(tmp_path):
    lines = [(1, ("flu",), 1), (1, ("obesity",), 1)]
    people = [("", {}, ("*",), 1)] * 2
    hidden = {"quasi": {"age": "BIGINT"}, "people": people, "lines": lines, "weights": WEIGHTS, "hierarchies": {}}
    release = sqlanon.open(write_release(tmp_path / "release", **hidden))
    frame = release.estimate("SELECT COUNT(*) FROM release WHERE age > 3")
    assert frame[["certain", "possible"]].values.tolist() == [[0, 2]] and frame["expected"].isna().all()
    assert len(release.estimate("SELECT age, COUNT(*) FROM release GROUP BY age")) == 0
    assert told(release.estimate("SELECT COUNT(*) FROM release WHERE disease = 'flu'")) == (1,)


def test_many_values_are_asked_at_once_and_too_many_together_refused(tmp_path, monkeypatch):
    people = [({"a": 2, "b": 2}, (n, -n)) for n in range(200)]
    release = small(tmp_path / "release", {"a": "BIGINT", "b": "BIGINT"}, people)
    monkeypatch.setattr("sqlanon.estimation.cells.LARGEST_ANSWER", 30_000)
    frame = release.estimate("SELECT COUNT(*) FROM release WHERE a < 100 AND (b < -50 OR a > 30)")
    assert 0 < frame["certain"][0] < frame["expected"][0] < frame["possible"][0]
    for sql in ("SELECT COUNT(*) FROM release WHERE a > b * b", "SELECT a, COUNT(*) FROM release GROUP BY a"):
        with pytest.raises(AnswerError, match=r"more than 30,000; ask one column at a time, or coarser"):
            release.estimate(sql)


@pytest.mark.parametrize("name", NASTY_NAMES[::2])
def test_nasty_names(tmp_path, name):
    people = [({}, (20, "M")), ({name: 2}, (30, "F"))]
    other = NASTY_NAMES[NASTY_NAMES.index(name) - 1]
    release = small(tmp_path / "release", {name: "BIGINT", other: "VARCHAR"}, people)
    quoted = '"' + name.replace('"', '""') + '"'
    frame = release.estimate(f"SELECT {quoted}, COUNT(*) FROM release WHERE {quoted} > 5 GROUP BY 1 ORDER BY 1")
    assert frame.columns[0] == name
    assert frame.iloc[:, 1:].values.tolist() == [[1, 2, 1.5], [0, 1, 0.5]]


def test_nasty_values(tmp_path):
    words = [value for value in NASTY_VALUES if value]
    tree = [[value, "any"] for value in words]
    people = [({}, (value,)) for value in words] + [({"word": 2}, ("any",))]
    release = small(tmp_path / "release", {"word": "VARCHAR"}, people, {"word": tree})
    for value in words:
        quoted = "'" + value.replace("'", "''") + "'"
        counts = told(release.estimate(f"SELECT COUNT(*) FROM release WHERE word = {quoted}"))
        assert counts == pytest.approx((1, 2, 1 + 1 / len(words)))
    assert len(release.estimate("SELECT word, COUNT(*) FROM release GROUP BY ALL")) == len(words)


def test_columns_called_as_the_counts_are(tmp_path):
    people = [({}, (20, 1)), ({}, (30, 2))]
    release = small(tmp_path / "release", {"certain": "BIGINT", "possible": "BIGINT"}, people)
    frame = release.estimate("SELECT certain, COUNT(*), COUNT(*) FROM release GROUP BY certain ORDER BY certain")
    assert list(frame.columns) == [
        *("certain", "certain_2", "possible", "expected", "count_2_certain", "count_2_possible", "count_2_expected"),
    ]


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT SUM(age) FROM release", "answers COUNT(*) alone: SUM, AVG, quantiles and expressions were removed"),
        ("SELECT COUNT(age) FROM release", "answers COUNT(*) alone"),
        ("SELECT COUNT(*) FILTER (WHERE disease = 'flu') FROM release", "answers COUNT(*) alone"),
        ("SELECT 2 * COUNT(*) FROM release", "answers COUNT(*) alone"),
        ("SELECT COUNT(DISTINCT age) FROM release", "COUNT(DISTINCT x)"),
        ("SELECT COUNT(*) FROM release WHERE num = 't1'", "no column 'num' in the release"),
        ("SELECT COUNT(*) FROM release WHERE qiid = '22'", "no column 'qiid' in the release"),
        ("SELECT COUNT(*) FROM release WHERE disease1 = 'flu'", "no column 'disease1' in the release"),
        ("SELECT COUNT(*) FROM release WHERE read_text('x') = sex", "read_text"),
    ],
)
def test_what_is_not_answered(paper, sql, says):
    with pytest.raises(QueryError) as error:
        paper.estimate(sql)
    assert says in str(error.value)


def test_other_estimators_are_refused(paper):
    assert told(paper.estimate("SELECT COUNT(*) FROM release", "uniform")) == (6,)
    with pytest.raises(UsageError, match="no estimator 'ridge' for a release of uncertain; choose one of uni"):
        paper.estimate("SELECT COUNT(*) FROM release", "ridge")


def test_a_damaged_release_is_no_evidence(tmp_path):
    damaged = {**TABLE_8, "lines": TABLE_8["lines"][:-1]}
    release = sqlanon.open(write_release(tmp_path / "damaged", **damaged))
    with pytest.raises(ReleaseError, match="the release is damaged: 1 group is not as large in QIT as in ST"):
        release.estimate("SELECT COUNT(*) FROM release")
    old = [(*person[:2], ("Master", "old", "M"), 3) if person[0] == "t5" else person for person in TABLE_8["people"]]
    release = sqlanon.open(write_release(tmp_path / "wrong", **{**TABLE_8, "people": old}))
    with pytest.raises(ReleaseError, match="cannot be read as uncertain data"):
        release.estimate("SELECT COUNT(*) FROM release")


# -- the command line ---------------------------------------------------------------------------


def test_estimate_on_the_command_line(shell):
    release, sql = PAPERS / "uncertain" / "release", "SELECT COUNT(*) AS n FROM release WHERE education = 'Master'"
    done = shell("estimate", release, sql, "--format", "json")
    assert json.loads(done.stdout) == [{"n_certain": 1, "n_possible": 5, "n_expected": 2.5}]
    assert done.stderr.startswith("2 rows are hidden behind '*'")
    assert shell("estimate", release, sql, "--format", "csv").stdout == "n_certain,n_possible,n_expected\n1.0,5.0,2.5\n"
    texts = shell("estimate", release, sql, "--sql")
    assert texts.returncode == 0
    for name in ("unfolded", "cell_1", "marked_1", "spread_1", "hit_1", "person_hit", "moment", "hidden"):
        assert f"-- {name}\n" in texts.stdout
    refused = shell("estimate", release, "SELECT SUM(disease) FROM release")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "answers COUNT(*) alone" in refused.stderr


def test_the_session_leaves_nothing_behind(paper):
    before = paper.engine.rows("select table_name from duckdb_tables() where temporary")
    paper.estimate("SELECT sex, COUNT(*) FROM release WHERE age > 3 OR disease = 'flu' GROUP BY sex")
    after = paper.engine.rows("select table_name from duckdb_tables() where temporary")
    assert sorted(map(str, before)) == sorted(map(str, after)) or not before
    paper._open_session().close()
    assert not paper.engine.rows("select table_name from duckdb_tables() where temporary")
