"""What is PostgreSQL's own: its session, its types, its catalogs, its planner; what it makes alike is in test_alike."""

import shlex

import pytest

import sqlanon
from sqlanon.attacks.attack_release import attack_release
from sqlanon.engines.connect import engine_of
from sqlanon.errors import DataError, QueryError, ReleaseError, SourceError, TargetError, UsageError
from sqlanon.plans.build import build, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.companions import write_comments
from tests.engines.hostile import (
    ASKED,
    DOUBTFUL,
    IDENTIFIERS,
    KEY,
    PUBLISH,
    marked_rows,
    refused,
    rows_of,
    shown_rows,
)
from tests.engines.nights import ASKED_NIGHTS, NIGHTS, publish_nights, tables_of, told_of


def schemas(shop) -> set[str]:
    import psycopg

    with psycopg.connect(shop.dsn("shop"), autocommit=True) as con:
        names = con.execute("select nspname from pg_namespace where nspname !~ '^pg_|^information|^public'").fetchall()
        return {name for (name,) in names}


@pytest.mark.parametrize(
    ("method", "asked"), [("splu", {"gamma": 3}), ("anatomy", {"l": 3}), ("mondrian", {"k": 5, "l": 2})]
)
def test_releases_of_both_types_of_text_are_attacked_together(postgres, method, asked):
    """The server compares no array of its one type of text with one of the other."""
    roles = {"quasi": ["age", "ward"], "sensitive": "disease", "id": "i", "overwrite": True}
    select = "select i, i % 133 as age, 'w' || i % 3 as ward, cast('d' || i % 5 as {}) as disease"
    releases, told = [], []
    for number, kind in enumerate(("varchar(9)", "text")):
        kinds = f"{select.format(kind)} from generate_series(1, 400) as t(i)"
        postgres.execute(f"create temporary table people_{number} as {kinds}")
        key = f"{number}e" * 32
        publish = getattr(sqlanon, method)
        releases.append(publish(postgres, f"people_{number}", key=key, into=f"release_{number}", **roles, **asked))
    try:
        for release, other, source in (*releases, "people_1"), (*releases[::-1], "people_0"):
            found = attack_release(release, source, ("i",), others=[other], telling=False, orders=False)
            told += [one.attack for one in found.findings if one.family == "composition"]
            told += [note for note in found.notes if "alone with their quasi values in several" in note]
        assert len(told) == (4 if method == "splu" else 2), "the releases were looked at together"
    finally:
        postgres.execute("drop schema release_0 cascade; drop schema release_1 cascade")


def test_no_rows_of_postgres_have_the_types_of_rows(postgres):
    kinds = "1 as a, cast(2 as bigint) as b, cast(3 as double precision) as c, 'd' as d"
    whole, empty = (engine_of(postgres).frame(f"select {kinds} where {held}") for held in ("true", "false"))
    assert whole.dtypes.iloc[:3].to_dict() == empty.dtypes.iloc[:3].to_dict() and not len(empty)


@pytest.mark.parametrize("number", range(len(ASKED_NIGHTS)))
def test_postgres_follows_a_ledger_as_duckdb_does(postgres, postgres_side, duck, nights, tmp_path, number):
    found, ledger = [], tmp_path / f'Ward\'s "{number}"'

    def place(night):
        if night:
            before = sqlanon.open("release", con=postgres)
            found.extend(tables_of([before]))
            assert night < 2 or before.verify(against=NIGHTS[1]).holds  # groups, where there are any, are of two times
        return {"into": "release", "overwrite": True}

    for name in NIGHTS:
        postgres_side.take(duck, name)
    releases = publish_nights(postgres, ledger, place, **ASKED_NIGHTS[number])
    assert ([*found, *tables_of(releases[-1:])], told_of(ledger)) == nights(number)


def test_postgres_runs_the_script_for_arrays(postgres, postgres_side, duck, expected):
    given = {name: value for name, value in DOUBTFUL.items() if name != "key"}
    for name in ("doubts", "doubt_tree"):
        postgres_side.take(duck, name)
    script = sqlanon.compile("uncertain", "doubts", dialect="postgres", con=duck, **given)
    postgres.execute(f"set sqlanon.key = '{KEY}'")
    postgres.execute(script)
    found = {
        name: marked_rows(engine_of(postgres).rows(f"select * from public.sqlanon_{name}")) for name in ("qit", "st")
    }
    postgres.execute("drop table sqlanon_qit, sqlanon_st")
    assert found == shown_rows(expected("uncertain, merged"))


def test_a_column_with_a_collation_that_takes_spellings_for_one_is_refused(postgres):
    postgres.execute(
        "create collation pg_temp.spellings (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    postgres.execute(
        "create temporary table people as select i, i % 9 as age, (array['Flu', 'flu', 'x'])[1 + i % 3]"
        " collate pg_temp.spellings as d, 'e' || i % 3 as e from generate_series(1, 90) as t(i)"
    )
    asked = {"quasi": "age", "id": "i", "l": 2, "into": "release"}
    with pytest.raises(UsageError, match="column 'd' has a collation"):
        sqlanon.anatomy(postgres, "people", sensitive="d", **asked)
    assert sqlanon.anatomy(postgres, "people", sensitive="e", **asked).manifest["rows"] == 90


def test_postgres_reads_arrays_of_every_kind_and_tries_casts(postgres):
    postgres.execute("create type pg_temp.mood as enum ('b', 'a')")
    postgres.execute(
        "create temporary table kinds as select 1 as i, array['b', 'a']::pg_temp.mood[] as m,"
        " array[1.25]::numeric(5, 2)[] as n, array['10.0.0.1']::inet[] as o, array[1, 2] as w,"
        " '{1}'::jsonb[] as j, array['x']::varchar(3)[] as v"
    )
    source, types = engine_of(postgres).find_source("kinds")
    assert {name for name, kind in types.items() if kind == "NESTED"} == set("mnowjv")
    assert source.lists == {
        "m": "VARCHAR", "n": "DECIMAL(5,2)", "o": "VARCHAR", "w": "INTEGER", "j": "VARCHAR", "v": "VARCHAR",
    }  # fmt: skip
    (row,) = engine_of(postgres).rows(f"select {source.expression('m')} as m, {source.expression('w')} as w from kinds")
    assert row == {"m": ["b", "a"], "w": [1, 2]}
    texts = ["12", " -7 ", "99999999999999999999", "1.5", "1e300", "1e999", "NaN", "2024-02-29", "2024-13-01", "x", ""]
    listed = " union all ".join(f"select {number} as i, '{text}' as t" for number, text in enumerate(texts))
    casts = ", ".join(f"try_cast(t as {kind}) as {kind[:3]}" for kind in ("integer", "double", "date"))
    read = f"select {casts} from ({listed}) as texts order by i"
    found = [[*map(str, row.values())] for row in engine_of(postgres).rows(read)]
    assert [row[0] for row in found] == ["12", "-7", *["None"] * 9]
    assert [row[1] for row in found] == ["12.0", "-7.0", "1e+20", "1.5", "1e+300", "None", "nan", *["None"] * 4]
    assert [row[2] for row in found] == [*["None"] * 7, "2024-02-29", *["None"] * 3]


def test_postgres_sees_rows_that_lie_in_another_order(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert release.verify().holds
    postgres.execute("update release.qit set age = age where age = 3")  # the new versions lie behind
    (order,) = [check for check in release.verify().checks if check.name == "row_order"]
    assert order.holds is False


@pytest.mark.parametrize("rows", [63, 65])
def test_every_row_has_bytes_of_its_own_where_a_hash_serves_many(postgres, rows):
    postgres.execute(
        "create temporary table people as select i % 9 as age, 'd' || i % 7 as disease, 'i' || i % 5 as income"
        f" from generate_series(1, {rows}) as t(i)"
    )
    anatomy = sqlanon.anatomy(postgres, "people", quasi="age", sensitive="disease", l=3, into="release")
    assert "sha512" in anatomy.sql and anatomy.manifest["rows"] == rows
    asked = {"quasi": "age", "sensitive": ["disease", "income"], "gamma": 3, "into": "release", "overwrite": True}
    splu = sqlanon.splu(postgres, "people", residue="keep", **asked)
    assert "sha512" in splu.sql and splu.manifest["rows"] == rows


def test_draws_of_bytes_all_differ_and_depend_on_the_key(postgres):
    engine = engine_of(postgres)
    postgres.execute("create temporary table people as select i as row_number from generate_series(1, 1000) as t(i)")
    postgres.execute("create temporary table key (secret text)")
    values = {"drawing": "number", "kept": ["row_number"], "further": ["slot_draw"], "purpose": "p"}
    standing = {"population": ident("people"), "key": ident("key")}
    (made,) = build((Chapter("draws", values),), "", standing, "postgres")
    drawn = made.sql
    seen = []
    for key in ("5" * 64, "6" * 64):
        postgres.execute("delete from key")
        postgres.execute("insert into key values (%s)", [key])
        rows = engine.rows(drawn)
        assert {row["row_number"] for row in rows} == set(range(1, 1001))
        draws = [row[name] for row in rows for name in ("draw", "slot_draw")]
        assert len(set(draws)) == 2000 and min(draws) >= 0 and max(draws) < 2**60
        # of even draws half lie in the lower half: five standard errors
        assert abs(sum(draw < 2**59 for draw in draws) - 1000) < 5 * 500**0.5
        seen += draws
    assert len(set(seen)) == 4000


@pytest.mark.parametrize(("combinations", "counted"), [(20_000, False), (120_000, True)])
def test_combinations_of_many_rows_are_estimated_and_counted_where_they_may_be_unique(postgres, combinations, counted):
    rows = 120_000
    postgres.execute(
        f"create temporary table people as select i % {combinations} % 600 as a, i % {combinations} / 600 as b,"
        f" 'd' || i % 8 as disease from generate_series(1, {rows}) as t(i)"
    )
    release = sqlanon.anatomy(postgres, "people", quasi=["a", "b"], sensitive="disease", l=4)
    assert ("combination" in release.sql) == counted
    assert any("tell 120,000 of 120,000 rows" in note for note in release.notes) == (combinations == rows)
    engine, columns = engine_of(postgres), [ident("a"), ident("b")]
    values = {"relation": ident("people"), "columns": columns}
    (told,) = engine.rows(render_query("ranges", values, {}))
    assert told["different_rows"] == pytest.approx(combinations, rel=0.1)


def test_rows_that_are_left_out_leave_no_row_without_a_draw(postgres):
    postgres.execute(
        "create temporary table people as select i % 9 as age, case when i % 4 > 0 then 'd' || i % 7 end as disease"
        " from generate_series(1, 1000) as t(i)"
    )
    release = sqlanon.anatomy(postgres, "people", quasi="age", sensitive="disease", l=3, nulls="drop")
    assert release.manifest["rows"] == 750


def test_one_sort_alone_has_half_of_the_memory_of_maintenance(postgres):
    asked = "select current_setting('work_mem') as memory from generate_series(1, 2) as t(i)"
    postgres.execute("set work_mem = '4MB'; set maintenance_work_mem = '64MB'")
    engine = engine_of(postgres)
    for text, held in (
        ("order by i", "32MB"),
        ("cross join generate_series(1, 1) as u group by 1", "32MB"),
        ("join generate_series(1, 1) as u(i) on t.i = u.i order by t.i", "16MB"),
    ):
        assert engine._run(f"{asked} {text}")[1][0] == (held,)


def test_postgres_sorts_in_a_quarter_of_the_memory_of_maintenance_at_most_and_restores_every_setting(postgres):
    def settings(*names):
        return [postgres.execute("select current_setting(%s)", [name]).fetchone()[0] for name in names]

    names = ("work_mem", "search_path", "synchronize_seqscans", "max_parallel_workers_per_gather")
    asked = "select current_setting('work_mem') as memory, current_setting('synchronize_seqscans') as shared"
    for work, maintenance, held in (("4MB", "64MB", "16MB"), ("100kB", "1GB", "64MB"), ("32MB", "64MB", "32MB")):
        postgres.execute(f"set work_mem = '{work}'; set maintenance_work_mem = '{maintenance}'")
        before = settings(*names)
        with engine_of(postgres).snapshot():
            assert engine_of(postgres)._run(asked)[1] == [(held, "on")]
            # what looks at rows as they lie reads them from the first page on
            assert engine_of(postgres)._run(f"{asked}, lag(1) over () as before")[1] == [(held, "off", None)]
        assert settings(*names) == before


def test_a_table_whose_scans_others_share_is_seen_from_its_first_row(shop, postgres):
    """A scan that joins another one in the middle of a large table begins there, unless it is told not to."""
    import psycopg

    postgres.execute(
        "create table public.large as select i, repeat('x', 900) as wide from generate_series(1, 50000) as t(i)"
    )
    try:
        with psycopg.connect(shop.dsn("shop"), autocommit=True) as other, other.transaction():
            half = other.cursor("half")
            half.execute("select i, wide from public.large")
            half.fetchmany(20000)
            asked = "with n as (select i, lag(i) over () as b from public.large) select min(i - b) as step from n"
            assert engine_of(postgres).rows(asked) == [{"step": 1}]
    finally:
        postgres.execute("drop table public.large")


def test_no_statistics_tell_the_key(postgres):
    engine = engine_of(postgres)
    engine.keep_key(ident("sqlanon_key"), sqlanon.key.Key("a" * 64))
    told = "from pg_stats where tablename = 'sqlanon_key'"
    assert postgres.execute(f"select count(*) {told}").fetchone() == (0,)
    assert postgres.execute("select reltuples from pg_class where relname = 'sqlanon_key'").fetchone() == (1,)
    engine.drop([str(ident("sqlanon_key"))])


def test_postgres_publishes_inside_the_callers_transaction(shop, postgres):
    import psycopg

    with psycopg.connect(shop.dsn("shop")) as con:
        con.execute("set datestyle = 'German'")
        sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease", l=4, into="release")
        assert con.execute("show datestyle").fetchone()[0].startswith("German")
        assert "release" not in schemas(shop)
        con.rollback()
    assert "release" not in schemas(shop)


def test_ranges_are_of_the_moment_that_is_published(shop, postgres, monkeypatch):
    from contextlib import contextmanager

    import psycopg

    from sqlanon.engines.postgres.engine import PostgresEngine

    postgres.execute(
        "create table public.late as select i, i % 9 as age, i % 7 as disease from generate_series(1, 300) as t(i)"
    )
    before = PostgresEngine.snapshot

    @contextmanager
    def later(self):
        with psycopg.connect(shop.dsn("shop"), autocommit=True) as other:  # far outside the ages until now
            other.execute("insert into public.late values (301, 2000000000, 1)")
        with before(self):
            yield

    monkeypatch.setattr(PostgresEngine, "snapshot", later)
    try:
        release = sqlanon.anatomy(postgres, "late", quasi="age", sensitive="disease", l=4, into="release")
        assert 'as "packed"\n' in release.sql
        assert release.verify(against="late").holds
    finally:
        postgres.execute("drop table public.late")


def test_postgres_replaces_a_release_and_nothing_else(postgres):
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

    from sqlanon.engines.postgres.engine import PostgresEngine

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


def test_the_command_that_check_prints_runs_in_postgres(shop, postgres, shell):
    asked = ("--dsn", shop.dsn("shop"))
    checked = shell("check", "patients", "--engine", "postgres", *asked)
    assert checked.returncode == 0, checked.stderr
    command = checked.stderr.partition("for you to weigh")[2].partition(":\n")[2].partition("\n")[0]
    assert shop.dsn("shop") not in checked.stderr, "a DSN may hold a password"
    done = shell(*shlex.split(command)[1:], "--overwrite", *asked)
    assert done.returncode == 0, (command, done.stderr)


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


def test_planted_functions_of_postgres_are_not_called(postgres, expected):
    """Functions of better fitting types, before the server's own on the session's path."""
    postgres.execute("create schema planted; set search_path = planted, pg_catalog, public")
    try:
        for name, kinds in (("sha256", "bytea"), ("convert_to", "text, name"), ("substr", "text, integer, integer")):
            result = "bytea" if name != "substr" else "text"
            postgres.execute(
                f"create function planted.{name}({kinds}) returns {result} language sql as $$ select '0'::{result} $$"
            )
        postgres.execute("create function planted.never(text, text) returns boolean language sql as 'select false'")
        postgres.execute("create operator planted.= (leftarg = text, rightarg = text, function = planted.never)")
        release = sqlanon.anatomy(postgres, "public.hostile", id=IDENTIFIERS, key=KEY, into="release", **ASKED)
        assert rows_of(release) == rows_of(expected("hostile"))
        postgres.execute("create function planted.upper(text) returns text language sql as $$ select 'stolen' $$")
        query = "SELECT age, upper(disease) AS upper FROM public.patients"
        assert sqlanon.check(postgres, query=query, quasi="upper").figures["classes"] == 8
        assert postgres.execute("show search_path").fetchone() == ("planted, pg_catalog, public",)
    finally:
        postgres.execute("reset search_path; drop schema planted cascade")


def test_of_two_runs_to_one_schema_of_postgres_the_second_is_refused(shop, postgres):
    import psycopg

    from sqlanon.engines.postgres.engine import PostgresEngine
    from sqlanon.releases.targets import SchemaTarget

    asked = {"quasi": "age", "sensitive": "disease", "l": 4, "into": "release"}
    with psycopg.connect(shop.dsn("shop"), autocommit=True) as other:
        first = SchemaTarget(PostgresEngine(other), "release", False)
        for overwrite in (False, True):
            with pytest.raises(TargetError, match="another run is writing to the schema 'release'"):
                sqlanon.anatomy(postgres, "patients", overwrite=overwrite, **asked)
        first.close()
        assert sqlanon.anatomy(postgres, "patients", **asked).verify().holds
        with pytest.raises(TargetError, match="exists"):
            sqlanon.anatomy(other, "patients", **asked)
        with other.transaction():  # not to be seen before the caller's transaction ends
            other.execute("drop schema release cascade")
            sqlanon.anatomy(other, "patients", **asked)
            with pytest.raises(TargetError, match="another run is writing to the schema 'release'"):
                SchemaTarget(PostgresEngine(postgres), "release", True)
        SchemaTarget(PostgresEngine(postgres), "release", True).close()


def test_what_stands_in_a_schema_of_postgres_beside_the_release_is_named(postgres):
    release = sqlanon.anatomy(postgres, "patients", quasi="age", sensitive="disease", l=4, into="release")
    assert release.verify().holds
    assert release.engine.comments("release") == write_comments(release.manifest)
    for sql in (
        "create table release.microdata as select * from patients",
        "create view release.people as select * from patients",
        "create function release.told() returns text language sql as $$ select 'ssn 1 has HIV' $$",
        "create type release.names as enum ('ssn 1', 'HIV')",
        "comment on column release.st.disease is 'HIV'",
        "comment on schema release is 'HIV'",
        "alter table release.qit alter age set default 42",
    ):
        postgres.execute(sql)
    check = sqlanon.open("release", con=postgres).verify().checks[0]
    assert check.holds is False
    assert set(check.found) == {
        *(
            "table microdata",
            "view people",
            "function told",
            "type names",
            "comment on column st.disease",
            "default of qit",
        ),
        "comment on schema release",
    }
    postgres.execute("alter table release.st rename to hidden; create view release.st as select * from release.hidden")
    with pytest.raises(ReleaseError, match="no tables of a release in the schema 'release': st"):
        sqlanon.open("release", con=postgres)


# numbers whose halves are as large as one another, changed; values that a NULL or an empty text could be taken for
SWAPPED = [
    ("(1::bigint << 32) + 2", "(2::bigint << 32) + 1", "'d1'", "'d2'"),
    ("-1", "0", "'d1'", "'d2'"),
    ("0", "null", "'d1'", "'d2'"),
    ("5", "6", "null", "''"),
    ("5", "6", "null", "'d1'"),
    ("5", "6", "1::bigint << 40", "1::bigint << 8"),
    ("5", "6", "null", "0::bigint"),
]


@pytest.mark.parametrize("whole", ["cast({} as bigint)", "coalesce(cast({} as bigint), 4294967296)"])
@pytest.mark.parametrize(("one", "other", "value", "second"), SWAPPED)
def test_two_rows_that_change_values_add_up_to_something_else(postgres, one, other, value, second, whole):
    engine = engine_of(postgres)
    columns = [Sql(whole.format("number")), Sql(whole.format("value") if "bigint" in value + second else "value")]

    def add_up(*rows):
        listed = " union all ".join(f"select ({row[0]})::bigint as number, {row[1]} as value" for row in rows)
        values = {"choices": [columns, columns[::-1]], "weight": None}
        (sums,) = engine.rows(render_query("verify/rows/fingerprint", values, {"line": Sql(f"({listed})")}))
        return sums

    told, again = add_up((one, value), (other, second)), add_up((other, second), (one, value))
    swapped = add_up((one, second), (other, value))
    assert told == again and told["row_count"] == swapped["row_count"] == 2
    assert {name for name in told if told[name] != swapped[name]} == {"high_1", "low_1", "high_2", "low_2"}
