"""Tables that a macro wrote become a release that holds, or nothing does."""

from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DataError, UsageError, VerificationError
from sqlanon.publishing.store_macros import store
from sqlanon.releases.contents import foreign_parts
from tests.conftest import PATIENTS
from tests.databases import connect

KEY = "ab" * 32
QUASI = ["age", "sex", "zipcode"]


@pytest.fixture(scope="module")
def written():
    """Let the macros write what a dbt hook would: QIT and ST, and randomized rows."""
    patients = connect()
    patients.execute(PATIENTS).fetchall()
    store(DuckDBEngine(patients))
    patients.execute(f"set variable sqlanon_key = '{KEY}'").fetchall()
    patients.execute(
        f"create table ward_qit as from anatomy_qit('patients', {QUASI}, 'disease', 4, id := ['ssn'])"
    ).fetchall()
    patients.execute("create table ward_st as from anatomy_st('patients', 'disease', 4, id := ['ssn'])").fetchall()
    noisy = "select age, sex, zipcode, disease from splu_release('patients', 'disease', 5, id := ['ssn'])"
    patients.execute(f"create table noisy as {noisy}").fetchall()
    yield patients
    patients.close()


def test_what_the_macros_wrote_is_the_release_that_publish_makes(written, tmp_path):
    release = sqlanon.adopt(written, qit="ward_qit", st="ward_st", l=4, against="patients", out=tmp_path / "ward")
    asked = {"quasi": QUASI, "sensitive": "disease", "id": "ssn", "l": 4, "key": KEY}
    wanted = sqlanon.anatomy(written, "patients", **asked)
    for name in ("qit", "st"):
        assert release.table(name).fetchall() == wanted.table(name).fetchall()
    assert release.manifest["verified"] == wanted.manifest["verified"]
    assert release.manifest["parameters"] == {"l": 4, "rows_per_person": "unchecked", "adopted": True}
    again = sqlanon.open(tmp_path / "ward")
    assert again.verify(against=written.table("patients").df()).holds
    query = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'd3' GROUP BY sex ORDER BY sex"
    assert again.estimate(query).equals(wanted.estimate(query))


def test_persons_are_looked_at_or_their_rows_are_what_is_promised(written, tmp_path):
    """One row a person, proved by the source's identifier; else manifest and README say that it is per row."""
    tables = {"qit": "ward_qit", "st": "ward_st", "l": 4}
    for name, options, said in (
        ("unchecked", {}, "this is per row"),
        ("one", {"against": "patients", "id": "ssn"}, None),
        ("many", {"unit": "row"}, "this is per row, and some persons have several"),
    ):
        release = sqlanon.adopt(written, **tables, **options, out=tmp_path / name)
        assert release.manifest["parameters"]["rows_per_person"] == name
        readme = " ".join((tmp_path / name / "README.md").read_text().split())
        assert ("this is per row" not in readme) if said is None else (said in readme)
    with pytest.raises(DataError, match="persons have more than one row"):
        sqlanon.adopt(written, **tables, against="patients", id="sex", out=tmp_path / "several")
    with pytest.raises(UsageError, match="id names columns of the source; say which with against=SOURCE"):
        sqlanon.adopt(written, **tables, id="ssn", out=tmp_path / "several")
    with pytest.raises(UsageError, match="no column 'nobody'"):
        sqlanon.adopt(written, **tables, against="patients", id="nobody", out=tmp_path / "several")
    with pytest.raises(UsageError, match="unit = 'few' is none of person, row"):
        sqlanon.adopt(written, **tables, unit="few", out=tmp_path / "several")
    assert not (tmp_path / "several").exists()


def test_randomized_rows_are_adopted(written, tmp_path):
    asked = {"sensitive": "disease", "gamma": 5}
    release = sqlanon.adopt(written, data="noisy", against="patients", out=tmp_path / "noisy", **asked)
    assert release.manifest["method"] == "splu" and release.manifest["columns"]["quasi"] == QUASI
    wanted = sqlanon.splu(written, "patients", quasi=QUASI, id="ssn", key=KEY, **asked)
    assert release.manifest["guarantee"] == wanted.manifest["guarantee"]
    assert release.verify(against=written.table("patients").df()).holds


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"against": "patients", "quasi": QUASI}, VerificationError, "retention: required .* found disease: 1"),
        ({"against": "patients", "quasi": "sex"}, VerificationError, "nobody is unique on the quasi columns"),
        ({"quasi": "sex"}, UsageError, "say against=SOURCE: rows that nobody randomized look like those"),
    ],
)
def test_microdata_is_not_taken_for_randomized_rows(written, tmp_path, asked, error, message):
    with pytest.raises(error, match=message):
        sqlanon.adopt(written, data="patients", sensitive="disease", gamma=5, out=tmp_path / "no", **asked)
    assert not list(tmp_path.iterdir())


def test_names_of_the_writers_own_and_rows_in_any_order(written):
    """A table in the order of its writing, and columns under other names: what appears is sorted, and holds."""
    written.execute(
        'create table theirs as select group_id as "G id", age, sex from ward_qit order by group_id'
    ).fetchall()
    written.execute(
        'create table values_of as select count as n, disease, group_id as "g ID" from ward_st order by disease'
    ).fetchall()
    named = {"group": "g id", "count": "N", "l": 4}
    release = sqlanon.adopt(written, qit="theirs", st="values_of", into="ward", **named)
    assert release.manifest["columns"] == {
        "quasi": ["age", "sex"], "sensitive": ["disease"], "group": "G id", "count": "n"
    }  # fmt: skip
    assert release.verify().holds and "quasi_rows" not in release.manifest["verified"]
    assert written.execute("select count(*) from ward.qit").fetchall() == [(600,)]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"qit": "ward_qit", "st": "ward_st", "l": 5}, VerificationError, "diversity: required >= 5, found 4"),
        ({"qit": "ward_qit", "st": "ward_st"}, UsageError, "say l, which QIT and ST promise, and no gamma"),
        ({"qit": "ward_qit", "st": "ward_st", "l": 1}, sqlanon.ReleaseError, "does not say an l of at least 2"),
        ({"qit": "ward_qit", "l": 4}, UsageError, "give qit and st, or data alone"),
        ({"qit": "ward_qit", "st": "ward_st", "data": "noisy", "l": 4}, UsageError, "give qit and st, or data alone"),
        (
            {"data": "noisy", "gamma": 5, "against": "fewer"},
            UsageError,
            "say gamma and sensitive, the randomized columns, and no l",
        ),
        ({"qit": "patients", "st": "ward_st", "l": 4}, UsageError, "no column 'group_id' in the source"),
        ({"qit": "all_in_one", "st": "ward_st", "l": 4}, UsageError, "QIT holds the sensitive column 'disease'"),
        ({"qit": "ward_qit", "st": "wide", "l": 4}, UsageError, "found 'disease', 'ssn'"),
        ({"qit": "lists", "st": "ward_st", "l": 4}, UsageError, "column 'age' holds nested values"),
        ({"qit": "short", "st": "ward_st", "l": 4}, VerificationError, "sizes: required every group as large"),
        ({"qit": "nobody", "st": "ward_st", "l": 4}, UsageError, "no quasi-identifier column beside group_id"),
        (
            {"qit": "ward_qit", "st": "ward_st", "l": 4, "k": 3},
            UsageError,
            "no parameter 'k'; there are con, qit, st, data",
        ),
        ({"qit": "ward_qit", "st": "ward_st", "l": 4, "dropped_rows": -1}, UsageError, "dropped_rows=-1 is no number"),
        ({"qit": "ward_qit", "st": "ward_st", "l": 4, "against": "fewer"}, VerificationError, "quasi_rows: required"),
    ],
)
def test_what_is_no_release_is_refused_and_nothing_appears(written, tmp_path, asked, error, message):
    for name, sql in {
        "all_in_one": "select *, 'd1' as disease from ward_qit",
        "wide": "select *, 1 as ssn from ward_st",
        "lists": "select * replace ([age] as age) from ward_qit",
        "short": "select * from ward_qit limit 599",
        "nobody": "select group_id from ward_qit",
        "fewer": "select * from patients where ssn > 0",
    }.items():
        written.execute(f"create or replace table {name} as {sql}").fetchall()
    with pytest.raises(error, match=message):
        sqlanon.adopt(written, out=tmp_path / "ward", **asked)
    assert not list(tmp_path.iterdir())
    assert issubclass(VerificationError, DataError)


def test_a_forged_file_is_written_anew(written, tmp_path):
    """What hides in a file that is adopted is no row of it: it stays behind."""
    release = sqlanon.adopt(written, qit="ward_qit", st="ward_st", l=4, against="patients", out=tmp_path / "ward")
    assert release.verify().holds
    forged = tmp_path / "ward" / "st.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"copy (from '{forged}') to '{forged}.new' (format parquet, kv_metadata {{ssn_1: 'HIV'}})")
    Path(f"{forged}.new").rename(forged)
    assert foreign_parts([forged]) == {"st.parquet": "the metadata 'ssn_1'"}
    with duckdb.connect() as connection:
        for name in ("qit", "st"):
            connection.execute(f"create table {name} as from '{tmp_path}/ward/{name}.parquet'")
        adopted = sqlanon.adopt(
            connection, qit="qit", st="st", l=4, out=tmp_path / "again", quasi=QUASI, sensitive="disease"
        )
    assert adopted.verify().holds
    assert foreign_parts([tmp_path / "again" / "st.parquet"]) == {}
