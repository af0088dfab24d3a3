"""Uncertain data: the paper's tables, then properties judged by a slow oracle, then everything that is refused."""

import collections
import json
import stat

import duckdb
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import constant_table, ident
from tests.conftest import NASTY_NAMES, NASTY_VALUES, PAPERS
from tests.databases import insert
from tests.examples import examples
from tests.oracles.generalized import determined

KEY = "0f" * 32
PAPER = PAPERS / "uncertain"
EDUCATION = {
    **dict.fromkeys(("Bachelor", "Master", "Ph.D"), "University"),
    **dict.fromkeys(("Primary School", "Second School"), "School"),
    **dict.fromkeys(("University", "School"), "Education"),
}
ASKED = {
    "quasi": ["education", "age", "sex"],
    "sensitive": "disease",
    "k": 2,
    "l": 2,
    "threshold": 0.3,
    "influence": PAPER / "influence.csv",
    "hierarchy": {"education": PAPER / "education.csv"},
}


def published(con, source=PAPER / "table_6.csv", **changed):
    """Publish the paper's table, or another with its columns."""
    return sqlanon.uncertain(con, source, **{**ASKED, "alternatives": "braces", **changed})


def tables(release):
    """Return QIT and ST of a release as lists of tuples."""
    return [release.table(name).fetchall() for name in ("qit", "st")]


def texts(release):
    """Return QIT and ST of a release as lists of texts, whatever the types of their values."""
    read = "select cast(columns(*) as varchar) from"
    return [
        [[*row.values()] for row in release.engine.rows(f"{read} {release.tables[name]}")] for name in ("qit", "st")
    ]


def without_groups(release):
    """Return the quasi values of QIT's rows, and how many rows ST has of each value, whoever stands in which group."""
    qit, st = texts(release)
    counts = collections.Counter()
    for _, *values, count in st:
        counts[tuple(values)] += int(count)
    return collections.Counter(tuple(row[:-1]) for row in qit), counts


def refused(con, error, source=PAPER / "table_6.csv", **changed):
    """Return the message of a publication that is refused; nothing stays in the database."""
    with pytest.raises(error) as caught:
        published(con, source, **changed)
    assert con.execute("select count(*) from duckdb_tables() where temporary").fetchall() == [(0,)]
    return str(caught.value)


def filled(con, rows, columns="education varchar, age integer, sex varchar, disease varchar"):
    """Make the table `t` of these rows."""
    con.execute(f"create or replace table t ({columns})").fetchall()
    insert(con, "t", rows)
    return "t"


# -- the paper -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "hierarchy"), [("table_6.csv", "education.csv"), ("table_6.parquet", "education_levels.csv")]
)
def test_tables_6_to_8(con, file, hierarchy):
    release = published(
        con,
        PAPER / file,
        label="num",
        undiverse="suppress",
        alternatives="braces" if file.endswith("csv") else "lists",
        hierarchy={"education": PAPER / hierarchy},
    )
    expected = sqlanon.open(PAPER / "release")
    assert tables(release) == [expected.table(name).fetchall() for name in ("qit", "st")]
    assert release.table("qit").columns == ["num", "qiid", "alternatives", "education", "age", "sex", "group_id"]
    assert release.table("st").columns == ["group_id", "disease1", "disease2", "count"]
    said, wanted = release.manifest["parameters"], expected.manifest["parameters"]
    for name in ("k", "l", "threshold", "undiverse", "max_alternatives", "order_alternatives"):
        assert said[name] == wanted[name]
    assert sorted(map(tuple, said["hierarchies"]["education"])) == sorted(EDUCATION.items())
    assert {line["value"]: line["weight"] for line in said["weights"]} == {
        line["value"]: line["weight"] for line in wanted["weights"]
    }
    assert said["types"]["education"] == "VARCHAR" and said["types"]["sex"] == "VARCHAR"
    assert release.manifest["columns"] == expected.manifest["columns"]
    assert release.manifest["guarantee"] == {"k": 2, "l": 2, "threshold": 0.3}
    assert release.verify().holds


def test_table_6_with_merges(con):
    qit, st_ = tables(published(con, label="num"))
    assert [row[:2] for row in qit] == [
        ("t1", "22"), ("t2", "0"), ("t3", "0"), ("t4", "2232"), ("t5", "0"), ("t6", "0"),
    ]  # fmt: skip
    assert {row[3:6] for row in qit} >= {("University", 25, "M"), ("University", 48, "M"), ("Ph.D", 36, "F")}
    sizes = collections.Counter(row[-1] for row in qit)
    assert sorted(sizes.values()) == [2, 2, 2], "the group that is not diverse is dealt out anew with a neighbour"
    assert sum(row[-1] for row in st_) == 6


def test_table_5_is_table_4(con):
    asked = {"quasi": ["education"], "label": "num", "influence": PAPER / "influence.csv", "key": KEY}
    con.execute(f"create view seen as select *, 1 as age, 2 as sex from '{PAPER / 'influence.csv'}'").fetchall()
    as_cells = published(con, PAPER / "table_4.csv", **asked)
    as_rows = published(con, PAPER / "table_5.csv", alternatives="lists", alternative_of="num", **asked)
    assert tables(as_rows)[0] and [row[:4] for row in tables(as_rows)[0]] == [row[:4] for row in tables(as_cells)[0]]
    assert tables(as_cells)[0][0][:4] == ("t1", "22", [{"attribute": "education", "count": 2}], "University")
    assert {row[1:] for row in tables(as_rows)[1]} == {row[1:] for row in tables(as_cells)[1]}
    assert as_rows.manifest["parameters"]["alternative_of"] == "num"
    assert as_rows.manifest["rows"] == 6


# -- the deterministic table, by an oracle ----------------------------------------------------------------

LEAVES = [child for child in EDUCATION if child not in EDUCATION.values()]
DISEASES = ["flu", "obesity", "insomnia", "short breath", "lung cancer", "mammary cancer", "AIDS"]


def cells(values):
    """Return lists of one to three values, doubles among them."""
    return st.lists(st.sampled_from(values), min_size=1, max_size=3)


ROW = st.tuples(
    st.one_of(st.none(), cells(LEAVES)),
    st.one_of(st.none(), cells(range(20, 60))),
    st.sampled_from("FM"),
    cells(DISEASES),
)


@examples(10, HealthCheck.function_scoped_fixture)
@given(
    rows=st.lists(ROW, min_size=4, max_size=24),
    k=st.integers(2, 4),
    undiverse=st.sampled_from(["merge", "suppress"]),
    order=st.sampled_from(["given", "sorted"]),
    fresh=st.booleans(),
)
def test_what_is_published_is_the_deterministic_table(con, rows, k, undiverse, order, fresh):
    con.execute("drop table if exists t").fetchall()
    filled(con, rows, "education varchar[], age integer[], sex varchar, disease varchar[]")
    asked = {"k": k, "undiverse": undiverse, "order_alternatives": order, "alternatives": "lists"}
    try:
        release = published(con, "t", key=None if fresh else KEY, **asked)
    except sqlanon.DataError as error:
        same = {frozenset(row[3]) for row in rows}
        assert len(same) == 1 or len(set().union(*same)) < 2, error  # nothing that could be diverse
        return
    qit, sets = tables(release)
    expected = collections.Counter(determined(row[:3], {0: EDUCATION}) for row in rows)
    hidden = sum(1 for row in qit if row[2:5] == ("*", "*", "*"))
    found = collections.Counter(
        (row[0], (row[2], row[3] if row[3] is None or undiverse == "merge" else int(row[3]), row[4]))
        for row in qit
        if row[2:5] != ("*", "*", "*")
    )
    assert found <= expected and (expected - found).total() == hidden
    assert hidden == 0 or undiverse == "suppress"
    for qiid, listed, *_ in qit:
        places = {"education": 2, "age": 3}
        assert qiid == ("".join(f"{places[one['attribute']]}{one['count']}" for one in listed) or "0")
    groups = collections.Counter(row[-1] for row in qit)
    counted = collections.Counter()
    for group, *values, count in sets:
        counted[frozenset(value for value in values if value is not None)] += count
        groups[group] -= count
        known = [value for value in values if value is not None]
        assert values[: len(known)] == known and (order == "given" or known == sorted(known))
    assert not any(groups.values()), "QIT and ST agree on every group"
    assert counted == collections.Counter(frozenset(row[3]) for row in rows)
    assert min(collections.Counter(row[-1] for row in qit).values()) >= k
    assert sorted({row[-1] for row in qit}) == list(range(1, len({row[-1] for row in qit}) + 1))
    assert qit == sorted(qit, key=lambda row: [(value is None, value) for value in (row[0], *row[2:])])
    assert release.verify().holds


# -- certain data -----------------------------------------------------------------------------------------


def test_a_list_of_one_is_its_value(con):
    con.execute("create table t as select i, i % 5 as q, nullif(i % 4, 3) as s from range(60) r(i)").fetchall()
    con.execute("create table many as select i, [q] as q, [s] as s from t where s is not null").fetchall()
    asked = {"quasi": "q", "sensitive": "s", "id": "i", "k": 3, "l": 2, "threshold": 0.1, "influence": "learn"}
    asked |= {"key": KEY, "nulls": "drop"}
    plain, listed = (sqlanon.uncertain(con, name, **asked) for name in ("t", "many"))
    # draws are of the rows, and a list is another row than its value: groups differ in who is in them
    assert listed.verify().holds and without_groups(listed) == without_groups(plain)


@pytest.mark.parametrize("undiverse", ["merge", "suppress"])
def test_a_star_of_the_sources_own(con, undiverse):
    con.execute("create table t as select case i % 3 when 0 then '*' else 'a' end as q, i % 2 as s"
                " from range(30) r(i)").fetchall()  # fmt: skip
    asked = {"quasi": "q", "sensitive": "s", "k": 3, "l": 2, "threshold": 0.1, "influence": "learn"}
    if undiverse == "suppress":
        with pytest.raises(sqlanon.DataError, match=r"10 cells of 'q' hold \*, which stands for what is suppressed"):
            sqlanon.uncertain(con, "t", undiverse=undiverse, **asked)
        return
    release = sqlanon.uncertain(con, "t", undiverse=undiverse, **asked)
    assert collections.Counter(row[2] for row in tables(release)[0]) == {"*": 10, "a": 20}
    assert release.verify(against="t").holds


@pytest.mark.parametrize(
    ("cell", "advice"),
    [("{}", r'a view with left\("disease", 4096\) as "disease", or'), ("[{}, 'd8']", "shorter altern")],
)
def test_a_sensitive_value_too_long_for_a_manifest_is_refused_before_anything_is_made(con, tmp_path, cell, advice):
    text = "repeat('x', if(i % 7 = 0, {letters}, 1 + i % 7))"
    roles = {"quasi": ["age"], "sensitive": "disease", "k": 4, "l": 2, "threshold": 0.05, "influence": "learn"}
    for letters in (4096, 4097):
        values = cell.format(text.format(letters=letters))
        con.execute(
            f"create or replace table wide as select i % 40 as age, {values} as disease from range(400) t(i)"
        ).fetchall()
        if letters == 4096:
            release = sqlanon.uncertain(con, "wide", out=tmp_path / "release", **roles)
            assert release.verify().holds
    with pytest.raises(
        sqlanon.DataError, match=f"^1 of the values of 'disease' are longer than 4,096 letters.*{advice}"
    ):
        sqlanon.uncertain(con, "wide", out=tmp_path / "refused", **roles)
    assert not (tmp_path / "refused").exists()


def test_rows_without_a_sensitive_value_are_dropped_on_demand(con):
    rows = [(["Master"], [30], "F", ["flu"]), (["Master"], [31], "F", None), (["Ph.D"], [32], "F", ["obesity"])]
    source = filled(con, rows, "education varchar[], age integer[], sex varchar, disease varchar[]")
    release = published(con, source, alternatives="lists", nulls="drop")
    assert (release.manifest["rows"], release.manifest["dropped_rows"]) == (2, 1)
    con.execute("create table rows as select i as num, 'Master' as education, 30 as age, 'F' as sex,"
                " case when i < 3 then (['flu', 'obesity', 'AIDS'])[1 + i] end as disease"
                " from (values (0), (1), (2), (3), (3)) r(i)").fetchall()  # fmt: skip
    release = published(con, "rows", alternatives="lists", nulls="drop", alternative_of="num")
    assert (release.manifest["rows"], release.manifest["dropped_rows"]) == (3, 1), "one tuple of two rows"


# -- draws ---------------------------------------------------------------------------------------------


def uncertain_people(con, rows):
    con.execute(
        "create or replace table people as select i as ssn,"
        f" case i % 10 when 0 then {LEAVES[:2]} when 1 then {LEAVES[1:4]} else [({LEAVES})[1 + i % 5]] end"
        " as education,"
        " case i % 7 when 0 then [20 + i % 50, 30 + i % 9] else [20 + i % 50] end as age,"
        f" case i % 2 when 0 then 'F' else 'M' end as sex,"
        f" case i % 11 when 0 then {DISEASES[:2]} else [({DISEASES})[1 + i * i % 7]] end as disease"
        f" from range({rows}) r(i)"
    ).fetchall()
    return con


@pytest.mark.parametrize("identifier", [["ssn"], []])
def test_one_key_gives_one_release_on_any_number_of_threads_and_in_any_order(con, identifier):
    uncertain_people(con, 600).execute("create table shuffled as select * from people order by random()").fetchall()
    found = []
    for source, threads in (("people", 1), ("people", 2), ("shuffled", 4)):
        con.execute(f"set threads = {threads}").fetchall()
        found.append(tables(published(con, source, alternatives="lists", id=identifier, k=5, key=KEY)))
    assert found[0] == found[1] == found[2]


# -- what is learned ---------------------------------------------------------------------------------------


def test_a_learned_matrix_is_association_and_rarity(con, tmp_path):
    con.execute("create table t as select case when i % 2 = 0 then 'F' else 'M' end as sex, i % 3 as noise,"
                " 20 + i % 40 as age, case when i % 2 = 0 then 'a' when i % 10 = 1 then 'rare' else 'b' end as disease"
                " from range(600) r(i)").fetchall()  # fmt: skip
    asked = {"quasi": ["sex", "noise", "age"], "sensitive": "disease", "k": 4, "l": 2, "threshold": 0.05}
    saved = tmp_path / "influence.csv"
    release = sqlanon.uncertain(con, "t", influence="learn", save_influence=saved, **asked)
    heads, *lines = release.learned["influence"]
    assert heads == ("disease", "sex", "noise", "age", "weight")
    learned = {line[0]: line[1:] for line in lines}
    assert learned["a"][:2] == [1.0, 0.0], "sex tells who has a, noise tells nothing"
    assert learned["a"][3] < learned["b"][3] < learned["rare"][3], "what is rare weighs more"
    # grades 0.3 and 0.8 and a step, of what lies between the threshold and 1
    assert learned["a"][3] == pytest.approx(0.05 + 0.95 * 0.31)
    assert learned["rare"][3] == pytest.approx(0.05 + 0.95 * 0.81)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    text = saved.read_text().splitlines()
    assert text[0] == "disease,sex,noise,age,weight" and len(text) == 4
    again = sqlanon.uncertain(con, "t", influence=saved, key=KEY, **asked)
    assert again.manifest["parameters"]["weights"] == release.manifest["parameters"]["weights"]
    assert "influence" not in json.dumps(release.manifest) and str(tmp_path) not in json.dumps(again.manifest)
    with pytest.raises(sqlanon.TargetError, match="exists; choose another save_influence or say overwrite=True"):
        sqlanon.uncertain(con, "t", influence="learn", save_influence=saved, **asked)
    with pytest.raises(sqlanon.DataError, match="L = 9"):  # what was learned is kept although nothing is published
        sqlanon.uncertain(con, "t", influence="learn", save_influence=saved, overwrite=True, **{**asked, "l": 9})
    assert saved.read_text().splitlines() == text
    with pytest.raises(sqlanon.TargetError, match="no directory"):
        sqlanon.uncertain(con, "t", influence="learn", save_influence=tmp_path / "no" / "where.csv", **asked)


def test_groups_of_one_value_are_told_first(con, tmp_path):
    value = "case when i < 12 then 'flu' when i % 2 = 0 then 'cold' else 'cough' end"
    con.execute(f"create table t as select i as q, {value} as s from range(24) r(i)").fetchall()
    (tmp_path / "influence.csv").write_text("s,q,weight\nflu,1,.1\ncold,1,.6\ncough,1,.7\n")
    asked = {"quasi": "q", "sensitive": "s", "k": 3, "l": 2, "threshold": 0.5}
    release = sqlanon.uncertain(con, "t", influence=tmp_path / "influence.csv", **asked)
    first, second, *_ = release.verify().checks
    assert (first.name, first.required, first.holds) == ("one_value", "reported", None) and second.name == "files"
    # counted one by one
    sizes = collections.Counter(row[-1] for row in release.table("qit").fetchall())
    values = collections.defaultdict(set)
    for group, value, _ in release.table("st").fetchall():
        values[group].add(value)
    alike = [group for group, held in values.items() if len(held) == 1]
    assert {"flu"} == set().union(*(values[group] for group in alike)) and len(alike) == 4
    assert first.found == {"groups_of_one_value": 4, "rows_known_for_certain": sum(sizes[group] for group in alike)}


def test_the_correlation_ratio_is_the_statistic_of_the_oracle(con):
    """Influences are grades of sqrt(max(0, (eta^2 - c) / (1 - c))) with c = (categories - 1) / (n - 1)."""
    rows = [(i * 7 % 5, (i * i + i // 3) % 4, 100 + i % 17 * (i % 3)) for i in range(400)]
    con.execute("create table t (q integer, s integer, z integer)").fetchall()
    insert(con, "t", rows)
    con.execute("alter table t alter q type varchar").fetchall()
    release = sqlanon.uncertain(con, "t", quasi=["q", "z"], sensitive="s", k=4, l=2, threshold=0.1, influence="learn")
    low, high = min(row[2] for row in rows), max(row[2] for row in rows)
    for line in release.learned["influence"][1:]:
        for place, category in ((1, lambda row: row[0]), (2, lambda row: min(7, 8 * (row[2] - low) // (high - low)))):
            held = collections.defaultdict(list)
            for row in rows:
                held[category(row)].append(str(row[1]) == line[0])
            share = sum(map(sum, held.values())) / len(rows)
            between = sum(len(ones) * (sum(ones) / len(ones) - share) ** 2 for ones in held.values())
            chance = (len(held) - 1) / (len(rows) - 1)
            ratio = between / (len(rows) * share * (1 - share))
            strength = max(0, (ratio - chance) / (1 - chance)) ** 0.5
            scale = ((0.5, 1), (0.3, 0.8), (0.1, 0.4), (0.03, 0.1))
            assert line[place] == next((grade for bound, grade in scale if strength >= bound), 0)


def test_values_of_equal_mass_are_of_one_grade_in_any_order_and_on_any_number_of_threads(con):
    """Thirds, sevenths and whole rows that come to the same mass: no float sum decides a grade."""
    con.execute(
        "create table t as select [(i + j) % 9 for j in range([1, 3, 6, 7][1 + i // 9 % 4])] as disease,"
        " ['x', 'y', 'z'][1 + i * i % 7 % 3] as sex, i * i % 101 as age from range(9 * 4 * 60) r(i)"
    ).fetchall()
    con.execute("insert into t select [100], 'x', 5 from range(240)").fetchall()  # whole rows, as many as the others
    con.execute("create table backwards as select list_reverse(disease) as disease, sex, age from t order by random()")
    found = []
    for source, threads in (("t", 1), ("t", 2), ("backwards", 4), ("backwards", 1)):
        con.execute(f"set threads = {threads}").fetchall()
        asked = {"quasi": ["sex", "age"], "sensitive": "disease", "k": 4, "l": 2, "threshold": 0.1}
        release = sqlanon.uncertain(con, source, influence="learn", key=KEY, **asked)
        found.append(release.learned["influence"])
    assert all(one == found[0] for one in found)
    assert len(found[0]) == 11
    weights = [line[-1] for line in found[0][1:]]
    assert sorted(weights) == pytest.approx([0.1 + 0.9 * (0.3 + 0.01 * place) for place in range(1, 11)])


# -- hierarchies that are none --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("child,parent\na,b\nb,c\nc,a\n", "goes in a circle, in rows 1, 2, 3"),
        ("child,parent\na,a\n", "goes in a circle, in row 1"),
        (
            "child,parent\nMaster,University\nMaster,School\n",
            "the hierarchy of 'education' gives a node two parents, in rows 1, 2",
        ),
        ("l0,l1,l2\na,x,all\na,y,all\n", "gives a node two parents, in rows 1, 2"),
        ("child,parent\na,x\nb,y\n", "has 2 roots, in rows 1, 2; every value leads to one root"),
        (
            f"child,parent\na,x\n{'b' * 4097},x\n",
            "row 2 of the hierarchy of 'education' has a node of more than 4,096 letters",
        ),
        ("child,parent\na,\nb,x\n", "row 1 of the hierarchy of 'education' has an empty cell"),
        ("child\na\n", "has 1 column; give two (child, parent), or one per level from leaf to root"),
        ("child,parent\n", "has no rows; give child,parent rows"),
        ("child,parent\n" + "".join(f"n{i},n{i + 1}\n" for i in range(70)), "is more than 64 levels high"),
    ],
)
def test_hierarchies_that_are_none(con, tmp_path, text, words):
    (tmp_path / "h.csv").write_text(text)
    assert words in refused(con, sqlanon.UsageError, hierarchy={"education": tmp_path / "h.csv"})


def test_values_outside_a_hierarchy_are_named(con):
    source = filled(con, [("Master", 30, "F", "flu"), ("Doctor's", 31, "M", "obesity"), ("University", 31, "M", "flu")])
    message = refused(con, sqlanon.UsageError, source, alternatives="lists")
    assert message == "1 values of 'education' are not in its hierarchy: \"Doctor's\""
    con.execute("delete from t where education like 'Doctor%'").fetchall()
    message = refused(con, sqlanon.UsageError, source, alternatives="lists")
    assert message == "1 values of 'education' are inner nodes of its hierarchy, and cells hold leaves: 'University'"


def test_an_inner_node_that_a_level_file_begins_with_is_a_value_too(con, tmp_path):
    (tmp_path / "icd.csv").write_text("l0,l1,l2\n250,250,all\n250.01,250,all\n251,251,all\n")
    con.execute("create table t as select [(['250', '250.01', '251'])[1 + i % 3]] as code, i % 4 as s"
                " from range(24) r(i)").fetchall()  # fmt: skip
    con.execute("insert into t values (['250', '250.01'], 0), (['250.01', '251'], 1)").fetchall()
    release = sqlanon.uncertain(
        con, "t", quasi="code", sensitive="s", k=2, l=2, threshold=0.1, influence="learn",
        hierarchy={"code": tmp_path / "icd.csv"},
    )  # fmt: skip
    found = collections.Counter((row[0], row[2]) for row in tables(release)[0])
    assert found == {("0", "250"): 8, ("0", "250.01"): 8, ("0", "251"): 8, ("22", "250"): 1, ("22", "all"): 1}
    assert ["250", "250"] in release.manifest["parameters"]["hierarchies"]["code"]
    assert release.verify().holds


def test_numbers_with_a_hierarchy_are_its_leaves(con, tmp_path):
    (tmp_path / "zip.csv").write_text("zip,area,all\n01,0*,*\n02,0*,*\n11,1*,*\n")
    con.execute("create table t as select (['01', '02', '11'])[1 + i % 3] as zip, i % 4 as s from range(24) r(i)")
    con.execute("insert into t values ('{01, 02}', 0), ('{01,11}', 1)").fetchall()
    release = sqlanon.uncertain(
        con, "t", quasi="zip", sensitive="s", k=2, l=2, threshold=0.1, influence="learn", alternatives="braces",
        hierarchy={"zip": tmp_path / "zip.csv"},
    )  # fmt: skip
    assert {row[2] for row in tables(release)[0] if row[0] == "22"} == {"0*", "*"}


def test_what_generalizes_to_a_root_called_star_is_not_suppressed(con, tmp_path):
    (tmp_path / "zip.csv").write_text("zip,area,all\n01,0*,*\n02,0*,*\n11,1*,*\n")
    con.execute("create table t as select case when i % 5 = 0 then ['01', '11'] else ['01'] end as zip, i % 4 as s"
                " from range(400) r(i)").fetchall()  # fmt: skip
    asked = {"quasi": "zip", "sensitive": "s", "k": 5, "l": 2, "threshold": 0.1, "influence": "learn", "key": KEY}
    release = sqlanon.uncertain(con, "t", undiverse="suppress", hierarchy={"zip": tmp_path / "zip.csv"}, **asked)
    report = release.verify(against="t")
    assert report.holds, report.failed()
    qit, _ = tables(release)
    starred = collections.Counter((row[0], bool(row[1])) for row in qit if row[2] == "*")
    assert starred["22", True] + report.figures["suppressed_rows"] == starred.total()
    assert starred["22", True] > 0, "roots are published with their marks"


@examples(60, HealthCheck.function_scoped_fixture)
@given(st.lists(st.text(" |12'\n", min_size=1, max_size=7), min_size=1, max_size=6), st.integers(0, 5))
def test_constants_come_back_as_they_went_in(con, values, missing):
    optional = [None if place == missing else value for place, value in enumerate(values)]
    table = constant_table({"value": ("varchar", values), "weight": ("double", [0.1] * len(values))}, {"o": optional})
    found = con.execute(render_query("constants", {"table": table}, {})).fetchall()
    assert found == [(value, 0.1, other) for value, other in zip(values, optional, strict=True)]


# -- influence files that are none ---------------------------------------------------------------------------

GOOD = (PAPER / "influence.csv").read_text()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("age", "edge", "has no column 'age'; its columns are the sensitive column, every quasi column and the weight"),
        ("flu,0,", "flu,1.5,", "'education' in row 1 is '1.5', not a number from 0 to 1"),
        ("flu,0,", "flu,nan,", "'education' in row 1 is 'nan', not a number from 0 to 1"),
        ("flu,0,", "flu,,", "'education' in row 1 is None, not a number from 0 to 1"),
        ("flu,0,", ",0,", "row 1 names no value"),
        ("0.92", "0.91", "rows 5 and 6 have the same weight"),
        ("obesity", "flu", "have the same value"),
        ("0.93", "9.3", "'weight' in row 7 is '9.3', not a number from 0 to 1"),
    ],
)
def test_influence_files_that_are_none(con, tmp_path, old, new, words):
    (tmp_path / "i.csv").write_text(GOOD.replace(old, new))
    assert words in refused(con, sqlanon.UsageError, influence=tmp_path / "i.csv")


def test_all_values_without_a_weight_are_named(con, tmp_path):
    lines = [line for line in GOOD.splitlines() if not line.startswith(("flu", "lung", "obesity"))]
    (tmp_path / "i.csv").write_text("\n".join(lines) + "\n")
    message = refused(con, sqlanon.UsageError, influence=tmp_path / "i.csv", show_values=True)
    assert message == (
        "3 sensitive values have no weight in the influence file; add a line for each: 'flu', 'lung cancer', 'obesity'"
    )
    unnamed = refused(con, sqlanon.UsageError, influence=tmp_path / "i.csv")
    assert unnamed == (
        "3 sensitive values have no weight in the influence file (show_values=True names them); add a line for each"
    )


def test_a_quasi_column_called_weight(con):
    con.execute("create table t as select i % 5 as weight, i % 3 as s from range(30) r(i)").fetchall()
    con.execute("create table w as select s, 1 as weight, s / 10 as weight_2 from range(3) r(s)").fetchall()
    asked = {"quasi": "weight", "sensitive": "s", "k": 2, "l": 2, "threshold": 0.1}
    release = sqlanon.uncertain(con, "t", influence="w", **asked)
    assert [line["weight"] for line in release.manifest["parameters"]["weights"]] == [0, 0.1, 0.2]


# -- cells that are none ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("{}", "1 cells of 'education' have nothing, or NULL, among their alternatives"),
        ("{Master, , Ph.D}", "1 cells of 'education' have nothing, or NULL, among their alternatives"),
        ("{Master", "1 cells of 'education' open a brace or close one without the other; write alternatives as {a, b}"),
        ("{Master, 7}", "1 cells of 'education' have numbers and text among their alternatives"),
        (
            "{{Master}, Ph.D}",
            "1 cells of 'education' have braces inside braces, or an alternative that begins",
        ),
        ('{"Master, Ph.D"}', "quotes and braces inside braces are not read; use lists"),
        ("{Master, 'Ph.D'}", "quotes and braces inside braces are not read; use lists"),
        ("{Bachelor, Master, Ph.D}", "1 cells of 'education' have more than 2 alternatives; raise max_alternatives"),
    ],
)
def test_braces_that_are_none(con, cell, words):
    source = filled(con, [(cell, 30, "F", "flu"), ("Master", 31, "M", "obesity")])
    assert words in refused(con, sqlanon.DataError, source, max_alternatives=2)


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("education", [], "1 cells of 'education' have nothing, or NULL, among their alternatives"),
        ("age", [None], "1 cells of 'age' have nothing, or NULL, among their alternatives"),
        ("age", [1, 2, 3], "1 cells of 'age' have more than 2 alternatives"),
        ("sex", ["F", "M"], "1 cells of 'sex' are uncertain, and nothing says what their alternatives have in common"),
        ("disease", ["flu", None], "1 cells of 'disease' have nothing, or NULL, among their alternatives"),
        ("disease", None, "1 row has no value in the sensitive column 'disease'; say nulls=\"drop\""),
    ],
)
def test_lists_that_are_none(con, column, cell, words):
    good = {"education": ["Master"], "age": [30], "sex": ["F"], "disease": ["flu"]}
    rows = [tuple(good.values()), tuple({**good, column: cell}.values())]
    source = filled(con, rows, "education varchar[], age integer[], sex varchar[], disease varchar[]")
    assert words in refused(con, sqlanon.DataError, source, alternatives="lists", max_alternatives=2)


@pytest.mark.parametrize("kind", ["json[]", "varchar[][]", "map(varchar, integer)"])
def test_lists_of_what_is_no_single_value(con, kind):
    con.execute(f"create table t (education {kind}, age integer, sex varchar, disease varchar)").fetchall()
    assert refused(con, sqlanon.UsageError, "t", alternatives="lists").startswith("column 'education' holds nested")


@pytest.mark.parametrize("role", ["id", "label", "alternative_of"])
def test_lists_where_single_values_are_wanted(con, role):
    con.execute("create table t as select ['a'] as num, 'Master' as education, 1 as age, 'F' as sex, 'flu' as disease")
    message = refused(con, sqlanon.UsageError, "t", **{role: "num"})
    assert message.startswith("column 'num' holds nested values")


# -- tuple-ors -----------------------------------------------------------------------------------------------


def tuples(con, rows):
    return filled(con, rows, "num varchar, note varchar, education varchar, age integer, sex varchar, disease varchar")


GOOD_TUPLES = [
    ("t1", "x", "Bachelor", 25, "M", "insomnia"),
    ("t1", "x", "Master", 27, "M", "flu"),
    ("t2", "y", "Master", 30, "M", "obesity"),
    ("t3", "y", "Master", None, "M", "flu"),
]


def test_alternative_rows_are_folded(con):
    source = tuples(con, GOOD_TUPLES)
    release = published(con, source, alternatives="lists", alternative_of="num", label="note", threshold=0.9)
    qit, sets = tables(release)
    assert [row[:2] + row[3:6] for row in qit] == [
        ("x", "2232", "University", 27, "M"),
        ("y", "0", "Master", 30, "M"),
        ("y", "0", "Master", None, "M"),
    ]
    assert {row[1:] for row in sets} == {("flu", "insomnia", 1), ("flu", None, 1), ("obesity", None, 1)}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((None, "y", "Master", 1, "M", "flu"), "1 row has no value in 'num', which ties alternative rows together"),
        (("t2", "z", "Master", 1, "M", "flu"), "1 tuples have alternative rows that differ in 'note': a label or an"),
        (("t1", "x", "Ph.D", 1, "M", "flu"), "1 tuples have more than 2 alternative rows; raise max_alternatives"),
        (("t2", "y", "Ph.D", 1, None, "flu"), "1 cells of 'sex' have nothing, or NULL, among their alternatives"),
        (("t2", "y", "Ph.D", 1, "M", None), "1 cells of 'disease' have nothing, or NULL, among their alternatives"),
        (("t2", "y", "Ph.D", 1, "F", "flu"), "1 cells of 'sex' are uncertain, and nothing says"),
    ],
)
def test_alternative_rows_that_are_none(con, row, words):
    source = tuples(con, [*GOOD_TUPLES, row])
    asked = {"alternatives": "lists", "alternative_of": "num", "label": "note", "max_alternatives": 2}
    assert words in refused(con, sqlanon.DataError, source, **asked)


def test_one_identifier_for_all_alternatives_of_a_row(con):
    source = tuples(con, GOOD_TUPLES)
    asked = {"alternatives": "lists", "alternative_of": "num", "id": "note", "threshold": 0.9}
    assert "1 person has more than one row" in refused(con, sqlanon.DataError, source, **asked)
    release = published(con, source, **asked, unit="row")
    assert release.manifest["rows"] == 3 and "note" not in json.dumps(release.manifest["columns"])


# -- parameters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"k": 1}, "k 1 puts nobody into a group with others"),
        ({"l": 1}, "l 1 asks for no difference"),
        ({"threshold": 0}, "threshold 0 is not above 0 and at most 1"),
        ({"threshold": 1.1}, "threshold 1.1 is not above 0 and at most 1"),
        ({"threshold": 1.0, "influence": "learn"}, "threshold=1.0 leaves no room for weights that are learned"),
        ({"threshold": float("nan")}, "threshold = nan is not a number"),
        ({"max_alternatives": 0}, "max_alternatives 0 is not a whole number from 1 to 1000"),
        ({"nulls": "value"}, 'nulls="value" is not for uncertain: NULL has no weight'),
        ({"sensitive": ["disease", "num"]}, "uncertain publishes one sensitive column, 2 were given"),
        ({"label": "age"}, "column 'age' stands in quasi and in label; a column has one role"),
        ({"label": "disease"}, "column 'disease' stands in sensitive and in label"),
        ({"label": "num", "id": "num"}, "column 'num' stands in id and in label"),
        ({"alternative_of": "sex"}, "column 'sex' stands in quasi and in alternative_of"),
        ({"label": "nobody"}, "no column 'nobody' in the source"),
        ({"save_influence": "x.csv"}, 'save_influence keeps what influence="learn" finds'),
        ({"hierarchy": "education.csv"}, "is not a mapping of column names to tables"),
        ({"alternatives": "commas"}, "alternatives = 'commas' is none of lists, braces"),
        ({"undiverse": "hide"}, "undiverse = 'hide' is none of merge, suppress, generalize"),
        ({"order_alternatives": "random"}, "order_alternatives = 'random' is none of given, sorted"),
        ({"threshold": "0.3"}, "threshold = '0.3' is not a number"),
        ({"influence": "nowhere.csv"}, "no file 'nowhere.csv'"),
    ],
)
def test_parameters_that_cannot_be_right(con, changed, words):
    assert words in refused(con, sqlanon.UsageError, **changed)


def test_what_this_data_does_not_allow(con):
    assert "K = 7 needs at least 7 rows; the source has 6" in refused(con, sqlanon.DataError, k=7)
    assert "L = 7 asks for 7 different weights" in refused(con, sqlanon.DataError, l=7)


@pytest.mark.parametrize("alternatives", ["lists", "braces"])
def test_names_that_meet_ours(con, alternatives):
    taken = ["qiid", "alternatives", "group_id", "count", "disease1", "label", "suppressed", "cluster"]
    taken += ["mark", "marks", "read", "counted", "part"]
    cell = "[i % 7, 7 + i % 3][: 1 + (i % 5 = {n})::int]" if alternatives == "lists" else "'{{' || i % 7 || ', 9}}'"
    columns = ", ".join(f"{cell.format(n=n % 5)} as {ident(name)}" for n, name in enumerate(taken))
    disease = "[i % 4, 4 + i % 2]" if alternatives == "lists" else "'{' || i % 4 || ', ' || 4 + i % 2 || '}'"
    con.execute(f"create table t as select {columns}, {disease} as disease from range(60) r(i)").fetchall()
    asked = {"sensitive": "disease", "k": 3, "l": 2, "threshold": 0.1, "influence": "learn"}
    release = sqlanon.uncertain(con, "t", quasi=taken, alternatives=alternatives, **asked)
    assert release.table("st").columns == ["group_id_2", "disease1_2", "disease2", "count_2"]
    assert release.table("qit").columns == ["qiid_2", "alternatives_2", *taken, "group_id_2"]
    report = release.verify(against="t")
    assert report.holds and report.figures["uncertain_rows"] > 0, report.failed()


def test_names_and_values_of_every_kind(con, tmp_path):
    names = [*NASTY_NAMES, "x"]
    columns = ", ".join(f"{ident(name)} varchar[]" for name in names)
    con.execute(f'create table "nasty; table" ({columns}, "sick ""ness" varchar[])').fetchall()
    rows = [
        [*([[NASTY_VALUES[(i + j) % len(NASTY_VALUES)]] for j in range(len(names))]), [NASTY_VALUES[i % 11]]]
        for i in range(44)
    ]
    rows[0][0], rows[0][-1] = [NASTY_VALUES[0], NASTY_VALUES[3]], NASTY_VALUES[:3]
    insert(con, '"nasty; table"', rows)
    con.execute("create table h (child varchar, parent varchar)").fetchall()
    insert(con, "h", [(value, "'; root") for value in NASTY_VALUES if value])
    asked = {"sensitive": 'sick "ness', "k": 3, "l": 2, "threshold": 0.01, "influence": "learn"}
    rest = dict.fromkeys(names[:1], "h")
    con.execute(f"delete from \"nasty; table\" where {ident(names[0])} = ['']").fetchall()
    release = sqlanon.uncertain(con, "nasty; table", quasi=names, hierarchy=rest, out=tmp_path / "r", **asked)
    assert release.verify().holds
    assert {one["attribute"] for row in tables(release)[0] for one in row[1]} == {names[0]}
    assert ("22", "'; root") in {(row[0], row[2]) for row in tables(release)[0]}


# -- shown, not run -------------------------------------------------------------------------------------------


SCRIPT = ["people", "--database", "people.duckdb", "--quasi", "education,age,sex", "--sensitive", "disease", "--id",
          "ssn", "-k", "5", "-L", "2", "--threshold", "0.3", "--max-alternatives", "2"]  # fmt: skip


@pytest.fixture
def uncertain_shell(shell):
    """Return the runner with the paper's files and the table `people` in people.duckdb."""
    connection = duckdb.connect(str(shell.folder / "people.duckdb"))
    uncertain_people(connection, 600).execute("delete from people where len(education) > 2").fetchall()
    connection.close()
    for name in ("education.csv", "influence.csv"):
        (shell.folder / name).write_text((PAPER / name).read_text())
    return shell


def test_what_runs_is_shown_and_holds_no_number_of_the_data(uncertain_shell):
    shell = uncertain_shell
    before = shell.left()
    asked = [*SCRIPT, "--hierarchy", "education=education.csv", "--influence", "learn", "--out", "r", "--sql"]
    shown = shell("publish", "uncertain", *asked, "--save-influence", "i.csv")
    assert shown.returncode == 0 and shell.left() == before
    assert "takes the place of" in shown.stdout and "; again from left_over on, while it is above 0" in shown.stdout
    connection = duckdb.connect(str(shell.folder / "people.duckdb"))
    connection.execute("delete from people where age[1] > 30").fetchall()
    connection.close()
    assert shell("publish", "uncertain", *asked).stdout == shown.stdout
    for words, said in (
        (["--hierarchy", "education"], "--hierarchy = 'education' is not COLUMN=FILE"),
        (
            ["--hierarchy", "age=a.csv", "--hierarchy", "AGE=a.csv"],
            "'AGE' is a column that is named twice",
        ),
        (["--save-influence", "i.csv"], "with a file there is nothing to save"),
    ):
        done = shell("publish", "uncertain", *SCRIPT, "--influence", "influence.csv", "--out", "r", *words)
        assert done.returncode == 2 and said in done.stderr


def test_what_was_learned_is_printed_for_an_expert_and_stands_in_no_release(uncertain_shell):
    asked = [*SCRIPT, "--influence", "learn", "--hierarchy", "education=education.csv", "--out", "r"]
    done = uncertain_shell("publish", "uncertain", *asked)
    assert done.returncode == 0, done.stderr
    _, _, matrix = done.stderr.partition("learned influence matrix\n")
    heads, *lines = matrix.splitlines()
    assert heads.split() == ["disease", "education", "age", "sex", "weight"]
    assert len(lines) > 3 and all(float(line.split()[-1]) > 0.3 for line in lines)


@pytest.mark.parametrize("threshold", [0.05, 0.99])
def test_no_value_is_harmless_because_it_is_frequent(con, threshold):
    con.execute("create table t as select i // 20 as q, case when i % 10 < 7 then 'flu' else 'd' || i % 7 end as s"
                " from range(400) r(i)").fetchall()  # fmt: skip
    asked = {"quasi": "q", "sensitive": "s", "k": 5, "l": 3, "threshold": threshold}
    release = sqlanon.uncertain(con, "t", influence="learn", **asked)
    assert all(line["weight"] > threshold for line in release.manifest["parameters"]["weights"])
    figures = release.verify().figures
    assert figures["least_weights"] == 3 and figures["largest_confidence"] < 1
    assert release.verify().checks[0].name == "files"
