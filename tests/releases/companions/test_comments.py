"""Comments in a schema: every table and column says what it is, and no text but that stands there."""

import duckdb
import pytest

import sqlanon
from sqlanon.releases.companions import foreign_comments, write_comments
from tests.conftest import NASTY_NAMES

QUASI = [NASTY_NAMES[0], "ünï ©ode 漢字", "age"]
METHODS = {
    "anatomy": (
        {"l": 3},
        "Do not join qit and st and count: each person would come once with every value of their group",
    ),
    "splu": ({"gamma": 3}, "Do not count the values as they stand"),
    "mondrian": ({"k": 4, "l": 2}, "Do not take a box for a person"),
    "uncertain": ({"k": 4, "l": 2, "threshold": 0.5, "influence": "learn"}, "quasi values may stand for several, too"),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("commented") / "hospital.duckdb"
    with duckdb.connect(path) as connection:
        named = ", ".join('i % 4 as "' + name.replace('"', '""') + '"' for name in QUASI[:2])
        connection.execute(
            f"create table patients as select i as ssn, i % 30 as age, {named},"
            " 'd' || i % 5 as \"'; drop\" from range(60) t(i)"
        )
        for method, (options, _) in METHODS.items():
            roles = {"quasi": QUASI, "sensitive": "'; drop", "id": "ssn"}
            roles |= {"unique_quasi": "keep"} if method != "mondrian" else {}
            sqlanon.publish(method, connection, "patients", into=method, **roles, **options)
    return str(path)


@pytest.mark.parametrize("method", METHODS)
def test_a_schema_explains_itself(database, method):
    release = sqlanon.open(method, database=database)
    assert release.verify().holds
    comments = release.engine.comments(method)
    assert comments == write_comments(release.manifest)
    published = {(table, name) for table in release.tables for name in release.published_tables.columns(table)}
    assert set(comments) == published | {(table, "") for table in (*release.tables, "manifest")}
    (whole,) = {comments[table, ""] for table in release.tables}
    assert METHODS[method][1] in whole and "Promised: " in whole and "Not promised: " in whole


def test_other_texts_are_foreign_and_missing_ones_are_not(database):
    with duckdb.connect(database) as connection:
        connection.execute("comment on table anatomy.st is null").fetchall()
        connection.execute("comment on column anatomy.st.count is null").fetchall()
    assert sqlanon.open("anatomy", database=database).verify().holds  # as older versions published
    with duckdb.connect(database) as connection:
        connection.execute("comment on table anatomy.st is 'ssn 1 has HIV'").fetchall()
        connection.execute("comment on column anatomy.qit.age is 'the group of a row'").fetchall()
        connection.execute("comment on column anatomy.manifest.manifest is ''").fetchall()
    check = sqlanon.open("anatomy", database=database).verify().checks[0]
    assert check.found == dict.fromkeys(
        ("comment on st", "comment on column qit.age", "comment on column manifest.manifest"),
        "not what the manifest gives",
    )


def test_a_manifest_that_tells_nothing_gives_no_comment(database):
    manifest = sqlanon.open("anatomy", database=database).manifest
    broken = {name: entry for name, entry in manifest.items() if name != "guarantee"}
    assert foreign_comments(broken, write_comments(manifest))
