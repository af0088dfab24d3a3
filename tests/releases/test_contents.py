"""A release is what its manifest names and its form allows: whatever else lies in it is found and named."""

import os

import duckdb
import pytest

import sqlanon
from tests.releases.conftest import change_manifest, failing, sign


def copy(release, name, sql, options=""):
    duckdb.sql(f"copy ({sql}) to '{release}/{name}.new' (format parquet, compression zstd{options})")
    (release / f"{name}.new").rename(release / name)


def lay(name, data=b"123-45-6789,HIV", signs=()):
    """Return what writes a file into a release, and signs some."""

    def change(release):
        (release / name).write_bytes(data)
        sign(release, *signs) if signs else None

    return change


def lay_no_files(release):
    (release / "more").mkdir()
    (release / "link").symlink_to("/etc/passwd")
    os.mkfifo(release / "pipe")


def lay_a_terabyte(release):
    with (release / "qit.parquet").open("r+b") as file:
        file.truncate(2**40)  # which takes no room on the disk


def number(name):
    def change(release):
        (release / "qit.parquet").rename(release / name)
        change_manifest(release, lambda m: m["files"].update({name: m["files"].pop("qit.parquet")}))

    return change


def add_metadata(release):
    copy(release, "qit.parquet", f"from '{release}/qit.parquet'", ", kv_metadata {microdata: 'ssn 1 has HIV'}")
    sign(release)


@pytest.mark.parametrize(("change", "says"), [
    *((lay(name), {name: "not in the manifest"}) for name in ("notes.txt", ".hidden", "readme.txt", "st_old.parquet")),
    (lay_no_files, dict.fromkeys(("more", "link", "pipe"), "not in the manifest")),
    (lay_a_terabyte, {"qit.parquet": "1,099,511,627,776 bytes, and not "}),
    (lay("microdata.csv", signs=["microdata.csv"]), {"microdata.csv": "no table of the release"}),
    *((number(name), {name: "not the part 00000"})
      for name in ("qit-123456789.parquet", "qit-0.parquet", "qit-00001.parquet")),
    (lay("notes.md", signs=["notes.md"]), {"notes.md": "no table of the release"}),
    (lambda release: change_manifest(release, lambda m: m["files"].pop("README.md")),
     {"README.md": "not in the manifest"}),
    (lambda release: (release / "estimate.sql").unlink(), {"estimate.sql": "missing"}),
    (add_metadata, {"qit.parquet": "the metadata 'microdata'"}),
    *((lay("st.parquet", data, ["st.parquet"]), {"st.parquet": "no Parquet file of a table"}) for data in (
        b"", b"PAR1", b"PAR1" + b"\x00" * 30 + b"PAR1", b"PAR1\x15" + b"\xff" * 31 + b"\x20\x00\x00\x00PAR1"
    )),
])  # fmt: skip
def test_what_does_not_belong_to_a_release_is_named(release, change, says):
    change(release)
    told = failing(release)
    assert set(told) == set(says) and all(told[name].startswith(words) for name, words in says.items())


def test_columns_of_every_part_are_compared(release):
    """The first part's columns are those of the manifest; the second has what nobody promised."""
    path = release / "qit.parquet"
    half = "select *{} from '{}' where group_id {} 30 order by all"
    copy(release, "qit-00000.parquet", half.format("", path, "<"))
    copy(release, "qit-00001.parquet", half.format(", 'HIV' as true_disease", path, ">="))
    path.unlink()
    sign(release, change=lambda manifest: manifest["files"].pop("qit.parquet"))
    assert failing(release) == {"qit-00001.parquet": "its columns are not those of qit-00000.parquet"}
    copy(release, "qit-00001.parquet", f"select * exclude (true_disease) from '{release}/qit-00001.parquet'")
    copy(release, "qit-00001.parquet", f"select * replace (age::bigint as age) from '{release}/qit-00001.parquet'")
    sign(release)
    assert failing(release) == {"qit-00001.parquet": "its columns are not those of qit-00000.parquet"}


@pytest.mark.parametrize(
    ("change", "check", "says"),
    [
        (lambda m: m["verified"].update(diversity=7), "manifest", {"verified diversity": 7}),
        (lambda m: m["verified"].update(confidence=0.5), "manifest", {"verified confidence": 0.5}),
        (lambda m: m["verified"].update(note="HIV"), "manifest", {"nothing else": ["verified note"]}),
        (lambda m: m.update(note="ssn 1 has HIV"), "manifest", {"nothing else": ["note"]}),
        (lambda m: m["columns"].update(note="HIV"), "manifest", {"nothing else": ["columns note"]}),
        (lambda m: m["files"]["st.parquet"].update(bytes=7), "files", None),
        (lambda m: m["files"]["st.parquet"].update(note="HIV"), "files", {"st.parquet": "described by note"}),
    ],
)
def test_a_manifest_says_what_is_found_and_nothing_else(release, change, check, says):
    change_manifest(release, change)
    told = failing(release, check)
    assert told == says if says is not None else told["st.parquet"].endswith("bytes, not 7")


def test_what_stands_in_a_schema_beside_the_release_is_named(tmp_path):
    path = str(tmp_path / "theirs.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            "create table patients as select i as ssn, i % 50 as age, 'd' || i % 8 as disease from range(80) t(i)"
        )
        sqlanon.anatomy(connection, "patients", quasi="age", sensitive="disease", l=4, into="ward")
    assert sqlanon.open("ward", database=path).verify().holds
    with duckdb.connect(path) as connection:
        for sql in (
            "create table ward.microdata as from patients",
            "create view ward.people as from patients",
            "create macro ward.told() as 'ssn 1 has HIV'",
            "create sequence ward.hiv",
            "create type ward.names as enum ('ssn 1', 'HIV')",
            "comment on table ward.st is 'ssn 1 has HIV'",
            "comment on column ward.st.disease is 'HIV'",
            "alter table ward.qit alter age set default 42",
        ):
            connection.execute(sql)
    (check, *_) = sqlanon.open("ward", database=path).verify().checks
    assert check.holds is False
    assert set(check.found) == {
        *("table microdata", "view people", "macro told", "sequence hiv", "type names"),
        *("comment on st", "comment on column st.disease", "default of qit.age"),
    }
