"""Sources that cannot be read: file, column and what to do are told, no value, and nothing of the engine's own."""

import random
import re

import duckdb
import pytest

from tests.publishing.test_publish import refused

ASKED = ["--quasi", "age", "--sensitive", "disease", "-l", 4, "--out", "release"]
INTERNAL = re.compile(r"[A-Za-z]+ Error:|Exception|TProtocol|LINE 1|sqlglot|read_csv_auto|magic bytes|https://duckdb")
PEOPLE = "select {age} as {name}, 'd' || i % 8 as disease from range(500) t(i)"


def write(shell, name, age="i % 40", column="age"):
    path = str(shell.folder / name)
    relation = duckdb.sql(PEOPLE.format(age=age, name=column))
    relation.write_csv(path) if name.endswith("csv") else relation.write_parquet(path)
    return path


def cannot(shell, source, says, *options, code=2):
    done = refused(shell, code, "publish", "anatomy", source, *options, *ASKED, says=says)
    assert not INTERNAL.search(done.stderr), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def lay_view(shell, reader, files):
    """Keep a view over files, read as the engine does by itself, in a database of the shell's folder."""
    with duckdb.connect(str(shell.folder / "views.duckdb")) as connection:
        connection.execute(f"create or replace view people as select * from {reader}('{shell.folder}/{files}')")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_of_a_glob_are_matched_by_the_names_of_their_columns(shell, ending):
    write(shell, f"a1.{ending}")
    write(shell, f"a2.{ending}", column="years")
    assert shell("publish", "anatomy", f"a*.{ending}", *ASKED).returncode == 0
    shown = duckdb.sql(f"select count(*), count(age) from '{shell.folder}/release/qit.parquet'").fetchall()
    assert shown == [(1000, 500)]


@pytest.mark.parametrize(("ending", "reader"), [("parquet", "read_parquet"), ("csv", "read_csv")])
def test_files_of_a_view_that_differ_are_named_with_the_column_and_the_remedy(shell, ending, reader):
    write(shell, f"a1.{ending}")
    write(shell, f"a2.{ending}")
    lay_view(shell, reader, f"a*.{ending}")
    write(shell, f"a2.{ending}", column="years")
    says = [f"a1.{ending}' has a column 'age'", f"a2.{ending}' has none", "union_by_name = true"]
    cannot(shell, "people", says, "--database", "views.duckdb")


def test_a_column_of_another_type_is_named_without_its_values(shell):
    write(shell, "a1.parquet")
    write(shell, "a2.parquet")
    lay_view(shell, "read_parquet", "a*.parquet")
    write(shell, "a2.parquet", age="'secret' || i")
    says = ["'age' is VARCHAR in ", "a2.parquet', and BIGINT in the first file", "union_by_name"]
    assert "secret" not in cannot(shell, "people", says, "--database", "views.duckdb")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_a_file_cut_off_is_named(shell, kept):
    path = shell.folder / "cut.parquet"
    whole = write(shell, "cut.parquet")
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    assert whole
    cannot(shell, "cut.parquet", "'cut.parquet' is no whole Parquet file: its end is missing")


def test_a_damaged_file_is_named_and_is_no_fault_of_ours(shell):
    write(shell, "good.parquet")
    whole = (shell.folder / "good.parquet").read_bytes()
    draw, told = random.Random(7), 0
    for _ in range(8):
        harmed = bytearray(whole)
        for _ in range(20):
            harmed[draw.randrange(4, len(whole) - 8)] = draw.randrange(256)
        (shell.folder / "bad.parquet").write_bytes(harmed)
        done = shell("publish", "anatomy", "bad.parquet", *ASKED, "--overwrite")
        assert done.returncode in (0, 2, 3), done.stderr  # harm to a name or a statistic may leave the rows whole
        assert done.returncode == 0 or not INTERNAL.search(done.stderr), done.stderr
        told += "'bad.parquet' is damaged" in done.stderr
    assert told >= 4


def test_lines_of_csv_are_told_by_their_number(shell):
    (shell.folder / "late.csv").write_text(
        "age,disease\n" + "".join(f"{i % 40},d{i % 8}\n" for i in range(30000)) + "secret,d1\n"
    )
    says = ["line 30002 of 'late.csv': the column 'age' was asked for as BIGINT", "--types age=VARCHAR"]
    said = cannot(shell, "late.csv", says, "--types", "age=BIGINT")
    assert "secret" not in said
    (shell.folder / "latin.csv").write_bytes(b"age,disease\n1,d\xff\xfe1\n2,d2\n" * 50)
    cannot(shell, "latin.csv", "'latin.csv' is not UTF-8 text (line 2)")
    (shell.folder / "bad.json").write_text('{"age":1,"disease":"a"}\n{"age":2,\n')
    cannot(shell, "bad.json", "'bad.json', line 3: not JSON")


def test_urls_and_patterns(shell):
    cannot(shell, "https://127.0.0.1:9/people", ["'https://127.0.0.1:9/people' has no ending", ".parquet"])
    cannot(shell, "gone*.parquet", "no file matches 'gone*.parquet'")
    for name in ("a1.parquet", "a2.parquet"):
        write(shell, name)
    says = ["2 files were given, and a source is one text: put a pattern into quotes", "'*.parquet'"]
    refused(shell, 2, "publish", "anatomy", "a1.parquet", "a2.parquet", *ASKED, says=says)


def test_a_mistyped_column_is_asked_after(shell):
    refused(shell, 2, "publish", "anatomy", "patients.parquet", "--quasi", "age,zip_code", *ASKED[2:],
            says="no column 'zip_code' in the source; its columns are 'ssn', 'age', 'sex', 'zipcode', 'disease';"
            " did you mean 'zipcode'?")  # fmt: skip
    done = shell("publish", "anatomy", "patients.parquet", "--quasi", "age,xyzzy", *ASKED[2:])
    assert "did you mean" not in done.stderr
