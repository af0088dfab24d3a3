"""What a beginner types or has at hand, and is wrong: file, line, cause, and what to type instead."""

import shlex

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.cli import app
from tests.command import Shell

ROLES = ("--quasi", "age", "--sensitive", "disease", "--id", "ssn", "-l", "3", "--out", "ward")
LINES = [f"{i},{i % 9},d{i % 5}\n" for i in range(3000)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    columns = "i as ssn, i % 9 as age, 'd' || i % 5 as disease from range(50) t(i)"
    duckdb.connect().execute(f"copy (select {columns}) to '{folder / 'a.parquet'}'")
    (folder / "b.parquet").write_text("a page of a server that had no such file")
    (folder / "b.parquet.txt").write_text("hello\nworld\n")
    (folder / "quote.csv").write_text(f'ssn,age,disease\n{"".join(LINES)}3000,"x\n7,1,d1\n')
    (folder / "short.csv").write_text(f"ssn,age,disease\n{''.join(LINES[:300])}7,1,2,3,4,5\n8,1,d1\n")
    (folder / "days.csv").write_text(
        "ssn,age,seen,disease\n" + "".join(f"{n},{n % 9},{n % 12 + 1}/{n % 28 + 1}/2024,d{n % 5}\n" for n in range(60))
    )
    (folder / "twice.csv").write_text(
        f"ssn,age,disease,age\n{''.join(line.strip() + ',4' + chr(10) for line in LINES)}"
    )
    (folder / "empty.csv").touch()
    (folder / "unnamed.csv").write_text("".join(LINES))
    (folder / "people.xlsx").write_bytes(b"PK\x03\x04")
    (folder / "people.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    return folder


ASKED, REST = " ".join(ROLES), "--sensitive disease -l 3 --out ward"
# what is typed behind `publish anatomy`, and what is told
WRONG = [
    ("FILES/*.parquet ASKED", ["b.parquet' is "]),
    ("FILES/quote.csv ASKED", ["line 3002 of ", "quote.csv'", "look at its quotes"]),
    ("FILES/short.csv ASKED", ["line 302 of ", "short.csv'"]),
    ("FILES/empty.csv ASKED", ["empty.csv' is empty"]),
    ("FILES/unnamed.csv ASKED", ["no column 'age'", "is to hold the names of its columns"]),
    ("FILES/2026*.parquet ASKED", ["no file matches", "say the pattern from this folder, or whole"]),
    (f"FILES/a.parquet --quasi age, ssn {REST}", ["a blank ends a list: write --quasi age,ssn"]),
    (f"FILES/a.parquet --quasi age ssn {REST}", ["a blank ends a list: write --quasi age,ssn"]),
    ("FILES/b.parquet.txt ASKED", ["no column 'age'", "the first line is to hold the names"]),
    ("FILES/people.xlsx ASKED", ["install excel", "people.parquet'"]),
    (
        "t ASKED --database FILES/short.csv",
        ["short.csv' is no DuckDB database; to read its rows name it in the place"],
    ),
    ("t ASKED --database postgresql://host/people", ["--database is a DuckDB file"]),
    ("FILES/people.sqlite ASKED", ["install sqlite", "people.parquet'"]),
    ("t ASKED --database FILES/people.sqlite", ["install sqlite"]),
    ("FILES/a.parquet ASKED --key-file FILES/key", ["no key file", "openssl rand -hex 32"]),
    ("'SELECT * FROM people' ASKED", ["is a query", "say --query 'SELECT …'"]),
    ("FILES/a.parquet ASKED --require rows 500", ["put it into quotes, --require 'rows 500'"]),
    ("FILES/a.parquet ASKED --coarsen age=10 years", ["put it into quotes, --coarsen 'age=10 years'"]),
    ("FILES/a.parquet --id ASKED", ["--id has no value: --quasi stands where it should be"]),
    (f"FILES/a.parquet --quasi 'age ssn' {REST}", ["'age ssn' is several columns: write age,ssn"]),
]


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_a_source_that_is_wrong_is_told_with_what_to_type(shell, files, words, told):
    done = shell("publish", "anatomy", *shlex.split(words.replace("FILES", str(files)).replace("ASKED", ASKED)))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert all(part in done.stderr for part in told), done.stderr
    assert done.stderr.count("\n") == 1 and not (shell.folder / "ward").exists()


def test_a_source_that_is_read_otherwise_or_is_another_one_is_told(shell, files):
    days, roles = str(files / "days.csv"), ("--quasi", "age,seen", "--sensitive", "disease", "--id", "ssn")
    told = shell("publish", "anatomy", days, *roles, "-l", "3", "--types", "seen=DATE", "--out", "days")
    assert told.returncode == 0, told.stderr
    told = shell("publish", "mondrian", days, *roles, "-k", "3", "--types", "seen=DATE", "--out", "boxes")
    assert told.returncode == 0, told.stderr
    for verb, release in (("verify", "days"), ("attack", "days"), ("verify", "boxes"), ("attack", "boxes")):
        done = shell(verb, release, "--against", days)
        assert done.returncode == 2 and "'seen' is text in the source and was published as DATE" in done.stderr
        assert done.stderr.rstrip().endswith("--types seen=DATE")
    table = duckdb.sql(f"select * replace (age + 20 as age, seen::date as seen) from '{days}'")
    table.write_parquet(str(shell.folder / "others.parquet"))
    done = shell("verify", "days", "--against", "others.parquet")
    assert done.returncode == 3 and "By itself all holds: is the source the one that was published" in done.stderr
    done = shell("check", str(files / "twice.csv"), "--sensitive", "disease")
    assert (
        "'age' stands 2 times in the first line of the file: those behind the first are read as 'age_1'" in done.stderr
    )


def test_a_promise_that_contradicts_its_parameters_is_refused_where_it_is_relied_on(shell):
    asked = ("--quasi", "age", "--sensitive", "disease", "--id", "ssn", "--gamma", "3", "--out", "kept")
    assert shell("publish", "splu", "patients.parquet", *asked).returncode == 0
    manifest = shell.folder / "kept" / "release.json"
    manifest.write_text(manifest.read_text().replace('"gamma": 3', '"gamma": 2', 1))
    for words in (["attack", "kept"], ["estimate", "kept", "SELECT COUNT(*) FROM release"], ["complete", "kept"]):
        done = shell(*words, *(["--out", "completed"] if words[0] == "complete" else []))
        assert done.returncode == 2 and "the guarantee in release.json is not that of its own parameters" in done.stderr
    assert shell("verify", "kept").returncode == 3


def test_a_closed_connection_is_told():
    con = duckdb.connect()
    con.execute("create table people as select i % 9 as age, 'd' || i % 5 as disease from range(60) t(i)")
    release = sqlanon.anatomy(con, "people", quasi="age", sensitive="disease", l=3)
    con.close()
    with pytest.raises(sqlanon.UsageError, match="the DuckDB connection is closed: open another one"):
        release.estimate("SELECT COUNT(*) FROM release")


def test_a_database_that_is_locked_and_a_release_that_was_changed_say_what_to_do(shell):
    with duckdb.connect(str(shell.folder / "open.duckdb")) as con:
        con.execute("create table people as from range(9)").fetchall()
        done = shell("check", "people", "--database", "open.duckdb")
    assert done.returncode == 2 and "is open for writing in another program (process " in done.stderr
    assert "close it there, or name a copy of the file" in done.stderr
    assert shell("publish", "anatomy", "patients.parquet", *ROLES).returncode == 0
    with (shell.folder / "ward" / "st.parquet").open("ab") as file:
        file.write(b"more")
    done = shell("verify", "ward")
    assert done.returncode == 3 and "get a fresh copy from its publisher" in done.stderr


def test_a_method_is_no_verb(shell):
    done = shell("anatomy", "patients.parquet", *ROLES)
    assert (done.returncode, done.stderr) == (
        2, "error: 'anatomy' is a method, not a verb; type: sqlanon publish anatomy …\n"
    )  # fmt: skip
    assert "no such command 'anatomi'" in shell("anatomi").stderr


@pytest.mark.parametrize(
    ("option", "value", "instead"),
    [("coarsen", "age=10", "a view whose columns are as coarse"), ("key", "x", "from the session"), ("out", "x", "")],
)
def test_a_script_says_why_it_lacks_an_option_of_publish(option, value, instead):
    words = ["compile", "anatomy", "patients", "--quasi", "age", "--sensitive", "disease", "-l", "2"]
    done = CliRunner().invoke(app, [*words, f"--{option}", value])
    assert isinstance(done.exception, sqlanon.UsageError) and done.stdout == ""
    with pytest.raises(sqlanon.UsageError) as refused:
        sqlanon.compile("anatomy", "patients", quasi="age", sensitive="disease", l=2, **{option: value})
    assert str(refused.value) == str(done.exception) and f"{option} is not for scripts" in str(refused.value)
    assert instead in str(refused.value)


def test_a_target_is_a_share(shell, files):
    asked = ("compare", files / "a.parquet", *ROLES[:4], "--target-error")
    done = shell(*asked, "a tenth")
    assert done.returncode == 2
    assert "--target-error = 'a tenth' is no share; give a number from 0 to 1, or a percentage" in done.stderr
    assert "relative error between 0 and 1" in shell(*asked, "100%").stderr  # a percentage is read


GIVEN = "--quasi age,sex --sensitive disease --id ssn"
PUBLISH = "publish anatomy patients.parquet"
ANATOMY, ROBUST = f"{PUBLISH} {GIVEN}", f"publish robust patients.parquet {GIVEN} -r 2 --out new"
EXAMPLE = "for example: sqlanon publish anatomy patients"
# what is typed, and the words of the one line that say what to type instead
MISTAKES = [
    ("verfy ward", "did you mean 'verify'?"),
    ("publish anatomi patients.parquet", "did you mean 'anatomy'?"),
    (f"publish patients.parquet {GIVEN}", "say which method (anatomy, splu, robust"),
    (f"{PUBLISH} --sensitive disease -l 3 --out new", f"missing option '--quasi'; {EXAMPLE}"),
    (f"{PUBLISH} --quasi age -l 3 --out new", f"missing option '--sensitive'; {EXAMPLE}"),
    (f"{ANATOMY} --out new", f"missing option '-l'; {EXAMPLE}"),
    (f"publish anatomy {GIVEN} -l 3 --out new", "--query"),
    (f"{ANATOMY} -l 3", "--out DIR, or --database FILE --into SCHEMA"),
    (f"{ANATOMY} -l three --out new", f"whole number; {EXAMPLE}"),
    (f"{ANATOMY} -l 3 --outt new", f"options: --out, --unit); {EXAMPLE}"),
    (f"{ANATOMY} -k 3 --out new", "mondrian; anatomy asks for -l"),
    (f"publish robust patients.parquet {GIVEN} -l 3", "-l is an option of anatomy, mondrian; robust"),
    (f"{ANATOMY} -l 3 --out new --engine oracle", "'duckdb', 'spark', 'postgres'"),
    (f"{PUBLISH} --quasi agee --sensitive disease --id ssn -l 3 --out new", "did you mean 'age'?"),
    (f"{ANATOMY} -l 1 --out new", "l is a whole number of at least 2"),
    (f"{ANATOMY} -l 99 --out new", "the largest l that works is 6"),
    (f"{PUBLISH} --quasi age,disease --sensitive disease --id ssn -l 3 --out new", "a column has one role"),
    (f"{PUBLISH} --quasi ssn --sensitive disease -l 3 --out new", "name it with --id"),
    (f"{ANATOMY} -l 3 --out no/new", "make it with mkdir -p"),
    (f"{ANATOMY} -l 3 --out release", "or say --overwrite"),
    (f"publish anatomy patient.parquet {GIVEN} -l 3 --out new", "'patients.parquet'"),
    (f"publish anatomy people {GIVEN} -l 3 --out new", "needs its --database"),
    (f"publish anatomy patient --database hospital.duckdb {GIVEN} -l 3 --out new", "the nearest table is 'patients'"),
    (
        f"publish anatomy hospital.duckdb {GIVEN} -l 3 --out new",
        "name one of its tables, and say --database hospital.duckdb",
    ),
    (f"{ANATOMY} -l 3 --into ward", "--database FILE"),
    (f"{ANATOMY} -l 3 --out new --key-file short", "openssl rand -hex 32"),
    (f"{ANATOMY} -l 3 --out new --ledger w", "openssl rand -hex 32"),
    (f"{ANATOMY} -l 3 --out new --require 'rows > 5 and l > 3'", "'rows >= 1000'"),
    (ROBUST, "--background-from COLUMNS"),
    (
        f"{ROBUST} --background-from disease",
        "'disease' is the sensitive column; a background is made of quasi columns: 'age', 'sex'",
    ),
    (
        f"{ROBUST} --background-from ssn",
        "no quasi column 'ssn', of which a background is made; the quasi columns are 'age', 'sex'",
    ),
    (f"{ROBUST} --background-from age sex", "a blank ends a list: write --background-from age,sex"),
    (f"compare patients.parquet {GIVEN} -l 3 5", "a blank ends a list: write -l 3,5"),
    ("verify nowhere", "a schema's name needs its --database"),
    ("verify ./relese", "no release directory 'relese'; the nearest is 'release'"),
    (
        "attack patients.parquet",
        "'patients.parquet' is a file, no release: give the folder that publish --out wrote, such as 'release'",
    ),
    ("attack .", "it is not a release, and 'release' is one"),
    ("verify release/release.json", "is a file; a release is the folder that holds it"),
    ("estimate 'SELECT 1' release", "sqlanon estimate RELEASE 'SELECT …'"),
    ("estimate 'SELECT 1'", "the release is missing; it stands before the query: sqlanon estimate"),
    (
        "estimate release \"SELECT COUNT(*) FROM release WHERE sex = 'F'\"",
        "sex has the type BIGINT, and 'F' does not fit; its values lie between 0 and 1",
    ),
    ("estimate release", "missing argument 'query'; for example: sqlanon estimate"),
    ("estimate release 'SELECT COUNT(*) FROM patients'", "the one table is called release"),
    ("estimate release 'SELECT * FROM release'", "SELECT [columns,] COUNT(*)"),
    ("estimate release 'SELECT COUNT(*) FROM release WHERE disease = d1'", "a text stands in single quotes, 'd1'"),
    ("estimate release 'SELECT COUNT(DISTINCT disease) FROM release WHERE age > 30'", "count rows with COUNT(*)"),
    ("report release", "missing option '--out'; for example: sqlanon report"),
    ("verify release --format yaml", "'table', 'json', 'csv'; for example: sqlanon"),
    ("run job.yml", "sqlanon guide jobs shows a job"),
    ("guide anatomi", "the nearest is 'anatomy'"),
]


@pytest.fixture(scope="module")
def beginner(tmp_path_factory):
    """Return a shell in a folder with a table, as a file and in a database, and a release."""
    folder = tmp_path_factory.mktemp("beginner")
    (folder / "tmp").mkdir()
    with duckdb.connect(str(folder / "hospital.duckdb")) as con:
        con.execute("create table patients as select i as ssn, 20 + i % 9 as age, i % 2 as sex, 'd' || i % 6 as disease"
                    " from range(120) t(i)")  # fmt: skip
        con.execute(f"copy patients to '{folder / 'patients.parquet'}'")
    (folder / "short").write_text("abc\n")
    made = Shell(folder)
    assert made(*shlex.split(f"{ANATOMY} -l 3 --out release")).returncode == 0
    return made


@pytest.mark.parametrize(("words", "remedy"), MISTAKES)
def test_a_beginners_mistake_is_one_line_that_says_what_to_type(beginner, words, remedy):
    before = beginner.left()
    done = beginner(*shlex.split(words))
    assert (done.returncode, done.stdout) in ((2, ""), (3, "")), done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert remedy in done.stderr, done.stderr
    assert beginner.left() == before


@pytest.mark.parametrize("asked", ["anatomy -l 3", "splu --gamma 2", "mondrian -k 3 -l 2"])
def test_a_source_of_the_same_people_with_other_values_scores_nothing(shell, asked):
    method, *promise = asked.split()
    roles = ("--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn", "--out", "ward")
    assert shell("publish", method, "patients.parquet", *roles, *promise).returncode == 0
    other = duckdb.sql(f"select * replace ('d' || (ssn + 3) % 7 as disease) from '{shell.folder}/patients.parquet'")
    other.write_parquet(str(shell.folder / "others.parquet"))
    for verb in (["attack", "ward"], ["report", "ward", "--out", "ward.html"]):
        done = shell(*verb, "--against", "others.parquet")
        assert done.returncode == 3 and "it is not the one that was published, and nothing is scored" in done.stderr
    assert shell("attack", "ward", "--against", "patients.parquet").returncode == 0


def test_a_first_row_that_was_taken_for_names_is_told(shell):
    rows = [f"p{n},{'FM'[n % 2]},{('flu', 'gout', 'cold')[n % 3]}" for n in range(40)]
    (shell.folder / "texts.csv").write_text("\n".join(rows))
    assert "is to hold the names of its columns, and seems not to" in shell("check", "texts.csv").stderr
    (shell.folder / "texts.csv").write_text("\n".join(["who,sex,disease", *rows]))
    assert "seems not to" not in shell("check", "texts.csv").stderr


def test_decimal_commas_are_told(shell):
    rows = "".join(f"{n};{n % 7};{n % 50 + 1},{n % 10}\n" for n in range(60))
    (shell.folder / "commas.csv").write_text(f"ssn;age;income\n{rows}")
    assert "'income' holds numbers with a decimal comma, which are read as text" in shell("check", "commas.csv").stderr


def test_a_misspelled_identifier_is_refused_wherever_a_source_is_compared(shell):
    assert shell("publish", "anatomy", "patients.parquet", *ROLES).returncode == 0
    for verb in ("verify", "attack"):
        done = shell(verb, "ward", "--against", "patients.parquet", "--id", "sn")
        assert done.returncode == 2 and "no column 'sn'" in done.stderr, done.stderr


def test_what_columns_without_a_telling_name_give_away_is_told(shell):
    told = "select i as ssn, 20 + i % 40 as age, i % 12 as batch, 'd' || (i % 12 + i // 900) as disease"
    duckdb.execute(f"copy ({told} from range(1000) t(i)) to '{shell.folder}/told.parquet'").fetchall()
    assert "batch gives disease away: in a group of 5 people" in shell("check", "told.parquet").stderr


# where a file is read whose first line is somebody's row
READING = [
    "publish anatomy lost.csv ASKED",
    "compare lost.csv --quasi age --sensitive disease",
    "check lost.csv --quasi age",
    "check lost.csv --types Ada=VARCHAR",
    "verify ward --voters lost.csv",
    "verify ward --against lost.csv",
    "verify ward --background lost.csv",
    "attack ward --against lost.csv",
    "attack ward --background lost.csv",
    "report ward --against lost.csv --out report.html",
    "publish anatomy patients.parquet ASKED --coarsen age=map:lost.csv",
    "publish robust patients.parquet --quasi age --sensitive disease -r 3 --out other --background lost.csv",
    "adopt --qit lost.csv --st lost.csv -l 3 --out other",
    "breach --base lost.csv --view 'SELECT ssn FROM base' --secret 'SELECT ssn, disease FROM base'",
]


@pytest.mark.parametrize("words", READING)
def test_somebody_s_row_is_not_listed_where_names_are_looked_for(shell, words):
    lines = [f"Ada{number},Bern,{'ab'[number % 2]},{('flu', 'HIV')[number % 2]}\n" for number in range(60)]
    (shell.folder / "lost.csv").write_text("".join(lines))
    if " ward " in words:
        done = shell("publish", "anatomy", "patients.parquet", *ROLES)
        assert done.returncode == 0, done.stderr
    done = shell(*shlex.split(words.replace("ASKED", "--quasi age --sensitive disease -l 3 --out other")))
    assert done.returncode == 2, done.stderr
    assert not any(text in done.stderr for text in ("Ada0", "Bern", "'flu'"))
    assert "hold the names of its columns" in done.stderr or "--types: the file has no column" in done.stderr
