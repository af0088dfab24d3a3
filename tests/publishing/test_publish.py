"""Bad input: a clear message, the right exit code, and nothing left behind."""

import json
import os
import re
import shlex
import subprocess
import sys

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import cli
from sqlanon.cli.app import app
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import TargetError
from sqlanon.plans.plan import Statement
from sqlanon.releases import targets
from sqlanon.releases.targets import SchemaTarget

ROLES = ["--quasi", "age,sex,zipcode", "--sensitive", "disease"]
UNIQUE = ["--quasi", "q,q2", "--unique-quasi", "keep", "--sensitive", "s"]
PUBLISH = ["publish", "anatomy", "patients.parquet", *ROLES, "-l", 4, "--out", "release"]


def refused(shell, code, *arguments, says, **environment):
    """Run, and assert the exit code, the message, silence on stdout and an unchanged folder."""
    before = shell.left()
    done = shell(*arguments, **environment)
    assert done.returncode == code, done.stderr
    for words in [says] if isinstance(says, str) else says:
        assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert shell.left() == before
    return done


def sql(shell, text):
    """Run SQL beside the command line, on the folder's own database file."""
    connection = duckdb.connect(str(shell.folder / "hospital.duckdb"))
    rows = connection.execute(text).fetchall()
    connection.close()
    return rows


def table(shell, select):
    """Write `bad.parquet` from a SELECT."""
    duckdb.sql(select).write_parquet(str(shell.folder / "bad.parquet"))
    return ["publish", "anatomy", "bad.parquet", "--quasi", "q", "--sensitive", "s", "--out", "release", "-l"]


# -- data that does not allow it: 3 --------------------------------------------------------------------------


GAPS = "select i as q, case when i % 9 > 0 then i % 5 end as s from range(90) t(i)"
DATABASE = ["publish", "anatomy", "patients", *ROLES, "-l", 4, "--out", "release", "--database"]


NOT_ALLOWED = [
    (GAPS, 2, ["10 rows have no value in the sensitive column 's'", "--nulls value", "--nulls drop"]),
    ("select i as q, 1 as s from range(9) t(i)", 2, "no l of at least 2 works"),
    ("select i as q, i as s from range(9) t(i)", 10, "needs at least 10 rows; the source has 9"),
    ("select i as q, i as s from range(0) t(i)", 2, "no rows"),
    ("select i % 3 as q, i % 3 as s from range(90) t(i)", 4, "the largest l that works is 3"),
]


def test_data_that_does_not_allow_it(shell):
    for select, l, says in NOT_ALLOWED:
        request = table(shell, select)
        done = refused(shell, 3, *request, l, says=says)
        assert "robust" not in done.stderr and "without" not in done.stderr


def asked(roles, source="patients.parquet", l=4):
    return ["publish", "anatomy", source, *roles, "-l", l, "--out", "release"]


IMPOSSIBLE = [
    *(([*PUBLISH, "--block", block], "--block") for block in ("0", "many")),
    (asked(["--quasi", "age,hight", "--sensitive", "disease"]), ["no column 'hight'", "'zipcode'"]),
    (asked(["--quasi", "age,AGE", "--sensitive", "disease"]), "'age' is named twice in --quasi"),
    (asked(["--quasi", "age", "--sensitive", "disease"], "nul.csv"), "the name of a column holds a NUL character"),
    (asked(ROLES, "gone.parquet"), "no file 'gone.parquet'"),
    (asked(ROLES, "folder"), "is a directory; name its files"),
    (asked(ROLES, "not.parquet"), "'not.parquet' is no whole Parquet file"),
    (asked(ROLES, "empty.parquet"), "'empty.parquet' is empty: it holds no byte"),
    (asked(ROLES, "noending"), "no ending that tells its format"),
    (asked(ROLES, "patients.parquet'); drop table x; --"), "no table, view or file"),
    ([*DATABASE, "gone.duckdb"], "no database file 'gone.duckdb'"),
    ([*DATABASE, "text.duckdb"], "'text.duckdb' is no DuckDB database; to read its rows"),
    ([*PUBLISH[:-1], "no/such/release"], "no directory"),
    ([*PUBLISH, "--into", "x", "--database", "hospital.duckdb"], "say --out or --into, not both"),
    ([*DATABASE[:-3], "--database", "hospital.duckdb", "--into", "n" * 1000], "is longer than 200 bytes"),
]


def test_requests_that_no_data_could_meet(shell):
    (shell.folder / "folder").mkdir()
    for name, text in {
        "not.parquet": b"age,sex\n1,2\n", "empty.parquet": b"", "noending": b"x",
        "nul.csv": b"age\0x,disease\n1,flu\n2,asthma\n",
        "text.duckdb": b"not a database at all, only text that is long enough to be read",
    }.items():  # fmt: skip
        (shell.folder / name).write_bytes(text)
    for words, says in IMPOSSIBLE:
        refused(shell, 2, *words, says=says)


def shown(done, line):
    """Return one line of what publishing prints, however it was folded."""
    text = " ".join(done.stdout.split())
    return text.partition(f"{line} ")[2].partition(" not promised ")[0].partition(" promised ")[0]


def test_what_nulls_drop_leaves_out_is_a_share(shell):
    rows = "select i % 7 as q, case when i % 20 < {missing} then null else i % 5 end as s from range(200) t(i)"
    for missing, share, notable in ((2, "10.0%", True), (1, "5.0%", False)):
        asked = table(shell, rows.format(missing=missing))
        done = shell(*asked, 2, "--nulls", "drop", "--overwrite")
        said = f"{share} of the rows are left out, and who knows who was in the table sees whose"
        assert (said in shown(done, "promised")) == notable
        assert f"left out: {10 * missing} (" in " ".join(done.stdout.split())


def test_robust_does_not_say_that_rows_without_a_value_had_a_frequent_one(shell):
    table(shell, "select i % 2 as q, case when i % 9 > 0 then i % 5 end as s from range(450) t(i)")
    asked = ["publish", "robust", "bad.parquet", "--quasi", "q", "--sensitive", "s", "-r", 2, "--background-from", "q"]
    done = shell(*asked, "--nulls", "drop", "--out", "release")
    assert "50 (11.11%); who was in the table and is missing here had no s, or one of the frequent" in " ".join(
        done.stdout.split()
    )
    assert "11.1% of the rows are left out" in shown(done, "promised")


@pytest.mark.parametrize(("method", "asked"), [
    ("splu", ["--gamma", 4]), ("uncertain", ["-k", 4, "-L", 2, "--threshold", 0.3, "--influence", "learn"]),
])  # fmt: skip
def test_without_an_id_the_promise_is_per_row_and_says_so(shell, method, asked):
    asked = ["publish", method, "patients.parquet", *ROLES, *asked, "--out", "release", "--overwrite"]
    done = shell(*asked)
    assert "whether a person has several was not looked at (say --id, and it is)" in shown(done, "promised"), (
        done.stderr
    )
    manifest = json.loads((shell.folder / "release" / "release.json").read_text())
    assert manifest["parameters"]["rows_per_person"] == "unchecked"
    identified = shell(*asked, "--id", "ssn")
    assert identified.returncode == 0 and "per row" not in identified.stdout
    several = shell(*asked, "--id", "ssn", "--unit", "row")
    assert "this is per row, and some persons have several" in shown(several, "promised")


def test_infeasible_l_names_the_largest_feasible_but_no_value(shell):
    done = refused(shell, 3, *PUBLISH[:-4], "-l", 9, "--out", "release", says="the largest l that works is")
    shown = shell(*PUBLISH[:-4], "-l", 9, "--out", "release", "--show-values")
    assert "'d0'" not in done.stderr
    assert "'d0'" in shown.stderr
    works = int(re.search(r"the largest l that works is (\d+);", done.stderr)[1])
    assert shell(*PUBLISH[:-4], "-l", works, "--out", "r1").returncode == 0
    assert shell(*PUBLISH[:-4], "-l", works + 1, "--out", "r2").returncode == 3


SKEWED = (
    "select i % 3 as q, case when i % 10 < 6 then {most} when i % 10 < 9 then 'd' || (i // 10 % 5)"
    " else 'e' || (i // 10 % 4) end as s from range(1000) t(i)"
)


def test_what_is_advised_for_a_skewed_column_works_and_nothing_else_is_advised(shell):
    """600 of 1000 rows have one value; the next stands in 60, so that without it l = 400 // 60 = 6 is possible."""
    roles = ["--quasi", "q", "--sensitive", "s", "--out"]
    table(shell, SKEWED.format(most="'none'"))
    asked = ["publish", "anatomy", "bad.parquet", *roles]
    said = [
        "no l of at least 2 works",
        "without the rows of that value l = 6 works",
        "with r = 4 at least 46.7% of them",
    ]
    done = refused(shell, 3, *asked, "no", "-l", 4, says=[*said, "merging values makes none rarer"])
    assert "--nulls" not in done.stderr
    refused(shell, 3, "publish", "splu", "bad.parquet", *roles, "no", "--gamma", 2, says="no gamma of at least 2 works")
    robust = ["publish", "robust", "bad.parquet", *roles]
    for share, code in (("46.7%", 0), ("46.6%", 3)):  # as good a share as any, where the background tells nothing apart
        duckdb.sql(f"select *, 1 as one from '{shell.folder}/bad.parquet'").write_parquet(f"{shell.folder}/one.parquet")
        robust[2], robust[4] = "one.parquet", "one"
        done = shell(*robust, f"r{code}", "-r", 4, "--background-from", "one", "--max-suppressed", share)
        assert done.returncode == code, done.stderr
    table(shell, f"select * from ({SKEWED.format(most='null')}) where s is not null")
    assert shell(*asked, "without", "-l", 6).returncode == 0
    assert shell(*asked, "more", "-l", 7).returncode == 3


def test_where_the_most_frequent_value_is_none_dropping_it_is_advised_and_works(shell):
    table(shell, SKEWED.format(most="null"))
    asked = ["publish", "anatomy", "bad.parquet", "--quasi", "q", "--sensitive", "s", "--out"]
    refused(shell, 3, *asked, "no", "-l", 4, "--nulls", "value", says="with --nulls drop l = 6 works")
    assert shell(*asked, "dropped", "-l", 6, "--nulls", "drop").returncode == 0


# -- requests that no data could meet: 2 -----------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_source_and_target_without_rights(shell):
    (shell.folder / "patients.parquet").chmod(0)
    refused(shell, 2, *PUBLISH, says="no right to read")
    (shell.folder / "patients.parquet").chmod(0o600)
    (shell.folder / "locked").mkdir(mode=0o500)
    refused(shell, 2, *PUBLISH[:-1], "locked/release", says="no right to write")


def test_a_release_tells_nothing_else_and_is_replaced_by_a_whole_one_alone(shell):
    release = shell.folder / "release"
    done = shell(*PUBLISH, "--format", "json")
    printed = json.loads(done.stdout)
    assert printed == json.loads((release / "release.json").read_text())
    assert set(printed) == {
        *("format", "method", "parameters", "columns", "rows", "groups", "dropped_rows"),
        *("guarantee", "verified", "files", "engine", "sqlanon", "created"),
    }
    assert "not published: ssn" in done.stderr and str(shell.folder) not in done.stdout
    for name in ("qit", "st"):
        path = f"{release}/{name}.parquet"
        assert duckdb.sql(f"select * from parquet_kv_metadata('{path}')").fetchall() == []
        assert "ssn" not in duckdb.sql(f"from '{path}'").columns
        assert str(shell.folder).encode() not in (release / f"{name}.parquet").read_bytes()
    files = {path.name: path.read_bytes() for path in release.iterdir()}
    refused(shell, 2, *PUBLISH, says=["exists", "--overwrite"])
    refused(shell, 3, *PUBLISH[:-4], "-l", 100, "--out", "release", "--overwrite", says="l = 100 is not possible")
    assert {path.name: path.read_bytes() for path in release.iterdir()} == files
    (shell.folder / "release" / "notes.txt").write_text("mine")
    before = files["qit.parquet"]
    assert shell(*PUBLISH, "--overwrite").returncode == 0
    assert (shell.folder / "release" / "notes.txt").read_text() == "mine"
    assert (shell.folder / "release" / "qit.parquet").read_bytes() != before
    done = shell("verify", "release")
    assert done.returncode == 3 and "notes.txt: not in the manifest" in done.stdout
    (shell.folder / "release" / "notes.txt").unlink()
    assert shell("verify", "release").returncode == 0


def test_overwriting_an_earlier_release_says_that_two_releases_intersect(shell):
    def printed(done):
        return " ".join(done.stdout.split())

    said = "the target held an earlier release (600 rows; now 600): this is a second release of the same people"
    first, second = shell(*PUBLISH, "--overwrite"), shell(*PUBLISH, "--overwrite")
    assert said not in printed(first) and said in printed(second)
    first, second = into(shell, "--into", "ward", "--overwrite"), into(shell, "--into", "ward", "--overwrite")
    assert first.returncode == second.returncode == 0
    assert said not in printed(first) and said in printed(second)
    keyed = [shell(*PUBLISH, "--overwrite", SQLANON_KEY="ab" * 32) for _ in range(2)]
    assert "held this very release already" in printed(keyed[1])


def test_overwrite_refuses_what_is_no_release(shell):
    (shell.folder / "release").mkdir()
    (shell.folder / "release" / "thesis.txt").write_text("years of work")
    refused(shell, 2, *PUBLISH, "--overwrite", says="holds files but no release")
    assert (shell.folder / "release" / "thesis.txt").read_text() == "years of work"
    (shell.folder / "file").write_text("x")
    refused(shell, 2, *PUBLISH[:-1], "file", "--overwrite", says="is not a directory")


def test_disk_full(shell):
    full = shell.folder / "full"
    full.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        duckdb.sql("select i as q, hash(i) as q2, i % 5 as s from range(200000) t(i)").write_parquet(
            str(shell.folder / "bad.parquet")
        )
        asked = ["publish", "anatomy", "bad.parquet", *UNIQUE, "-l", 3]
        refused(shell, 2, *asked, "--out", "full/release", says="cannot write")
        assert list(full.iterdir()) == []
    finally:
        subprocess.run(["umount", full], check=True)


def test_keys(shell):
    (shell.folder / "key").write_text("ab" * 32 + "\n")
    refused(shell, 2, *PUBLISH, "--key", "cd" * 32, "--key-file", "key", says="not both")
    refused(shell, 2, *PUBLISH, SQLANON_KEY="  ", says="the key is empty")
    (shell.folder / "weak").write_text("letmein\n")
    for options, variables in (
        (["--key", "letmein"], {}),
        (["--key-file", "weak"], {}),
        ([], {"SQLANON_KEY": "letmein"}),
    ):
        done = shell(*PUBLISH, *options, **variables)
        assert done.returncode == 2 and "fewer than 128 bits" in done.stderr and not (shell.folder / "release").exists()
        assert "letmein" not in done.stderr + done.stdout
    long = "Xq3hV9sL2mZ8pR5tK7wB4n"
    done = shell(*PUBLISH, "--key", long)
    assert done.returncode == 0
    assert "guesses it can undo" in done.stderr
    assert "process list" in done.stderr
    assert long not in done.stderr + done.stdout


# -- into a schema -----------------------------------------------------------------------------------------


def into(shell, *more, l=4):
    database = ["--database", "hospital.duckdb"]
    return shell("publish", "anatomy", "patients", *ROLES, "--id", "ssn", "-l", l, *database, *more)


def test_into_a_schema_and_back(shell):
    done = into(shell, "--into", "re lease")
    assert done.returncode == 0, done.stderr
    assert "never the database file" in " ".join(done.stdout.split())
    tables = sql(shell, "select table_schema, table_name from information_schema.tables order by all")
    assert tables == [("main", "patients"), ("re lease", "manifest"), ("re lease", "qit"), ("re lease", "st")]
    checked = shell("verify", "re lease", "--database", "hospital.duckdb", "--against", "patients")
    assert checked.returncode == 0, checked.stderr
    assert into(shell, "--into", "re lease").returncode == 2
    assert into(shell, "--into", "re lease", "--overwrite").returncode == 0
    # a schema of other tables is no release's, an empty one may become one, and what is refused leaves none
    assert into(shell, "--into", "main", "--overwrite").returncode == 2
    assert sql(shell, "select count(*) from patients") == [(600,)]
    sql(shell, "create schema mine")
    assert into(shell, "--into", "mine").returncode == 2
    assert into(shell, "--into", "none", l=60).returncode == 3
    assert sql(shell, "select schema_name from information_schema.schemata where schema_name = 'none'") == []


def test_enums_go_into_a_schema_as_text(shell):
    sql(shell, "create type mood as enum ('sad', 'gay', 'never seen')")
    sql(
        shell,
        "create table moods as select i as q, (['sad', 'gay'])[1 + i % 2]::mood as s from range(20) t(i)",
    )
    asked = ["publish", "anatomy", "moods", "--quasi", "q", "--sensitive", "s", "-l", 2]
    asked += ["--database", "hospital.duckdb"]
    assert shell(*asked, "--into", "release").returncode == 0
    kinds = sql(
        shell,
        "select data_type from information_schema.columns where table_schema = 'release' and column_name = 's'",
    )
    assert kinds == [("VARCHAR",)]


# -- what is printed ---------------------------------------------------------------------------------------------


ALONE = "expected from the release alone$"
FIVE = ["published", "promised", "attacks reach", "warnings", "next"]


@pytest.mark.parametrize(
    ("method", "reached"),
    [
        (["anatomy", "-l", "4"], r"about \d+% of the people are named rightly.*; by learning, " + ALONE),
        (["splu", "--gamma", "4"], r"about \d+% of the people are named rightly.*; by learning, " + ALONE),
        (["mondrian", "-k", "4"], r"\d+%: the most frequent value of each group, named for all in it; " + ALONE),
    ],
)
def test_publish_says_five_things_and_all_else_where_asked(shell, method, reached):
    request = ["publish", *method, "patients.parquet", *ROLES, "--out", "release"]
    folded = re.sub(r"\n {15}", " ", shell(*request).stdout)
    named = {line[:15].strip(): line[15:] for line in folded.splitlines()}
    assert list(named) == FIVE and named["published"].endswith("release; not published: ssn")
    assert re.match(reached, named["attacks reach"]) and named["next"].startswith("sqlanon attack release --against")
    if method[0] == "splu":
        whole = shell(*request, "--overwrite", "--verbose").stdout
        assert re.findall(r"^\w+", whole, re.MULTILINE)[:2] == ["published", "method"] and "\nverified " in whole
        assert "disease, gamma = 4" in whole and "counts up to 3 are off by more than 30% with probability" in whole


def test_what_is_expected_of_many_rows_is_learned_from_few_and_says_so(con, monkeypatch):
    from sqlanon.attacks import attack_release

    con.execute("create table people as select i as ssn, i % 97 as age, i // 97 as sex, (i % 97 + i % 2) % 9 as disease"
                " from range(3000) t(i)")  # fmt: skip
    release = sqlanon.anatomy(con, "people", quasi=["age", "sex"], sensitive="disease", id="ssn", l=3)
    whole = attack_release.expect_attack(release)
    assert whole.startswith("about ") and whole.endswith(f"; by learning, {ALONE[:-1]}")
    monkeypatch.setattr(attack_release, "QUICK_ROWS", 600)
    looked_at, learn = [], attack_release.learn

    def look(view, *more):
        looked_at.append(view.people_figures["people"])
        return learn(view, *more)

    monkeypatch.setattr(attack_release, "learn", look)
    few = attack_release.expect_attack(release)
    assert few.startswith("about ") and few.endswith(f"; by learning from a sample of rows, {ALONE[:-1]}")
    assert looked_at == [600]


NASTY = ['quo"te', "ünï ©ode 漢字", "'); drop table patients; --"]
PATHS = [*((f"{name}[1]*?.parquet", f"{name}[out]*") for name in NASTY), ("~.parquet", "~")]


def test_sql_prints_and_runs_nothing(shell):
    done = shell(*PUBLISH, "--sql")
    assert done.returncode == 0
    assert not (shell.folder / "release").exists()
    assert "600" not in done.stdout, "no statement holds a number read from the data"
    for name in ("tally", "frequency", "block", "ordered", "grouped", "qit", "st"):
        assert f"-- {name}\n" in done.stdout


def test_the_same_key_by_file_or_environment_gives_the_same_release(shell):
    (shell.folder / "key").write_text("ab" * 32 + "\n")
    assert shell(*PUBLISH, "--key-file", "key").returncode == 0
    assert shell(*PUBLISH[:-1], "again", SQLANON_KEY="AB" * 32).returncode == 0
    for name in ("qit", "st"):
        one, two = (
            duckdb.sql(f"from '{shell.folder}/{out}/{name}.parquet'").fetchall() for out in ("release", "again")
        )
        assert one == two


@pytest.mark.parametrize(("source", "out"), PATHS)
def test_nasty_paths(shell, source, out):
    (shell.folder / "patients.parquet").rename(shell.folder / source)
    done = shell("publish", "anatomy", source, *ROLES, "-l", 4, f"--out={out}")
    assert done.returncode == 0, done.stderr
    assert (shell.folder / out / "qit.parquet").is_file()  # "~" is a name here, and nobody's home
    assert shell("verify", out, "--against", source, HOME=str(shell.folder / "tmp")).returncode == 0


# -- two runs at once ----------------------------------------------------------------------------------------------


def together(shell, *commands):
    """Start commands at once; return their exit codes and what they said."""
    program = [sys.executable, "-m", "sqlanon"]
    environment = shell.environment | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen(
            [*program, *map(str, words)],
            cwd=shell.folder,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            stdout=subprocess.DEVNULL,
        )
        for words in commands
    ]
    said = [process.communicate(timeout=120)[1] for process in running]
    return [process.returncode for process in running], said


def test_of_two_runs_to_one_absent_target_one_publishes(shell):
    other = ["publish", "splu", "patients.parquet", *ROLES, "--gamma", 3, "--out", "release"]
    codes, said = together(shell, PUBLISH, other)
    assert sorted(codes) == [0, 2], said
    (refusal,) = [words for code, words in zip(codes, said, strict=True) if code]
    assert "another run is writing" in refusal or "exists" in refusal or "has appeared" in refusal
    done = shell("verify", "release")
    assert done.returncode == 0, done.stdout
    assert shell.left() == {"tmp", "patients.parquet", "hospital.duckdb", "release"}


def test_of_two_transactions_to_one_schema_one_publishes(patients, monkeypatch):
    """One process may have several connections to one file: the second's schema must have been absent, too."""
    first = DuckDBEngine(patients.cursor())
    second = DuckDBEngine(patients.cursor())
    statement = Statement("st", "select 1 as one")
    monkeypatch.setattr(targets, "write_comments", lambda manifest: {})  # of a manifest that says nothing
    places = [SchemaTarget(engine, "ward", False) for engine in (first, second)]
    with places[1], pytest.raises(TargetError, match="has written there meanwhile"), places[0]:
        pass
    with places[0]:
        places[0].write(statement)
        places[0].commit({"files": {}})
    with pytest.raises(TargetError, match="exists"), places[1]:
        pass
    with pytest.raises(TargetError, match="exists"):
        SchemaTarget(second, "ward", False)


# -- what comes next ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [["--out", "my release"], ["--into", "my release"]])
def test_the_next_commands_run_as_they_are_printed(shell, place):
    """Attack and page are printed with source, identifier and database, and name the folder that is handed over."""
    source = ["patients", "--database", "hospital.duckdb"] if place[0] == "--into" else ["patients.parquet"]
    done = shell("publish", "anatomy", *source, *ROLES, "-l", 4, *place)
    assert done.returncode == 0, done.stderr
    printed, seen = done.stdout, []
    while command := re.search(r"^(?:next +)?sqlanon ((?:attack|report) .*)$", printed, re.MULTILINE):
        words = shlex.split(command[1])
        seen.append(words[:2])
        done = shell(*words)
        assert done.returncode == 0, done.stderr
        # of attack's two commands the last one is the page
        printed = done.stderr[done.stderr.rfind("sqlanon report") :] if "sqlanon report" in done.stderr else ""
    assert seen == [["attack", "my release"], ["report", "my release"]]
    assert (shell.folder / "my release.html").is_file()
    assert ("hand over the folder my release," in done.stderr) == (place[0] == "--out")
    quiet = shell("publish", "anatomy", *source, *ROLES, "-l", 4, *place, "--overwrite", "--format", "json")
    assert quiet.returncode == 0 and "sqlanon attack" not in quiet.stderr


@pytest.mark.parametrize("fault", [duckdb.InternalException("INTERNAL Error: x"), KeyError("x")])
def test_a_fault_behind_a_release_that_has_appeared_is_a_note(shell, monkeypatch, fault):
    as_ever = DuckDBEngine.rows

    def rows(engine, sql):
        if (shell.folder / "release" / "release.json").exists():
            raise engine._translate(fault, sql) if isinstance(fault, duckdb.Error) else fault
        return as_ever(engine, sql)

    monkeypatch.setattr(DuckDBEngine, "rows", rows)
    monkeypatch.chdir(shell.folder)
    assert cli.app is app  # importing the package adds the verbs
    done = CliRunner().invoke(app, list(map(str, PUBLISH)))
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    assert "the release has been published and stands" in told and "nothing was" not in told + done.stderr
    monkeypatch.undo()
    assert shell("verify", "release", "--against", "patients.parquet").returncode == 0
