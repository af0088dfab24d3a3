"""A release is what its manifest names and its form allows: whatever else lies in it is found and named."""

import json
import os

import duckdb
import pytest

import sqlanon
from sqlanon.plans.manifest import manifest_text
from sqlanon.releases.targets import file_sha256


def manifest_of(release):
    return json.loads((release / "release.json").read_text())


def rewrite(release, manifest):
    (release / "release.json").write_text(manifest_text(manifest))


def sign(release):
    """Bring the manifest in line with the files, as a forger does."""
    manifest = manifest_of(release)
    for name in sorted(path.name for path in release.glob("*.parquet")):
        entry = manifest["files"].setdefault(name, {})
        path = release / name
        rows = duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchall()[0][0]
        entry |= {"sha256": file_sha256(path), "bytes": path.stat().st_size, "rows": rows}
    rewrite(release, manifest)


def found(release, check="files"):
    """Return what the one failing check found."""
    report = sqlanon.open(release).verify()
    (failed,) = [one for one in report.checks if one.holds is False]
    assert failed.name == check
    return failed.found


def copy(release, name, sql, options=""):
    duckdb.sql(f"copy ({sql}) to '{release}/{name}.new' (format parquet, compression zstd{options})")
    (release / f"{name}.new").rename(release / name)


def test_what_is_published_holds(release):
    sign(release)
    assert sqlanon.open(release).verify().holds


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "readme.txt", "st_old.parquet"])
def test_a_file_beside_the_release_is_named(release, name):
    (release / name).write_text("123-45-6789,HIV")
    assert found(release) == {name: "not in the manifest"}


def test_folders_and_links_beside_the_release_are_named(release):
    (release / "more").mkdir()
    (release / "link").symlink_to("/etc/passwd")
    os.mkfifo(release / "pipe")
    assert set(found(release)) == {"more", "link", "pipe"}


def test_a_file_of_a_terabyte_is_not_read(release):
    with (release / "qit.parquet").open("r+b") as file:
        file.truncate(2**40)  # which takes no room on the disk
    size = manifest_of(release)["files"]["qit.parquet"]["bytes"]
    assert found(release) == {"qit.parquet": f"1,099,511,627,776 bytes, and not {size:,}"}


def test_a_listed_file_that_is_no_table_is_named(release):
    manifest = manifest_of(release)
    (release / "microdata.csv").write_text("ssn,disease\n")
    manifest["files"]["microdata.csv"] = {"sha256": file_sha256(release / "microdata.csv"), "rows": 0, "bytes": 12}
    rewrite(release, manifest)
    assert found(release) == {"microdata.csv": "no table of the release"}


def test_columns_of_every_part_are_compared(release):
    """The first part's columns are those of the manifest; the second has what nobody promised."""
    path = release / "qit.parquet"
    half = "select *{} from '{}' where group_id {} 30 order by all"
    copy(release, "qit-00000.parquet", half.format("", path, "<"))
    copy(release, "qit-00001.parquet", half.format(", 'HIV' as true_disease", path, ">="))
    path.unlink()
    manifest = manifest_of(release)
    del manifest["files"]["qit.parquet"]
    rewrite(release, manifest)
    sign(release)
    assert found(release) == {"qit-00001.parquet": "its columns are not those of qit-00000.parquet"}
    copy(release, "qit-00001.parquet", f"select * exclude (true_disease) from '{release}/qit-00001.parquet'")
    copy(release, "qit-00001.parquet", f"select * replace (age::bigint as age) from '{release}/qit-00001.parquet'")
    sign(release)
    assert found(release) == {"qit-00001.parquet": "its columns are not those of qit-00000.parquet"}


@pytest.mark.parametrize("name", ["qit-123456789.parquet", "qit-0.parquet", "qit-00001.parquet"])
def test_the_number_of_a_part_is_its_place(release, name):
    (release / "qit.parquet").rename(release / name)
    manifest = manifest_of(release)
    manifest["files"][name] = manifest["files"].pop("qit.parquet")
    rewrite(release, manifest)
    assert found(release) == {name: "not the part 00000"}


def test_metadata_of_parquet_is_named(release):
    copy(release, "qit.parquet", f"from '{release}/qit.parquet'", ", kv_metadata {microdata: 'ssn 1 has HIV'}")
    sign(release)
    assert found(release) == {"qit.parquet": "the metadata 'microdata'"}


def test_a_file_that_is_no_parquet_is_named(release):
    for data in (b"", b"PAR1", b"PAR1" + b"\x00" * 30 + b"PAR1", b"PAR1\x15" + b"\xff" * 31 + b"\x20\x00\x00\x00PAR1"):
        (release / "st.parquet").write_bytes(data)
        manifest = manifest_of(release)
        manifest["files"]["st.parquet"] |= {"sha256": file_sha256(release / "st.parquet"), "bytes": len(data)}
        rewrite(release, manifest)
        assert found(release) == {"st.parquet": "no Parquet file of a table"}


@pytest.mark.parametrize(
    ("change", "check", "says"),
    [
        (lambda m: m["verified"].update(diversity=7), "manifest", {"verified diversity": 7}),
        (lambda m: m["verified"].update(confidence=0.5), "manifest", {"verified confidence": 0.5}),
        (lambda m: m["verified"].update(note="HIV"), "manifest", {"nothing else": ["verified note"]}),
        (lambda m: m["verified"].update(quasi_rows={"a": 1}), "manifest", {"nothing else": ["verified quasi_rows"]}),
        (lambda m: m.update(note="ssn 1 has HIV"), "manifest", {"nothing else": ["note"]}),
        (lambda m: m.update(engine="HIV"), "manifest", {"nothing else": ["engine"]}),
        (lambda m: m["columns"].update(note="HIV"), "manifest", {"nothing else": ["columns note"]}),
        (lambda m: m["files"]["st.parquet"].update(bytes=7), "files", None),
        (lambda m: m["files"]["st.parquet"].update(note="HIV"), "files", {"st.parquet": "described by note"}),
    ],
)
def test_a_manifest_says_what_is_found_and_nothing_else(release, change, check, says):
    manifest = manifest_of(release)
    change(manifest)
    rewrite(release, manifest)
    told = found(release, check)
    assert told == says if says is not None else told["st.parquet"].endswith("bytes, not 7")


def test_what_stands_in_a_schema_beside_the_release_is_named(published, tmp_path):
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
