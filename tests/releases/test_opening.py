"""A schema of somebody else's database: read only, base tables alone, and nothing beside it is read."""

import json

import duckdb
import pytest

import sqlanon
from sqlanon.errors import ReleaseError, SqlanonError

ROLES = ("--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn")
COUNT = "SELECT COUNT(*) AS n FROM release WHERE disease = 'd1'"


@pytest.fixture
def ward(shell):
    """Publish a schema beside the microdata; return what runs statements on the database's file."""
    done = shell("publish", "anatomy", "patients", "--database", "hospital.duckdb", *ROLES, "-l", 4, "--into", "ward")
    assert done.returncode == 0, done.stderr

    def change(*statements):
        with duckdb.connect(str(shell.folder / "hospital.duckdb")) as connection:
            for sql in statements:
                connection.execute(sql).fetchall()

    return change


def opened(shell):
    return sqlanon.open("ward", database=str(shell.folder / "hospital.duckdb"))


def test_planted_macros_prove_nothing(ward, shell):
    ward(
        "delete from ward.st where group_id = 3 and disease > (select min(disease) from ward.st where group_id = 3)",
        "update ward.st set disease = 'HIV', count = 4 where group_id = 3",
        "create macro max(x) as 0",
        "create macro min(x) as 4",
        "create macro count_star() as 4",
    )
    done = shell("verify", "ward", "--database", "hospital.duckdb")
    assert done.returncode == 3, done.stdout
    assert "diversity" in done.stderr and "confidence" in done.stderr


def test_a_view_is_no_table_of_a_release(ward, shell):
    secret = shell.folder / "private.csv"
    secret.write_text("group_id,disease,count\n1,mine,4\n")
    ward("create table ward_st as from ward.st", "drop table ward.st", f"create view ward.st as from '{secret}'")
    for verb in (("verify", "ward"), ("estimate", "ward", COUNT)):
        done = shell(*verb, "--database", "hospital.duckdb")
        assert (done.returncode, done.stdout) == (2, ""), done.stdout
        assert "no tables of a release in the schema 'ward': st" in done.stderr
    ward("drop view ward.st", "create table ward.st as from ward_st")
    assert opened(shell).verify().holds
    ward(
        "create table kept as from ward.manifest", "drop table ward.manifest", "create view ward.manifest as from kept"
    )
    with pytest.raises(ReleaseError, match="it has no table manifest"):
        opened(shell)


def test_a_strangers_database_reads_nothing_of_the_readers(ward, shell):
    secret = shell.folder / "private.csv"
    secret.write_text("a\n1\n")
    release = opened(shell)
    with pytest.raises(SqlanonError, match="file system operations are disabled"):
        release.engine.rows(f"select * from read_csv('{secret}')")
    with pytest.raises(SqlanonError, match="cannot read a value"):
        release.engine.rows("drop table hospital.ward.st")  # attached read-only
    with pytest.raises(SqlanonError, match="cannot read a value"):
        release.engine.rows("set threads = 1")  # the configuration is locked
    assert release.estimate(COUNT)["n"][0] > 0


def test_files_that_the_reader_names_are_read_beside_it(ward, shell, monkeypatch):
    assert opened(shell).verify(against=str(shell.folder / "patients.parquet")).holds
    assert opened(shell).verify(against="patients").holds
    monkeypatch.chdir(shell.folder)
    (shell.folder / "vot[e]rs.csv").write_text("age,sex,zipcode\n20,F,10000\n")
    for source in ("patients.parquet", "pat*.parquet", "patients"):
        done = shell("verify", "ward", "--database", "hospital.duckdb", "--against", source, "--voters", "vot[e]rs.csv")
        assert done.returncode == 0, done.stderr


def test_a_manifest_that_is_too_long_or_no_text_is_refused(shell):
    folder = shell.folder / "release"
    folder.mkdir()
    with (folder / "release.json").open("wb") as file:
        file.truncate(3 * 2**30)  # of zeros, which take no space
    done = shell("verify", "release")
    assert (done.returncode, done.stdout) == (2, "") and "3,221,225,472 bytes" in done.stderr
    (folder / "release.json").write_bytes(b'{"format": 1, "method": "\xff\xfe"}')
    done = shell("verify", "release")
    assert (done.returncode, done.stdout) == (2, "") and "no readable release.json" in done.stderr


@pytest.mark.parametrize(
    ("reader", "file"), [("contents.file_sha256", "qit.parquet"), ("opening.read_text", "release.json")]
)
def test_a_file_that_may_not_be_read_is_named(con, tmp_path, monkeypatch, reader, file):
    con.execute("create table people as select i % 5 as age, 'd' || i % 4 as disease from range(40) as numbers(i)")
    sqlanon.anatomy(con, "people", quasi=["age"], sensitive="disease", l=2, out=tmp_path / "r")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(f"sqlanon.releases.{reader}", refuse)
    with pytest.raises(ReleaseError, match=f"cannot read '.*/r/{file}': Permission denied"):
        sqlanon.open(tmp_path / "r").verify()


# what only a release under a ledger, or of people with several rows, says of itself: part, member, words
CONTRADICTIONS = [
    ("parameters", {"release": 2}, "says release, but is of no ledger"),
    ("parameters", {"chain": "6a9d0cb884e70d83"}, "says chain, but is of no ledger"),
    ("parameters", {"changed": "leave"}, "says changed, but is of no ledger"),
    ("parameters", {"release": 1, "chain": "6a9d0cb884e70d83"}, "says chain, release, but is of no ledger"),
    ("parameters", {"release": 2, "changed": "keep", "draws": "random"}, "says changed, release, but is of no ledger"),
    ("parameters", {"known_size": True}, "says known_size, but is not of people"),
    ("verified", {"departed": 3}, "says who departed"),
]


@pytest.mark.parametrize(("part", "members", "words"), CONTRADICTIONS)
def test_a_manifest_that_contradicts_itself_is_refused(patients, tmp_path, part, members, words):
    sqlanon.anatomy(patients, "patients", quasi="age", sensitive="disease", id="ssn", l=3, out=tmp_path / "ward")
    path = tmp_path / "ward" / "release.json"
    manifest = json.loads(path.read_text())
    manifest[part] |= members
    path.write_text(json.dumps(manifest))
    with pytest.raises(ReleaseError, match=words):
        sqlanon.verify(tmp_path / "ward")


def test_links_in_the_place_of_files_are_not_followed(patients, tmp_path):
    ward = tmp_path / "ward"
    sqlanon.anatomy(patients, "patients", quasi="age", sensitive="disease", id="ssn", l=3, out=ward)
    (ward / "st.parquet").rename(tmp_path / "st.parquet")
    (ward / "st.parquet").symlink_to(tmp_path / "st.parquet")
    failed = [check for check in sqlanon.verify(ward).checks if check.holds is False]
    assert [(check.name, check.found) for check in failed] == [("files", {"st.parquet": "a link, not a file"})]
    with pytest.raises(ReleaseError, match="a link, not a file"):
        sqlanon.estimate(ward, COUNT)
    (ward / "release.json").rename(tmp_path / "release.json")
    (ward / "release.json").symlink_to(tmp_path / "release.json")
    with pytest.raises(ReleaseError, match="is a link to another file, which is not followed"):
        sqlanon.open(ward)


def test_a_database_that_holds_no_release_is_let_go(ward, shell):
    ward("update ward.manifest set manifest = '{}'")
    with pytest.raises(ReleaseError) as refused:
        opened(shell)
    ward("drop table ward.manifest")  # nothing reads the file any more, though the refusal is still at hand
    assert "ward" in str(refused.value)
