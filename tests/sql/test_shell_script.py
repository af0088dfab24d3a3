"""`compile --dialect duckdb` runs as it is in DuckDB's own client, and gives the release of the Python plan."""

import duckdb
import pytest

from tests.client import Client, new_database
from tests.publishing.test_store_macros import PATIENTS

KEY = "ab" * 32
ROLES = ["--quasi", "age,sex,zipcode", "--sensitive", "disease", "-l", 4]


@pytest.fixture
def client(tmp_path):
    return Client(new_database(tmp_path / "fresh.duckdb", PATIENTS), KEY)


def test_the_script_gives_the_release_of_the_command_line(client, shell):
    roles = [*ROLES, "--id", "ssn"]
    script = shell("compile", "anatomy", "patients", *roles, "--dialect", "duckdb").stdout
    done = client.run(script)
    assert done.returncode == 0, done.stderr
    asked = ["patients", "--database", client.path, *roles, "--out", "release"]
    assert shell("publish", "anatomy", *asked, SQLANON_KEY=KEY).returncode == 0
    for name in ("qit", "st"):
        published = duckdb.sql(f"from '{shell.folder}/release/{name}.parquet'").fetchall()
        assert client.rows(f"from sqlanon_{name}") == published
    assert {row[0] for row in client.rows("select table_name from information_schema.tables")} == {
        "patients",
        "sqlanon_qit",
        "sqlanon_st",
    }


@pytest.mark.parametrize(
    ("key", "roles", "words"),
    [
        *((key, ROLES, "the key is missing: hand over 64 hex digits") for key in (None, "short", KEY + "0")),
        (KEY, [*ROLES[:-1], 700], "l = 700 needs at least 700 rows"),
        (KEY, ["--quasi", "age", "--sensitive", "sex", "-l", 2], "column 'sex'; say --nulls value"),
        (KEY, [*ROLES[:-1], 9], "l = 9 is not possible"),
        (KEY, ["--quasi", "age", *ROLES[2:], "--id", "sex"], "persons have more than one row"),
    ],
)
def test_a_script_that_refuses_leaves_nothing(client, shell, key, roles, words):
    script = shell("compile", "anatomy", "patients", *roles, "--dialect", "duckdb").stdout
    done = Client(client.path, key).run(script)
    assert done.returncode != 0
    assert words in done.stderr
    assert client.rows("select table_name from information_schema.tables") == [("patients",)]
