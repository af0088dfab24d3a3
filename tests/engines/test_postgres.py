"""PostgreSQL: the same key gives the same release, the same proofs and the same estimates as in DuckDB."""

import pytest

import sqlanon
from sqlanon.errors import DataError, QueryError, SourceError, TargetError, UsageError
from sqlanon.plans.templates import ident
from tests.engines.hostile import (
    ASKED,
    COLUMNS,
    IDENTIFIERS,
    KEY,
    KNOWN,
    PUBLISH,
    QUERIES,
    ROWS,
    SENSITIVE,
    a_background,
    refused,
    rows_of,
    same_answer,
    same_posteriors,
)

"""PostgreSQL: the same key gives the same release, the same proofs and the same estimates as in DuckDB."""


@pytest.fixture(scope="session")
def shop(server):
    """Make a database that sorts as English does, with the tables; return the server."""
    import psycopg

    database = server.new_database("shop", "template template0 locale_provider icu icu_locale 'en-US'")
    with psycopg.connect(database, autocommit=True) as con:
        con.execute("create role guest login password 'open sesame'")
        con.execute(f"create table hostile ({', '.join(f'{ident(name)} {kind}' for name, kind in COLUMNS.items())})")
        with con.cursor() as cursor, cursor.copy("copy hostile from stdin") as copy:
            for row in ROWS:
                copy.write_row(row)
        con.execute(
            "create table patients as select i as ssn, i % 40 as age, 'd' || i % 8 as disease"
            " from generate_series(1, 400) as t(i)"
        )
        con.execute("grant select on patients to guest")
    return server


@pytest.fixture
def postgres(shop):
    """Open a connection; what a test publishes is dropped after it."""
    import psycopg

    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        yield con
    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        con.execute("drop schema if exists release cascade")


def schemas(shop) -> set[str]:
    import psycopg

    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        names = con.execute("select nspname from pg_namespace where nspname !~ '^pg_|^information|^public'").fetchall()
        return {name for (name,) in names}


def test_postgres_publishes_what_duckdb_publishes(postgres, expected):
    release = sqlanon.anatomy(postgres, "public.hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    assert rows_of(release) == rows_of(expected)
    left = postgres.execute("select count(*) from pg_class where relnamespace = pg_my_temp_schema()").fetchone()
    assert left == (0,), "intermediate tables went with the run"


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_postgres_reads_each_type_of_identifier_as_duckdb_does(postgres, source, identifier):
    asked = {**ASKED, "quasi": ["age"], "id": identifier, "key": KEY}
    release = sqlanon.anatomy(postgres, "hostile", **asked)
    assert rows_of(release) == rows_of(sqlanon.anatomy(source[0], "hostile", **asked))


def test_postgres_proves_and_estimates_as_duckdb_does(postgres, expected):
    sqlanon.anatomy(postgres, "hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    release = sqlanon.open("release", con=postgres)
    report, wanted = release.verify(against="hostile"), expected.verify(against="hostile")
    assert report.holds and report.checks == wanted.checks
    assert {key: float(x) for key, x in report.figures.items()} == pytest.approx(dict(wanted.figures))
    for query in QUERIES:
        same_answer(release.estimate(query), expected.estimate(query))
        same_answer(release.estimate(query, "ridge"), expected.estimate(query, "ridge"))


def test_postgres_randomizes_as_duckdb_does(postgres, randomized):
    for asked, expected in randomized:
        release = sqlanon.splu(postgres, "hostile", **asked)
        assert rows_of(release) == rows_of(expected)
        assert release.manifest["dropped_rows"] == expected.manifest["dropped_rows"]
        assert release.verify(against="hostile").holds
        same_answer(release.estimate(QUERIES[0]), expected.estimate(QUERIES[0]))


def test_postgres_groups_class_by_class_as_duckdb_does(postgres, classes):
    for asked, expected in classes:
        release = sqlanon.robust(postgres, "hostile", **asked)
        assert rows_of(release) == rows_of(expected)
        assert release.manifest["dropped_rows"] == expected.manifest["dropped_rows"]
        report, wanted = release.verify(against="hostile"), expected.verify(against="hostile")
        assert report.holds and report.checks == wanted.checks
        for query in QUERIES:
            same_answer(release.estimate(query), expected.estimate(query))


def test_postgres_finds_the_posteriors_that_duckdb_finds(postgres, expected, exposed):
    sqlanon.anatomy(postgres, "hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
    release = sqlanon.open("release", con=postgres)
    for number, column in enumerate(KNOWN):
        postgres.execute(f"create temporary table known_{number} as {a_background(column)}")
    report = release.verify(background=[f"known_{number}" for number in range(len(KNOWN))], r=2)
    same_posteriors(report, exposed[0])
    left = postgres.execute("select count(*) from pg_class where relnamespace = pg_my_temp_schema()").fetchone()
    assert left == (len(KNOWN),)
    columns = f"cast('NaN' as real) as probability, 1 as age, 'x' as {ident(SENSITIVE)}"
    postgres.execute(f"create temporary table wrong as select {columns}")
    with pytest.raises(UsageError, match="1 of 1 probabilities are not from 0 to 1"):
        release.verify(background="wrong")


def test_postgres_sees_rows_that_lie_in_another_order(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert release.verify().holds
    postgres.execute("update release.qit set age = age where age = 3")  # the new versions lie behind
    (order,) = [check for check in release.verify().checks if check.name == "row_order"]
    assert order.holds is False


def test_a_fresh_key_needs_no_identifier_in_postgres(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4)
    assert release.manifest["rows"] == 400


def test_postgres_publishes_inside_the_callers_transaction(shop, postgres):
    import psycopg

    with psycopg.connect(shop.dsn("shop")) as con:
        con.execute("set datestyle = 'German'")
        sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease", l=4, into="release")
        assert con.execute("show datestyle").fetchone()[0].startswith("German")
        assert "release" not in schemas(shop)
        con.rollback()
    assert "release" not in schemas(shop)


def test_postgres_replaces_a_release_and_nothing_else(shop, postgres):
    asked = {"quasi": "age", "sensitive": "disease", "into": "release"}
    sqlanon.anatomy(postgres, "patients", l=4, **asked)
    postgres.execute("create table release.mine as select 1 as one")
    with pytest.raises(TargetError, match="say overwrite=True"):
        sqlanon.anatomy(postgres, "patients", l=3, **asked)
    release = sqlanon.anatomy(postgres, "patients", l=3, overwrite=True, **asked)
    assert release.manifest["parameters"]["l"] == 3
    assert set(release.engine.tables("release")) == {"qit", "st", "manifest", "mine"}


def test_a_session_lost_in_mid_run_leaves_nothing(shop, postgres, monkeypatch):
    import psycopg

    from sqlanon.engines.postgres import PostgresEngine

    create = PostgresEngine.create

    def until_the_end(self, statement, lasting=False):
        create(self, statement, lasting)
        if statement.name == "qit":
            with psycopg.connect(shop.dsn("shop"), autocommit=True) as other:
                other.execute("select pg_terminate_backend(%s, 5000)", [self.connection.info.backend_pid])

    monkeypatch.setattr(PostgresEngine, "create", until_the_end)
    with pytest.raises(SourceError, match="session on the PostgreSQL server was lost; nothing was published"):
        sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert "release" not in schemas(shop)


def test_a_refusal_leaves_the_callers_session_as_it_was(postgres):
    with pytest.raises(DataError, match="not possible"):
        sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=9, into="release")
    assert postgres.execute("select 1").fetchone() == (1,)
    assert postgres.info.transaction_status == 0


def test_what_postgres_cannot_answer_alike_is_refused(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4)
    for condition in (
        "regexp_matches(disease, 'd1')",
        "disease LIKE 'd\\_'",
        "upper(disease) = 'D1'",
        "age // 10 = 2",
        "substr(disease, -1) = '1'",
        "CAST(age / 10 AS INTEGER) = 2",
    ):
        with pytest.raises(QueryError, match="postgres cannot run this: not portable"):
            release.estimate(f"SELECT COUNT(*) FROM release WHERE {condition}")


ENGINE = ("--engine", "postgres", "--into", "release")


def test_the_command_line_publishes_verifies_and_estimates_in_postgres(shop, postgres, shell):
    run = shell(*PUBLISH, *ENGINE, SQLANON_DSN=shop.dsn("shop"))
    assert run.returncode == 0, run.stderr
    for verb in (
        ("verify", "release", "--against", "patients"),
        ("estimate", "release", "SELECT COUNT(*) FROM release"),
    ):
        run = shell(*verb, "--engine", "postgres", "--dsn", shop.dsn("shop"))
        assert run.returncode == 0, run.stderr
    printed = shell(*PUBLISH, "--into", "other", "--engine", "postgres", "--sql", SQLANON_DSN=shop.dsn("shop"))
    assert printed.returncode == 0 and "convert_to(" in printed.stdout and "other" not in schemas(shop)


def test_bad_input_of_postgres_is_one_clear_line(shop, shell):
    guest = shop.dsn("shop", "guest", "open%20sesame")
    refused(shell(*PUBLISH, *ENGINE, SQLANON_DSN=guest), "PostgreSQL refuses: permission denied for database shop")
    wrong = shop.dsn("shop", "guest", "sesame")
    refused(shell(*PUBLISH, *ENGINE, "--dsn", wrong), "password authentication failed")
    down = f"postgresql://guest:sesame@127.0.0.1:{1}/shop"
    refused(shell(*PUBLISH, *ENGINE, "--dsn", down), "Connection refused")
    refused(shell(*PUBLISH, *ENGINE, "--dsn", "postgresql:/guest:sesame@"), "the --dsn cannot be read")
    missing = (*PUBLISH[:2], "nowhere.patients", *PUBLISH[3:], *ENGINE)
    refused(shell(*missing, SQLANON_DSN=guest), "no table or view 'nowhere.patients'")
    refused(shell(*PUBLISH, "--engine", "postgres", "--out", "rel", SQLANON_DSN=guest), "say --into SCHEMA")
    refused(shell("verify", "nothing", "--engine", "postgres", SQLANON_DSN=guest), "no release in the schema")
    hostile = (*PUBLISH[:2], "hostile", *PUBLISH[3:], *ENGINE)
    refused(shell(*hostile, SQLANON_DSN=guest), "permission denied for table hostile")
