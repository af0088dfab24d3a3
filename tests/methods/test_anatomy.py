"""Anatomy: the paper's table, then properties judged by a slow oracle, then determinism and hostile names."""

import collections

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.plans.templates import ident
from tests.conftest import NASTY_NAMES, PAPERS
from tests.databases import insert
from tests.examples import examples

KEY = "0f" * 32
QUASI = ["age", "sex", "zipcode"]


def released(release):
    """Return QIT and ST of a release as lists of tuples."""
    return [release.table(name).fetchall() for name in ("qit", "st")]


def group_members(release):
    """Return per group the quasi tuples and the multiset of sensitive values."""
    qit, sensitive = released(release)
    members, values = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for *quasi, group in qit:
        members[group].append(tuple(quasi))
    for group, value, count in sensitive:
        values[group][value] += count
    return members, values


# -- the paper -----------------------------------------------------------------------------------------


def test_the_papers_release_is_2_diverse_with_its_reconstruction_error():
    report = sqlanon.open(PAPERS / "anatomy" / "release").verify(against=str(PAPERS / "anatomy" / "microdata.csv"))
    assert report.holds
    assert report.figures["reconstruction_error"] == 4.5
    assert report.figures["reconstruction_error_bound"] == 4
    assert report.figures["smallest_group"] == report.figures["largest_group"] == 4
    assert {check.name: check.found for check in report.checks}["confidence"] == 0.5


def test_the_papers_voters_are_present_surely_and_then_ill_with_one_half():
    release = sqlanon.open(PAPERS / "anatomy" / "release")
    report = release.verify(voters=str(PAPERS / "anatomy" / "voters.csv"))
    people = report.presence.set_index("age")  # names are not published, and not shown
    bob, ric = 23, 50
    assert people.loc[bob, ["presence", "confidence", "risk"]].tolist() == [1, 0.5, 0.5]
    assert people.loc[ric, "presence"] == 0
    assert people["risk"].sum() == 2
    assert report.figures["presence"] == {
        "voters": 6,
        "surely_present": 4,
        "mean_risk": pytest.approx(1 / 3),
        "largest_risk": 0.5,
    }


def test_the_papers_microdata_published_by_our_own_grouping(con):
    source = str(PAPERS / "anatomy" / "microdata.csv")
    release = sqlanon.anatomy(con, source, quasi=QUASI, sensitive="disease", id="name", l=2)
    members, values = group_members(release)
    assert sorted(len(rows) for rows in members.values()) == [2, 2, 2, 2]
    assert all(max(counted.values()) == 1 for counted in values.values())
    assert release.verify(against=source).holds


# -- properties, judged by enumeration -------------------------------------------------------------------


def largest_l(values):
    return len(values) // max(collections.Counter(values).values()) if values else 0


@given(
    values=st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", None]), min_size=2, max_size=60),
    l=st.integers(2, 6),
    block=st.sampled_from([1, 2, 3, 64, None]),
    key=st.integers(0, 5),
)
# a value's rows reach into the residual ones
@example(values=[str((i * i + i // 3) % 6) for i in range(19)], l=3, block=64, key=1)
@examples(40, HealthCheck.function_scoped_fixture)
def test_every_table_is_grouped_or_refused(con, values, l, block, key):
    con.execute("create or replace table t (person integer, q integer, s varchar)").fetchall()
    insert(con, "t", [(i, i % 7, value) for i, value in enumerate(values)])
    asked = {"quasi": ["q"], "sensitive": "s", "id": "person", "l": l, "block": block, "nulls": "value"}
    if largest_l(values) < l:
        with pytest.raises(sqlanon.DataError):
            sqlanon.anatomy(con, "t", key=f"{key:064x}", **asked)
        return
    release = sqlanon.anatomy(con, "t", key=f"{key:064x}", **asked)
    members, counted = group_members(release)
    groups = len(values) // l
    assert set(members) == set(counted) == set(range(groups))
    for group in range(groups):
        assert len(members[group]) == sum(counted[group].values())
        assert len(members[group]) in (len(values) // groups, -(-len(values) // groups))
        assert max(counted[group].values()) == 1
    assert collections.Counter(q for rows in members.values() for (q,) in rows) == collections.Counter(
        i % 7 for i in range(len(values))
    )
    assert sum(counted.values(), collections.Counter()) == collections.Counter(values)
    error = sum(len(rows) - 1 for rows in members.values())  # n - sum c^2 / n with every c = 1
    remainder = len(values) % l
    if len(values) >= l * (l - 1):
        assert error == pytest.approx(len(values) * (1 - 1 / l) + remainder / l)
    assert release.verify().figures["reconstruction_error"] == pytest.approx(error)


def test_every_row_of_a_value_meets_every_slot_equally_often(con):
    """Given the counts, ranks are uniform: a row's group must not depend on its quasi values or its id."""
    con.execute("create table t as select i as person, i as q, 'abc'[1 + i % 3] as s from range(6) r(i)").fetchall()
    seen = collections.Counter()
    keys = 12
    for key in range(keys):
        release = sqlanon.anatomy(con, "t", quasi="q", sensitive="s", id="person", l=3, key=f"{key:064x}")
        groups = dict(released(release)[0])
        seen[groups[0] == groups[1], groups[0] == groups[2]] += 1
    # rows 0, 3 are 'a', rows 1, 4 'b', rows 2, 5 'c': four equally likely outcomes
    assert len(seen) == 4
    chi_square = sum((count - keys / 4) ** 2 / (keys / 4) for count in seen.values())
    assert chi_square < 16.3  # 0.999 quantile with 3 degrees of freedom


def test_mixing_varies_the_company_of_a_value(con):
    con.execute("create table t as select i as person, i % 90 as q, i % 30 as s from range(30000) r(i)").fetchall()

    def company(block):
        release = sqlanon.anatomy(con, "t", quasi="q", sensitive="s", id="person", l=5, key=KEY, block=block)
        _, values = group_members(release)
        return len({tuple(sorted(counted)) for counted in values.values()})

    assert company(64) > 10 * company(None)


# -- draws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", [["ssn"], []])
def test_one_key_gives_one_release_on_any_number_of_threads_and_in_any_order(patients, identifier):
    con = patients
    con.execute("create table shuffled as select * from patients order by random()").fetchall()
    found = []
    for source, threads in (("patients", 1), ("patients", 2), ("shuffled", 4)):
        con.execute(f"set threads = {threads}").fetchall()
        release = sqlanon.anatomy(con, source, quasi=QUASI, sensitive="disease", id=identifier, l=4, key=KEY)
        found.append(released(release))
    assert found[0] == found[1] == found[2]


def test_one_key_gives_one_release_at_scale_on_any_number_of_threads(con):
    con.execute(
        "create table t as select i as person, i % 97 as q, (i * i) % 23 as s from range(200000) r(i)"
    ).fetchall()
    found = []
    for threads in (1, 2, 4):
        con.execute(f"set threads = {threads}").fetchall()
        release = sqlanon.anatomy(con, "t", quasi="q", sensitive="s", id="person", l=5, key=KEY)
        found.append([release.table(n).aggregate("count(*), sum(hash(columns(*)))").fetchall() for n in ("qit", "st")])
    assert found[0] == found[1] == found[2]


def test_the_key_stands_nowhere(patients, tmp_path):
    release = sqlanon.anatomy(
        patients,
        "patients",
        quasi=QUASI,
        sensitive="disease",
        id="ssn",
        l=4,
        key=KEY,
        out=tmp_path / "release",
    )
    texts = [release.sql, repr(release), str(release.manifest), release._repr_html_()]
    texts += [path.read_bytes().decode("latin-1") for path in (tmp_path / "release").iterdir()]
    tables = patients.execute("select table_name from duckdb_tables()").fetchall()
    assert not any(KEY in text for text in texts)
    assert tables == [("patients",)], "nothing of the run stays in the database"


# -- hostile names and values ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 6, 12, 18])
def test_nasty_names_in_each_role(con, place):
    names = NASTY_NAMES[place:] + NASTY_NAMES[:place]
    sensitive, quasi, person = names[:1], names[1:10], names[10:]
    columns = [f"i % 4 as {ident(sensitive[0])}", *(f"i % 5 as {ident(name)}" for name in quasi),
               *(f"i as {ident(name)}" for name in person)]  # fmt: skip
    con.execute(f"create table t as select {', '.join(columns)} from range(40) r(i)").fetchall()
    release = sqlanon.anatomy(con, "t", l=2, key=KEY, quasi=quasi, sensitive=sensitive, id=person)
    assert release.verify(against="t").holds


def test_values_that_an_enum_has_and_the_rows_do_not_are_published_nowhere(con, tmp_path):
    con.execute("create type mood as enum ('b', 'a', 'never seen', 'ü')").fetchall()
    con.execute("create table t as select (['b', 'a', 'ü'])[1 + i % 3]::mood as q, (['a', 'b', 'ü'])[1 + i % 3]::mood"
                " as s from range(42) r(i)").fetchall()  # fmt: skip
    release = sqlanon.anatomy(con, "t", quasi="q", sensitive="s", l=2, key=KEY, out=tmp_path / "release")
    assert "never seen" not in "".join(map(str, release.engine.columns("from " + release.tables["qit"]).values()))
    assert not any(b"never seen" in path.read_bytes() for path in (tmp_path / "release").iterdir())


# -- what must not stand in for randomness ------------------------------------------------------------------


@pytest.mark.parametrize("names", [("rowid", "file_row_number", "file_index"), ("RowID",)])
def test_columns_named_as_the_engines_row_numbers_do_not_number_rows(con, tmp_path, names):
    columns = ", ".join(f"0 as {name}" for name in names)
    con.execute(
        f"create table t as select {columns}, i as age, if(i % 2 = 0, 'a', 'b') as d from range(16) r(i)"
    ).fetchall()
    con.execute(f"copy t to '{tmp_path}/t.parquet' (format parquet)").fetchall()
    for source in ("t", str(tmp_path / "t.parquet")):
        drawn = [sqlanon.anatomy(con, source, quasi="age", sensitive="d", l=2) for _ in range(3)]
        assert len({str(sorted(release.table("qit").fetchall())) for release in drawn}) == 3


def test_one_key_gives_one_release_in_every_time_zone(con):
    con.execute(
        "create table t as select timestamptz '2024-03-01 12:00:00+00' + to_hours(i) as seen, i % 4 as s"
        " from range(48) r(i)"
    ).fetchall()
    found = []
    for zone in ("UTC", "Asia/Tokyo"):
        con.execute(f"set TimeZone = '{zone}'").fetchall()
        release = sqlanon.anatomy(con, "t", quasi="seen", sensitive="s", l=3, key=KEY)
        found.append(con.execute(f"select epoch_us(seen), group_id from {release.tables['qit']}").fetchall())
        assert con.execute("select current_setting('TimeZone')").fetchall() == [(zone,)]
    assert found[0] == found[1]


def test_tables_are_found_where_they_are(con, tmp_path):
    con.execute(f"attach '{tmp_path}/other.duckdb' as other").fetchall()
    con.execute("create table other.mine as select i as q, i % 4 as s from range(40) r(i)").fetchall()
    con.execute("create table other.p as select 1 as x").fetchall()
    con.execute("create view p as select i as q, i % 4 as s from range(40) r(i)").fetchall()
    for source in ("p", "other.main.mine", "OTHER.MINE"):
        assert sqlanon.anatomy(con, source, quasi="q", sensitive="s", l=2).manifest["rows"] == 40
    with pytest.raises(sqlanon.SourceError, match="no table, view or file 'mine'"):
        sqlanon.anatomy(con, "mine", quasi="q", sensitive="s", l=2)


@pytest.mark.parametrize(
    "asked",
    [
        {"l": "3"}, {"l": 2.5}, {"l": None}, {"block": "x"}, {"block": 1.5}, {"key": 5}, {"quasi": None},
        {"quasi": [1]}, {"id": None}, {"sensitive": None}, {"nulls": "x"}, {"draws": "x"},
        {"unit": "x"}, {"out": b"x"},
        {"into": ""}, {"into": "temp"}, {"nonsense": 1}, {"show_values": "no"}, {"require": 5}, {"nulls": ["drop"]},
    ],
)  # fmt: skip
def test_wrong_types_are_refused_as_usage(patients, asked):
    with pytest.raises(sqlanon.UsageError):
        sqlanon.anatomy(patients, "patients", **({"quasi": QUASI, "sensitive": "disease", "l": 3} | asked))
    assert patients.execute("begin").fetchall() == [] or patients.execute("rollback").fetchall() == []
