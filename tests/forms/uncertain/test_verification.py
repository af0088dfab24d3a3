"""Releases of uncertain data: what was changed is found, and what the source says is compared with what is shown."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.plans.manifest import manifest_text
from tests.conftest import PAPERS
from tests.examples import examples
from tests.uncertain_release import WEIGHTS, write_release
from tests.verification.test_checks import change_behind, failed, rewritten

PAPER = PAPERS / "uncertain"
ROLES = {"quasi": ["education", "age", "sex"], "sensitive": "disease", "k": 2, "l": 2, "threshold": 0.3}
FILES = {"influence": PAPER / "influence.csv", "hierarchy": {"education": PAPER / "education.csv"}}


@pytest.fixture
def release(tmp_path):
    shutil.copytree(PAPER / "release", tmp_path / "release")
    return sqlanon.open(tmp_path / "release")


def test_the_papers_release_holds(release):
    report = release.verify()
    assert report.holds, report.failed()
    assert [check.name for check in report.checks] == [
        *("files", "columns", "manifest", "row_order", "cluster_size", "weights", "alternatives", "domains")
    ]
    figures = report.figures
    assert (figures["groups"], figures["suppressed_rows"], figures["uncertain_rows"]) == (3, 2, 2)
    assert (figures["uncertain_sensitive"], figures["least_weights"]) == (2, 3)
    assert figures["largest_confidence"] == 1  # both hidden rows have mammary cancer


SORTED = "order by num, qiid, education, age, sex, group_id"


def replaced(column, expression, person):
    return f"select * replace (if(num = '{person}', {expression}, {column}) as {column}) from this {SORTED}"


@pytest.mark.parametrize(
    ("name", "sql", "fails"),
    [
        ("qit", "select * from this order by group_id desc", {"row_order"}),
        ("st", "select * from this order by disease1", {"row_order"}),
        ("qit", replaced("qiid", "'22'", "t2"), {"alternatives"}),
        ("qit", replaced("alternatives", "[]", "t4"), {"alternatives"}),
        ("qit", replaced("alternatives", "null", "t2"), {"alternatives"}),
        ("qit", replaced("alternatives", "list_reverse(alternatives)", "t4"), {"alternatives"}),
        ("qit", replaced("alternatives", "[{'attribute': 'disease', 'count': 2}]", "t2"), {"alternatives"}),
        ("qit", replaced("education", "'Bachelor'", "t1"), {"alternatives"}),  # uncertain, but a leaf
        ("qit", replaced("education", "'University'", "t2"), {"alternatives"}),  # certain, but a node
        ("qit", replaced("education", "'Doctor'", "t5"), {"domains"}),
        ("qit", replaced("age", "'old'", "t5"), {"domains"}),
        ("qit", replaced("age", "'36'", "t6"), {"domains", "weights"}),  # half a row is no hidden row
        ("qit", replaced("group_id", "3", "t1"), {"cluster_size"}),
        ("st", "select * replace (count + 1 as count) from this", {"cluster_size", "manifest"}),
        ("st", "select * replace (if(group_id = 3, 'obesity', disease1) as disease1) from this", {"weights"}),
        ("st", "select * replace ('plague' as disease1) from this", {"weights"}),
        ("st", "select * replace (if(disease2 = 'flu', 'obesity', disease2) as disease2) from this", {"weights"}),
        ("st", "select * replace (null::int as disease2) from this", {"columns"}),
        ("qit", "select * replace ('22' as alternatives) from this", {"columns"}),
        ("qit", f"select * exclude (alternatives) from this {SORTED}", {"columns"}),
        ("qit", f"select * replace ([group_id] as group_id) from this {SORTED}", {"columns"}),
        ("st", "select * from this where false", {"cluster_size", "weights", "manifest"}),
    ],
)
def test_what_is_changed_is_found(release, name, sql, fails):
    report = rewritten(release, name, sql).verify()
    assert fails <= failed(report), report.failed()


def test_a_group_that_is_shown_must_pass(release):
    shown = "'Ph.D' as education, '35' as age, 'F' as sex"
    sql = f"select * replace ({shown}) from this where num in ('t3', 't6') union all from this where group_id <> 2"
    report = rewritten(release, "qit", f"select * from ({sql}) {SORTED}").verify()
    assert failed(report) == {"weights"}
    (check,) = [check for check in report.checks if check.name == "weights"]
    assert check.found["unsafe_groups"] == 1
    assert "or >= 2 different ones and rows that differ, or hidden" in check.required


@pytest.mark.parametrize("marked", [True, False])
def test_a_root_called_star_hides_no_group_that_fails(tmp_path, marked):
    """In group 2 everybody has one disease: only rows without any mark are hidden."""
    tree = [["Bachelor", "*"], ["Master", "*"]]
    counts = {"education": 2} if marked else {}
    people = [("a", {}, ("Master",), 1), ("b", {"education": 2}, ("*",), 1)]
    people += [(name, counts, ("*",), 2) for name in "cd"]
    lines = [(1, ("flu",), 1), (1, ("lung cancer",), 1), (2, ("lung cancer",), 2)]
    given = {"quasi": {"education": "VARCHAR"}, "people": people, "lines": lines, "weights": WEIGHTS, "label": "num"}
    report = sqlanon.open(write_release(tmp_path / "r", hierarchies={"education": tree}, **given)).verify()
    assert failed(report) == ({"weights"} if marked else set())
    assert report.figures["suppressed_rows"] == (0 if marked else 2)


def test_values_of_another_type_are_told_and_break_nothing(release):
    report = rewritten(release, "qit", replaced("age", "'old'", "t5")).verify(against=str(PAPER / "table_6.parquet"))
    assert {"domains", "quasi_rows"} <= failed(report)


def manifest_with(release, change):
    path = release.directory / "release.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(manifest_text(manifest))
    return release.directory


def parameter(name, value):
    return lambda manifest: manifest["parameters"].update({name: value})


def column(name, value):
    return lambda manifest: manifest["columns"].update({name: value})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            parameter("types", {"education": "VARCHAR", "age": "BIGINT) from x --", "sex": "VARCHAR"}),
            "has: parameters types age",
        ),
        (parameter("types", {"education": "VARCHAR"}), "KeyError 'age'"),
        (parameter("weights", []), "has: parameters weights"),
        (parameter("weights", [{"value": "flu", "weight": 0.1}, {"value": "cold", "weight": 0.1}]), "are equal"),
        (parameter("hierarchies", {"education": [["a", "b"], ["b", "a"]]}), "goes in a circle, in rows 1, 2"),
        (parameter("hierarchies", {"education": [["a", "b"], ["a", "c"]]}), "two parents, in rows 1, 2"),
        (parameter("hierarchies", {"education": [["a", 7]]}), "has: parameters hierarchies education 0 1"),
        (parameter("hierarchies", {"income": [["a", "b"]]}), "has: parameters hierarchies income"),
        (column("sensitive", ["disease", "income"]), "2 sensitive columns"),
        (column("values", "disease1"), "does not name its columns"),
        (column("values", ["age"]), "names a column twice"),
        (lambda manifest: manifest["columns"].pop("qiid"), "columns qiid is missing"),
    ],
)
def test_hostile_manifests_are_refused(release, change, says):
    folder = manifest_with(release, change)
    with pytest.raises(ReleaseError) as error:
        sqlanon.open(folder)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (parameter("k", 3), {"cluster_size", "manifest"}),
        (parameter("l", 4), {"weights", "manifest"}),
        (parameter("undiverse", "merge"), {"weights", "domains"}),
        (parameter("weights", [{"value": "flu", "weight": 0.1}]), {"weights"}),
        (lambda manifest: manifest["guarantee"].update(k=5), {"manifest"}),
    ],
)
def test_manifests_that_promise_more_are_found_out(release, change, fails):
    assert failed(sqlanon.open(manifest_with(release, change)).verify()) == fails


# -- groups pass as they should, against a slow oracle --------------------------------------------

SETS = st.sets(st.sampled_from(list(WEIGHTS)), min_size=1, max_size=3).map(lambda values: tuple(sorted(values)))


def passes(sets, l, threshold):
    weights = {WEIGHTS[value] for values in sets for value in values}
    return max(weights) < threshold or (len(weights) >= l and len(set(sets)) > 1)


@examples(25)
@given(
    groups=st.lists(st.lists(SETS, min_size=2, max_size=4), min_size=1, max_size=3),
    l=st.integers(2, 4),
    threshold=st.sampled_from([0.05, 0.12, 0.3, 0.915, 1.0]),
)
def test_groups_pass_as_the_paper_says(tmp_path_factory, groups, l, threshold):
    people = [("", {}, (20 + place, "M"), place) for place, sets in enumerate(groups, start=1) for _ in sets]
    lines = [(place, values, sets.count(values)) for place, sets in enumerate(groups, start=1) for values in set(sets)]
    folder = write_release(
        tmp_path_factory.mktemp("groups"),
        **{"quasi": {"age": "BIGINT", "sex": "VARCHAR"}, "people": people, "lines": lines, "weights": WEIGHTS},
        **{"hierarchies": {}, "l": l, "threshold": threshold},
    )
    opened = sqlanon.open(folder)
    report = opened.verify()
    (check,) = [check for check in report.checks if check.name == "weights"]
    assert check.found["unsafe_groups"] == sum(not passes(sets, l, threshold) for sets in groups)
    shares = [
        sum(1 / len(values) for values in sets if value in values) / len(sets)
        for sets in groups
        for value in {value for values in sets for value in values}
    ]
    assert report.figures["largest_confidence"] == pytest.approx(max(shares))
    opened.engine.connection.close()


# -- against the source ---------------------------------------------------------------------------


def published(con, source, **options):
    return sqlanon.uncertain(con, source, **{**ROLES, **FILES, **options})


@pytest.mark.parametrize(
    ("options", "undiverse"),
    [
        ({"source": "table_6.parquet"}, "merge"),
        ({"source": "table_6.parquet"}, "suppress"),
        ({"source": "table_6.parquet", "label": "num"}, "suppress"),
        ({"source": "table_6.csv", "alternatives": "braces", "label": "num"}, "merge"),
        ({"source": "table_5.csv", "alternative_of": "num", "quasi": ["education"], "influence": "learn"}, "suppress"),
        ({"source": "table_5.csv", "alternative_of": "num", "quasi": ["education"], "influence": "learn"}, "merge"),
        ({"source": "table_4.csv", "alternatives": "braces", "quasi": ["education"], "influence": "learn"}, "merge"),
    ],
)
def test_a_source_agrees_with_its_release_however_it_is_written(con, options, undiverse):
    source = PAPER / options["source"]
    release = published(con, **{**options, "source": source, "undiverse": undiverse})
    report = release.verify(against=str(source))
    assert report.holds, report.failed()
    assert [check.name for check in report.checks][-2:] == ["quasi_rows", "sensitive_counts"]
    assert report.checks[-2].found["missing_rows"] == report.figures["suppressed_rows"]


CHANGES = {
    "education = ['Bachelor']": {"quasi_rows"},
    "education = ['Bachelor', 'Ph.D']": set(),  # the same node of as many alternatives
    "age = [24, 25]": {"quasi_rows"},
    "sex = 'F'": {"quasi_rows"},
    "disease = ['flu']": {"sensitive_counts"},
    "disease = ['insomnia', 'flu']": {"sensitive_counts"},
    "disease = ['insomnia', 'insomnia'], education = ['Master', 'Bachelor', 'Master']": set(),
}


def test_another_source_is_told(con):
    release = published(con, str(PAPER / "table_6.parquet"))
    for change, checks in CHANGES.items():
        con.execute(f"create or replace table other as from '{PAPER / 'table_6.parquet'}'").fetchall()
        con.execute(f"update other set {change} where num = 't1'").fetchall()
        assert failed(release.verify(against="other")) == checks, change
    con.execute("delete from other where num = 't6'").fetchall()
    assert {"quasi_rows", "sensitive_counts"} <= failed(release.verify(against="other"))


def test_a_source_without_a_column_is_refused(con):
    release = published(con, str(PAPER / "table_6.parquet"), label="num")
    with pytest.raises(UsageError, match="no column 'num' in the source"):
        release.verify(against=con.sql(f"select * exclude (num) from '{PAPER / 'table_6.parquet'}'"))
    with pytest.raises(ReleaseError, match="column 'sex' holds nested values, which the release does not have"):
        release.verify(against=con.sql(f"select * replace ({{'a': 1}} as sex) from '{PAPER / 'table_6.parquet'}'"))


def test_rows_without_a_sensitive_value_are_missing_and_no_more(con):
    con.execute(f"create table holed as from '{PAPER / 'table_6.parquet'}'").fetchall()
    con.execute("insert into holed values ('t7', ['Master'], [50], 'F', null)").fetchall()
    release = published(con, "holed", nulls="drop")
    assert release.manifest["dropped_rows"] == 1
    assert release.verify(against="holed").holds
    assert failed(release.verify(against=str(PAPER / "table_6.parquet"))) == {"quasi_rows", "sensitive_counts"}


CERTAIN = {"sex": "(i % 2)::integer", "age": "(i % 16)::integer", "disease": "'d' || (hash(i, 4) % 9)"}
LISTED = {
    **CERTAIN,
    "age": "[(i % 16)::integer, 3][: 1 + i % 2]",
    "disease": "['d' || (hash(i, 4) % 9), 'd1'][: 1 + i % 3]",
}


@pytest.mark.parametrize("columns", [CERTAIN, LISTED])
@pytest.mark.parametrize(
    ("step", "change", "fails"),
    [
        ("determined", "quasi_2 = quasi_2 + 1", "quasi_rows"),
        ("determined", "cell_code = 3 - cell_code", "sensitive_counts"),
    ],
)
def test_a_row_that_is_changed_between_steps_is_found_before_anything_is_published(
    con, monkeypatch, tmp_path, columns, step, change, fails
):
    listed = ", ".join(f"{expression} as {name}" for name, expression in columns.items())
    con.execute(f"create table people as select {listed} from range(321) t(i)")

    def write_change(statement):
        if statement.name == step:
            row = f"select min(rowid) from {statement.relation} where quasi_2 = 5 and cell_code in (1, 2)"
            return f"update {statement.relation} set {change} where rowid = ({row})"
        return None

    roles = {"quasi": ["sex", "age"], "sensitive": "disease", "k": 4, "l": 2, "threshold": 0.05, "influence": "learn"}
    assert sqlanon.uncertain(con, "people", **roles).verify(against="people").holds
    changed = change_behind(monkeypatch, write_change)
    with pytest.raises(sqlanon.VerificationError, match=rf"{fails}.*added_rows: 1, missing_rows: 1"):
        sqlanon.uncertain(con, "people", out=tmp_path / "release", **roles)
    assert changed == [1] and not (tmp_path / "release").exists()


# -- the command line, and other engines ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["double", "float", "varchar"])
def test_a_zero_of_either_sign_is_one_number_and_two_texts(con, kind):
    con.execute(
        f"create table zeros as select i as id, (['0.0', '-0.0', '1.5'])[1 + i % 3]::{kind} as q, i % 7 as age,"
        " 'd' || i % 5 as disease from range(60) t(i)"
    )
    asked = {"quasi": ["q", "age"], "sensitive": "disease", "id": "id", "k": 4, "l": 2, "threshold": 0.3}
    release = sqlanon.uncertain(con, "zeros", **asked, influence="learn")
    report = release.verify(against="zeros")
    assert report.holds, report.failed()
