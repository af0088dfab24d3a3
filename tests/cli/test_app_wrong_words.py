"""What a beginner types or has at hand, and is wrong: file, line, cause, and what to type instead."""

import duckdb
import pytest

ROLES = ("--quasi", "age", "--sensitive", "disease", "--id", "ssn", "-l", "3", "--out", "ward")
LINES = [f"{i},{i % 9},d{i % 5}\n" for i in range(3000)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    columns = "i as ssn, i % 9 as age, 'd' || i % 5 as disease from range(50) t(i)"
    duckdb.connect().execute(f"copy (select {columns}) to '{folder / 'a.parquet'}'")
    (folder / "b.parquet").write_text("a page of a server that had no such file")
    (folder / "quote.csv").write_text(f'ssn,age,disease\n{"".join(LINES)}3000,"x\n7,1,d1\n')
    (folder / "short.csv").write_text(f"ssn,age,disease\n{''.join(LINES[:300])}7,1,2,3,4,5\n8,1,d1\n")
    (folder / "empty.csv").touch()
    (folder / "people.xlsx").write_bytes(b"PK\x03\x04")
    (folder / "people.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    return folder


WRONG = {
    "glob": (["{}/*.parquet", *ROLES], ["b.parquet' is "]),
    "quote": (["{}/quote.csv", *ROLES], ["line 3002 of ", "quote.csv'", "look at its quotes"]),
    "columns": (["{}/short.csv", *ROLES], ["line 302 of ", "short.csv'"]),
    "empty": (["{}/empty.csv", *ROLES], ["empty.csv' is empty"]),
    "xlsx": (["{}/people.xlsx", *ROLES], ["install excel", "people.parquet'"]),
    "sqlite": (["{}/people.sqlite", *ROLES], ["install sqlite", "people.parquet'"]),
    "database": (["t", *ROLES, "--database", "{}/people.sqlite"], ["install sqlite"]),
    "key": (["{}/a.parquet", *ROLES, "--key-file", "{}/key"], ["no key file", "openssl rand -hex 32"]),
    "query": (["SELECT * FROM people", *ROLES], ["is a query", "say --query SELECT"]),
    "blanks": (["{}/a.parquet", "--quasi", "age ssn", *ROLES[2:4], *ROLES[6:]],
               ["'age ssn' is several columns: write age,ssn"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_source_that_is_wrong_is_told_with_what_to_type(shell, files, name):
    words, told = WRONG[name]
    done = shell("publish", "anatomy", *(word.format(files) for word in words))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert all(part in done.stderr for part in told), done.stderr
    assert done.stderr.count("\n") == 1 and not (shell.folder / "ward").exists()


def test_a_method_is_no_verb(shell):
    done = shell("anatomy", "patients.parquet", *ROLES)
    assert (done.returncode, done.stderr) == (
        2, "error: 'anatomy' is a method, not a verb; type: sqlanon publish anatomy …\n"
    )  # fmt: skip
    assert "No such command 'anatomi'" in shell("anatomi").stderr


def test_a_target_is_a_share(shell, files):
    asked = ("compare", files / "a.parquet", *ROLES[:4], "--target-error")
    done = shell(*asked, "10%")
    assert done.returncode == 2 and "a share, for example 0.1 for 10 %; not '10%'" in done.stderr
