"""Publishing under a ledger: what a publisher sees, what is refused, and what a release says of its ledger."""

import json
import shutil

import duckdb
import pytest

import sqlanon
from sqlanon.errors import DataError, SourceError, TargetError, UsageError
from sqlanon.ledgers import refusals, store
from tests.conftest import NASTY_NAMES
from tests.databases import connect
from tests.releases.conftest import sign

KEY, OTHER = "5e" * 32, "6f" * 32
ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
PEOPLE = (
    "create or replace table people as select i as ssn, (20 + i * 7 % 60)::integer as age,"
    " case when i % 3 = 0 then 'F' else 'M' end as sex, 'd' || i % 8 as disease, i % 5 as ward from range(120) t(i)"
)


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """Publish a ward twice, with departures, arrivals and changes between; return connection and folder."""
    folder = tmp_path_factory.mktemp("ward")
    con = duckdb.connect(config={"threads": 1})
    con.execute(PEOPLE)
    con.execute("create table first as from people")
    con.execute(
        "create table second as select ssn, age + (ssn % 30 = 0)::integer as age, sex,"
        " case ssn % 40 when 7 then 'd0x' else disease end as disease, ward from first where ssn > 10"
        " union all select 1000 + i, 30, 'F', 'd' || i % 2, 0 from range(9) t(i)"
    )
    for number, source in ((1, "first"), (2, "second")):
        release(con, folder, source, out=f"ward_{number}")
    yield con, folder
    con.close()


def release(con, folder, source="people", out="ward", **options):
    """Publish under the folder's ledger."""
    given = {**ROLES, "l": 3, "key": KEY, "ledger": folder / "ward.ledger", **options}
    return sqlanon.anatomy(con, source, out=folder / out, **given)


def table(folder, out, name):
    return duckdb.sql(f"select * from '{folder}/{out}/{name}.parquet'").fetchall()


def test_the_first_release_is_the_one_without_a_ledger(ward):
    con, folder = ward
    sqlanon.anatomy(con, "first", **ROLES, l=3, key=KEY, out=folder / "alone")
    for name in ("qit", "st"):
        assert table(folder, "alone", name) == table(folder, "ward_1", name)


def test_a_release_says_its_number_and_nothing_else_of_its_ledger(ward):
    _, folder = ward
    manifest = json.loads((folder / "ward_2" / "release.json").read_text())
    assert manifest["parameters"]["release"] == 2 and manifest["parameters"]["changed"] == "leave"
    # 11 left, 2 have another value; 9 came new with two values, so that none of them finds a group of 3
    assert manifest["rows"] == 107 and manifest["dropped_rows"] == 11 and manifest["verified"]["departed"] == 13
    # how many of those values are shown by nobody would tell of them
    assert manifest["verified"]["sensitive_counts"] == "holds"
    texts = [(folder / "ward_2" / name).read_text() for name in ("release.json", "README.md", "estimate.sql")]
    for text in texts:
        assert "ward.ledger" not in text and KEY not in text and "9 rows" not in text
    assert {path.name for path in folder.iterdir()} >= {"ward_1", "ward_2", "ward.ledger"}
    assert {path.name for path in (folder / "ward_2").iterdir()} == {
        *("qit.parquet", "st.parquet", "release.json", "README.md", "estimate.sql")
    }


def test_the_publisher_is_told_what_has_become_of_whom(ward, tmp_path):
    con, _ = ward
    release(con, tmp_path, "first", out="one")
    told = " ".join(release(con, tmp_path, "second", out="two").notes)
    for words in (
        "release 2 of this ledger: 107 stayed; 11 left; 9 came new",
        "2 have another value than the published one, and are not shown",
        "of 3 today's quasi values differ",
        "9 rows wait for others",
        "keep the key and the ledger as secret as the source",
    ):
        assert words in told, told
    kept = " ".join(release(con, tmp_path, "second", out="three", changed="keep").notes)
    assert "2 have another value than the published one, and stay with the old one" in kept
    found = sqlanon.ledger(tmp_path / "ward.ledger").as_plain()
    wanted = {"persons": 120, "present": 109, "stale": 2, "left_for_change": 0, "departed": 11, "waiting": 9}
    assert {name: found[name] for name in wanted} == wanted and found["releases"] == 3


def test_the_ledger_holds_no_id_and_is_its_owners_alone(ward):
    _, folder = ward
    path = folder / "ward.ledger"
    assert path.stat().st_mode & 0o777 == 0o600
    with duckdb.connect(str(path), read_only=True) as con:
        rows = con.execute("select * from person").fetchall()
        assert len(rows) == 120 and {len(str(row[0])) for row in rows} == {36}
        (told,) = con.execute("select description from description").fetchone()
        assert KEY not in told and json.loads(told)["identifier"] == ["ssn"]
        listed = con.execute("select table_name from duckdb_tables()").fetchall()
        assert {name for (name,) in listed} == {"person", "value", "description"}
    assert KEY not in path.read_bytes().decode("latin-1")


def test_a_release_verifies_and_answers(ward):
    con, folder = ward
    opened = sqlanon.open(folder / "ward_2")
    report = opened.verify()
    assert report.holds and report.figures["departed"] == 13 and report.figures["rows"] == 107
    answer = opened.estimate("SELECT COUNT(*) AS n FROM release WHERE disease = 'd3'")
    assert answer["n_low"][0] < 13 < answer["n_high"][0]
    assert opened.estimate("SELECT COUNT(*) AS n FROM release WHERE age >= 0")["n"][0] == 107
    con.execute(f"copy second to '{folder}/second.parquet' (format parquet)")
    against = {check.name: check for check in opened.verify(folder / "second.parquet").checks}
    assert against["quasi_rows"].holds and against["sensitive_counts"].found == "holds"


def test_what_needs_whole_groups_says_that_members_have_left(ward):
    con, folder = ward
    con.execute("create or replace table known as select sex, disease, 0.125 as probability from first group by all")
    opened = sqlanon.open(folder / "ward_2", con=con)
    with pytest.raises(UsageError, match="groups whose members have left"):
        opened.verify(background="known")
    with pytest.raises(UsageError, match="groups whose members have left"):
        opened.complete(1, 1)


@pytest.mark.parametrize(("name", "change"), [("qit", "union all (from qit limit 3)"), ("st", "where group_id <> 0")])
def test_forged_sizes_do_not_verify(ward, tmp_path, name, change):
    forged = shutil.copytree(ward[1] / "ward_2", tmp_path / "forged")
    with connect() as con:
        con.execute(f"create table {name} as from '{forged}/{name}.parquet'")
        con.execute(f"copy (from {name} {change} order by all) to '{forged}/{name}.parquet' (format parquet)")
    sign(forged)
    report = sqlanon.open(forged).verify()
    assert any(check.name == "sizes" and check.holds is False for check in report.checks)


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "words"), [
    ({"key": None}, "a ledger needs a key that stays"),
    ({"id": ()}, "a ledger needs id"),
    ({"unit": "row"}, "a ledger needs id"),
    ({"draws": "random"}, "a ledger needs keyed draws"),
    ({"out": None}, "a ledger is written in step with a release that lasts"),
    ({"key": OTHER}, "was made with another key"),
    ({"l": 4}, "have the l 3, this request 4"),
    ({"sensitive": "ward"}, "have the sensitive column disease, this request ward"),
    ({"id": ["ssn", "ward"]}, "have the id ssn, this request ssn, ward"),
    ({"quasi": ["age", "ward"]}, "no release of this ledger had the quasi column 'ward'"),
    ({"changed": "stay"}, "is none of leave, keep"),
    ({"ledger": None, "changed": "keep"}, "changed is about releases under a ledger"),
    ({"ledger": None, "since": "ward_1"}, "since is about releases under a ledger"),
])  # fmt: skip
def test_requests_that_do_not_follow_are_refused(ward, tmp_path, options, words):
    con, folder = ward
    given = {"out": tmp_path / "out", **options}
    before = (folder / "ward.ledger").read_bytes()
    with pytest.raises(UsageError) as error:
        release(con, folder, "second", **given) if given["out"] else sqlanon.anatomy(
            con, "second", **ROLES, l=3, key=KEY, ledger=folder / "ward.ledger"
        )
    assert words in str(error.value)
    assert (folder / "ward.ledger").read_bytes() == before and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("source", "words"), [
    ("select * from second where ssn % 20 = 1", "of the 107 persons of the last release are not in the source"),
    ("select * from second union all select * from second where ssn = 20", "1 person has more than one row"),
    ("select case when ssn = 20 then null else ssn end as ssn, * exclude ssn from second", "1 row has no id"),
    ("select * replace (case when ssn = 20 then null else disease end as disease) from second", "no value in the sens"),
    ("select * from second where ssn >= 1000", "not in the source (100.0%)"),
    ("select ssn::varchar as ssn, * exclude ssn from second", "type of id BIGINT, this request VARCHAR"),
    ("select ward as disease, * exclude (ward, disease) from second", "type of the sensitive column VARCHAR"),
])  # fmt: skip
def test_data_that_does_not_follow_is_refused(ward, tmp_path, source, words):
    con, folder = ward
    con.execute(f"create or replace view changed as {source}")
    with pytest.raises(UsageError if "type of" in words else DataError) as error:
        release(con, folder, "changed", out=tmp_path / "out")
    assert words in str(error.value) and not list(tmp_path.iterdir())


def test_departures_that_are_expected_are_published(ward, tmp_path):
    con, folder = ward
    for name in ("ward.ledger", "ward.ledger.last"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    con.execute("create or replace view changed as select * from second where ssn % 20 = 1")
    assert release(con, tmp_path, "changed", expect_departures=True).manifest["rows"] == 5
    con.execute("create or replace view changed as select * from second where ssn >= 1000")
    with pytest.raises(DataError, match="nobody of the source can be shown: 9 of 9 rows wait"):
        release(con, tmp_path, "changed", out="none", expect_departures=True)


def test_quasi_columns_shrink_and_come_back_and_new_ones_are_said(ward, tmp_path):
    con, _ = ward
    release(con, tmp_path, "first", out="one")
    release(con, tmp_path, "first", out="two", quasi="age")
    again = release(con, tmp_path, "first", out="three")
    assert "quasi values differ" not in " ".join(again.notes)
    more = release(con, tmp_path, "first", out="four", quasi=["age", "ward"], new_quasi=True)
    assert "no release before had ward: who keeps them learns it" in " ".join(more.notes)


def test_an_outdated_copy_and_another_ledger_are_refused(ward, tmp_path):
    con, _ = ward
    release(con, tmp_path, "first", out="ward")
    copy, first_note = (tmp_path / "ward.ledger").read_bytes(), (tmp_path / "ward.ledger.last").read_text()
    release(con, tmp_path, "second", out="ward", overwrite=True, since=tmp_path / "ward")
    for since, words in ((tmp_path, "is no release under a ledger"), (ward[1] / "ward_2", "is another one")):
        with pytest.raises(UsageError, match=words):
            release(con, tmp_path, "second", out="next", since=since)
    note = tmp_path / "ward.ledger.last"
    newest, newest_note = (tmp_path / "ward.ledger").read_bytes(), note.read_text()
    (tmp_path / "ward.ledger").write_bytes(copy)
    # what lies beside a ledger tells as well: test_seal
    for options in ({"out": "ward", "overwrite": True}, {"out": "next", "since": tmp_path / "ward"}):
        with pytest.raises(UsageError, match=r"is release 2 of a ledger, and .* knows 1: it is an outdated copy"):
            release(con, tmp_path, "second", **options)
    # where all of them are taken back nobody can tell, and history is forked: the same number, another release
    note.write_text(first_note)
    (tmp_path / "ward").rename(tmp_path / ".away")
    con.execute("create or replace view changed as select * from second where ssn % 9 > 0")
    release(con, tmp_path, "changed", out="fork")
    (tmp_path / ".away").rename(tmp_path / "ward")
    with pytest.raises(UsageError, match=r"and not of .*, whose release 2 is another one"):
        release(con, tmp_path, "second", out="ward", overwrite=True)
    with pytest.raises(UsageError, match=r"ward' is release 2 of a ledger, and not of"):
        release(con, tmp_path, "second", out="beside")
    (tmp_path / "ward.ledger").write_bytes(newest)
    note.write_text(newest_note)
    (tmp_path / "fork" / "release.json").unlink()
    assert release(con, tmp_path, "second", out="ward", overwrite=True).manifest["parameters"]["release"] == 3


def test_a_ledger_lies_outside_of_releases(ward, tmp_path):
    con, _ = ward
    for place in (tmp_path / "ward" / "ward.ledger", tmp_path / "ward"):
        with pytest.raises(UsageError, match="lies in a release, which is handed on"):
            release(con, tmp_path, "first", ledger=place)
    release(con, tmp_path, "first")
    with pytest.raises(UsageError, match="lies in a release"):
        release(con, tmp_path, "first", out="other", ledger=tmp_path / "ward" / "ward.ledger")


def test_files_that_are_no_ledger_are_refused(ward, tmp_path):
    con, _ = ward
    (tmp_path / "text").write_text("hello")
    with duckdb.connect(str(tmp_path / "some.duckdb")) as other:
        other.execute("create table t as select 1 as a")
    for name in ("text", "some.duckdb"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(SourceError, match="no ledger"):
            release(con, tmp_path, "first", ledger=tmp_path / name)
        with pytest.raises(SourceError, match="no ledger"):
            sqlanon.ledger(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(SourceError, match="no ledger"):
        sqlanon.ledger(tmp_path / "nothing")


def test_a_release_that_is_not_wanted_leaves_the_ledger_as_it_was(ward, tmp_path):
    con, _ = ward
    release(con, tmp_path, "first", out="one")
    before = (tmp_path / "ward.ledger").read_bytes()
    with pytest.raises(DataError):
        release(con, tmp_path, "second", out="two", require="rows >= 500")
    with pytest.raises(TargetError):
        release(con, tmp_path, "second", out="one")
    assert (tmp_path / "ward.ledger").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"one", "ward.ledger", "ward.ledger.last"}


@pytest.mark.parametrize(("method", "options"), [
    ("uncertain", {"k": 3, "l": 2, "threshold": 0.3, "influence": "learn"}),
    ("mondrian", {"k": 3}),
])  # fmt: skip
def test_methods_without_a_ledger_say_why(ward, tmp_path, method, options):
    con, _ = ward
    with pytest.raises(UsageError, match=f"{method} has no ledger: "):
        sqlanon.publish(method, con, "first", **ROLES, **options, key=KEY, ledger=tmp_path / "l", out=tmp_path / "o")


def test_a_ledger_of_another_format_is_refused(ward, tmp_path):
    con, _ = ward
    release(con, tmp_path, "first", out="one")
    with duckdb.connect(str(tmp_path / "ward.ledger")) as other:
        other.execute("update description set description = replace(description, '\"format\": 4', '\"format\": 1')")
        other.execute("alter table person drop column mark")
    for act in (lambda: release(con, tmp_path, "second", out="two"), lambda: sqlanon.ledger(tmp_path / "ward.ledger")):
        with pytest.raises(SourceError, match=r"has format 1; this sqlanon .* reads format 4: install one"):
            act()


def test_what_a_newer_version_says_in_a_ledger_is_kept_and_told(ward, tmp_path, monkeypatch):
    con, _ = ward
    describe = refusals.describe
    with monkeypatch.context() as later:
        later.setattr(refusals, "describe", lambda *words: {**describe(*words), "future": {"a": [1]}})
        release(con, tmp_path, "first", out="one")
    second = release(con, tmp_path, "second", out="two")
    assert any("says more than this sqlanon knows (future): that is kept" in note for note in second.notes)
    with duckdb.connect(str(tmp_path / "ward.ledger")) as ledger:
        ((history,),) = ledger.execute("select description from description").fetchall()
    assert json.loads(history)["future"] == {"a": [1]}
    assert sqlanon.ledger(tmp_path / "ward.ledger").check(KEY).holds is not False


def test_robust_follows_class_by_class(ward, tmp_path):
    con, _ = ward
    given = {**ROLES, "r": 3, "background_from": "sex", "max_suppressed": 0.2, "key": KEY}
    sqlanon.robust(con, "first", **given, out=tmp_path / "alone")
    for number, source in ((1, "first"), (2, "second")):
        found = sqlanon.robust(con, source, **given, ledger=tmp_path / "l", out=tmp_path / f"ward_{number}")
    for name in ("qit", "st"):
        assert table(tmp_path, "alone", name) == table(tmp_path, "ward_1", name)
    assert found.manifest["verified"]["classes"] <= 1 / 3
    assert sqlanon.open(tmp_path / "ward_2").verify(since=tmp_path / "ward_1").holds
    for more in ({"background_from": "age"}, {"r": 2}):
        with pytest.raises(UsageError, match=r"one signature|have the"):
            sqlanon.robust(con, "second", **{**given, **more}, ledger=tmp_path / "l", out=tmp_path / "refused")
    with pytest.raises(UsageError, match="have the method robust, this request anatomy"):
        release(con, tmp_path, "second", ledger=tmp_path / "l")


def test_randomized_values_stay(ward, tmp_path):
    con, _ = ward
    given = {**ROLES, "quasi": ["age", "sex", "ssn_too"], "gamma": 3, "key": KEY, "unique_quasi": "keep"}
    for name in ("first", "second"):
        con.execute(f"create or replace view {name}_too as select *, ssn as ssn_too from {name}")
    sqlanon.splu(con, "first_too", **given, out=tmp_path / "alone")
    for number, source in ((1, "first_too"), (2, "second_too"), (3, "first_too")):
        found = sqlanon.splu(con, source, **given, ledger=tmp_path / "l", out=tmp_path / f"ward_{number}")
    assert table(tmp_path, "alone", "data") == table(tmp_path, "ward_1", "data") == table(tmp_path, "ward_3", "data")
    assert found.manifest["parameters"]["release"] == 3 and found.manifest["parameters"]["departed"] == 0
    second = sqlanon.open(tmp_path / "ward_2")
    # 107 of 120 stayed, 3 of them with another age; of 9 who came new with two values none finds a group of 3
    assert second.manifest["rows"] == 107 and second.manifest["parameters"]["departed"] == 13
    report = second.verify(since=tmp_path / "ward_1")
    assert report.holds and report.checks[-1].found == {"alone_in_both": 104, "same_value": 104}
    assert "counts are of the 120 persons whom releases of the ledger have shown" in second._repr_html_()
    con.execute(f"copy second_too to '{tmp_path}/second.parquet' (format parquet)")
    against = {check.name: check.holds for check in second.verify(tmp_path / "second.parquet").checks}
    assert against["retention"] and against["published_counts"] is None
    # whoever draws again is found out
    given["key"] = OTHER
    sqlanon.splu(con, "first_too", **given, ledger=tmp_path / "m", out=tmp_path / "other_1")
    again = sqlanon.splu(con, "first_too", **given, ledger=tmp_path / "m", out=tmp_path / "other_2")
    assert sqlanon.open(tmp_path / "other_2").verify(since=tmp_path / "ward_1").checks[-1].holds is None
    assert again.verify(since=tmp_path / "other_1").holds
    for more, words in (({"residue": "keep"}, "wait for the next"), ({"sensitive": ["disease", "ward"]}, "one sens")):
        with pytest.raises(UsageError, match=words):
            sqlanon.splu(con, "second_too", **{**given, **more}, ledger=tmp_path / "m", out=tmp_path / "refused")


def test_a_value_that_is_missing_is_another_value(tmp_path):
    con = duckdb.connect(config={"threads": 1})
    con.execute(PEOPLE)
    release(con, tmp_path, nulls="drop")
    con.execute("update people set disease = null where ssn in (5, 6)")
    con.execute("insert into people values (500, 30, 'F', null, 0)")
    # who is new and has no value is not shown; 5 and 6 have not left, their value changed
    left = release(con, tmp_path, out="two", nulls="drop")
    assert left.manifest["rows"] == 118 and left.manifest["dropped_rows"] == 3
    assert "2 have another value" in " ".join(left.notes) and "wait" not in " ".join(left.notes)
    assert release(con, tmp_path, out="three", nulls="drop", changed="keep").manifest["rows"] == 120
    con.close()


def test_a_ledger_that_cannot_be_written_leaves_nothing(ward, tmp_path, monkeypatch):
    con, _ = ward
    monkeypatch.setattr(store, "STORAGE", "no such version")
    with pytest.raises(TargetError, match="cannot write the ledger"):
        release(con, tmp_path, "first")
    assert not list(tmp_path.iterdir())
    assert not con.execute("select * from duckdb_databases() where database_name like 'ledger%'").fetchall()


def test_inside_a_callers_transaction_nothing_is_written(tmp_path):
    con = duckdb.connect(config={"threads": 1})
    con.execute(PEOPLE)
    con.execute("begin")
    with pytest.raises(TargetError, match="cannot write the ledger"):
        release(con, tmp_path)
    con.execute("rollback")
    assert not list(tmp_path.iterdir())
    assert release(con, tmp_path).manifest["rows"] == 120
    con.close()


def test_nasty_names_and_values(tmp_path):
    con = duckdb.connect(config={"threads": 1})
    names = [name.replace('"', '""') for name in NASTY_NAMES[:3]]
    con.execute(
        f"create table people as select i || '; --' as \"{names[0]}\", i % 7 as \"{names[1]}\", '''\"' || i % 5 as"
        f' "{names[2]}" from range(60) t(i)'
    )
    given = {"id": NASTY_NAMES[0], "quasi": NASTY_NAMES[1], "sensitive": NASTY_NAMES[2], "l": 3, "key": KEY}
    ledger = tmp_path / 'it\'s "a" ledger'
    for number in (1, 2):
        sqlanon.anatomy(con, "people", **given, ledger=ledger, out=tmp_path / f"ward_{number}")
    for name in ("qit", "st"):
        assert table(tmp_path, "ward_1", name) == table(tmp_path, "ward_2", name)
    con.close()
    assert {path.name for path in tmp_path.iterdir()} == {"ward_1", "ward_2", ledger.name, f"{ledger.name}.last"}
