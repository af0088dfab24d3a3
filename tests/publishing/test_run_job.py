"""Jobs: a release in a file, mistakes with their line, thresholds, what a scheduler sees, reruns."""

import gc
import json
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.publishing.job_file import read_job
from sqlanon.publishing.thresholds import FIGURES
from tests.publishing.test_publish import sql

KEY = "ab" * 32
JOB = """\
method: anatomy
source: patients.parquet
roles:
  quasi: [age, sex, zipcode]
  sensitive: disease
  id: ssn
parameters:
  l: 4
output:
  out: ward
"""
DATABASE = JOB.replace("source: patients.parquet", "source:\n  database: ${HOSPITAL}\n  table: patients")


def write(shell, text=JOB, name="nightly.yml"):
    (shell.folder / name).write_text(text)
    return name


def test_a_job_that_has_run_holds_no_database(shell, monkeypatch):
    monkeypatch.chdir(shell.folder)
    text = DATABASE.replace("out: ward", "into: ward\n  overwrite: true").replace("${HOSPITAL}", "hospital.duckdb")
    gc.disable()
    try:
        for _ in range(2):
            sqlanon.run(write(shell, text))
        duckdb.connect("hospital.duckdb").close()
    finally:
        gc.enable()


def refused(shell, code, text, says, *options, **environment):
    """Run a job that is refused, and assert that nothing but a message came of it."""
    name = write(shell, text)
    before = shell.left()
    done = shell("run", name, *options, **environment)
    assert done.returncode == code, done.stderr
    for words in [says] if isinstance(says, str) else says:
        assert words in done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr
    assert shell.left() == before
    return done.stderr


QUERY = (
    "source:\n  query: SELECT p.ssn, p.age, p.sex, p.zipcode, p.disease FROM 'patients.parquet' AS p"
    " JOIN 'adults.csv' AS a ON p.ssn = a.ssn"
)


def test_a_job_publishes_a_query_whose_files_lie_beside_it(shell):
    (shell.folder / "jobs").mkdir()
    (shell.folder / "patients.parquet").rename(shell.folder / "jobs" / "patients.parquet")
    adults = f"select ssn from '{shell.folder}/jobs/patients.parquet' where age > 30"
    sql(shell, f"copy ({adults}) to '{shell.folder}/jobs/adults.csv'")
    job = JOB.replace("source: patients.parquet", QUERY)
    done = shell("run", write(shell, job, "jobs/nightly.yml"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == len(sql(shell, adults)) > 0
    assert shell("run", "jobs/nightly.yml", "--check").returncode == 0
    for wrong, reason in (
        (job.replace("patients.parquet", "${PLACE}"), "line 3: a query takes no environment variables"),
        (job.replace("JOIN 'adults.csv' AS a", "JOIN read_csv('adults.csv') AS a"), "line 3: READ_CSV"),
        (job.replace("  query:", "  path: x.csv\n  query:"), "line 3"),
        (job.replace("out: ward", "into: ward"), "into names a schema of the source's database"),
    ):
        done = shell("run", write(shell, wrong, "jobs/wrong.yml"))
        assert done.returncode == 2 and reason in done.stderr, done.stderr


# -- running -----------------------------------------------------------------------------------------------------


def test_a_job_publishes_and_prints_the_manifest(shell):
    done = shell("run", write(shell))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((shell.folder / "ward" / "release.json").read_text())
    assert shell("verify", "ward", "--against", "patients.parquet").returncode == 0
    assert "ssn" in done.stderr


def test_a_job_runs_from_python(shell):
    release = sqlanon.run(shell.folder / write(shell))
    assert release.manifest["rows"] == 600 and "not published: ssn" in release.notes
    with pytest.raises(sqlanon.UsageError, match="exists"):
        sqlanon.run(shell.folder / "nightly.yml")


def test_a_job_into_a_schema(shell):
    job = DATABASE.replace("out: ward", "into: ${WARD}\n  overwrite: true") + "require: {rows: '>= 600'}\n"
    for _ in range(2):
        done = shell("run", write(shell, job), HOSPITAL="hospital.duckdb", WARD="ward 1")
        assert done.returncode == 0, done.stderr
        assert "schema '${WARD}'" in done.stderr
    assert "second release of the same people" in done.stderr
    assert sql(shell, 'select count(*) from "ward 1".qit') == [(600,)]


def test_a_job_takes_its_key_from_the_variable_it_names(shell):
    job = JOB.replace("out: ward", "out: ${OUT}") + "key_env: WARD_KEY\n"
    for out in ("first", "second"):
        assert shell("run", write(shell, job), WARD_KEY=KEY, OUT=out).returncode == 0
    files = [json.loads((shell.folder / out / "release.json").read_text())["files"] for out in ("first", "second")]
    assert files[0] == files[1]
    said = refused(shell, 2, job, "the environment variable WARD_KEY, which key_env names, is not set", OUT="third")
    assert KEY not in said
    refused(shell, 2, job, "WARD_KEY", WARD_KEY="", OUT="third")
    said = refused(shell, 2, job, "fewer than 128 bits", WARD_KEY="letmein", OUT="third")
    assert "letmein" not in said


def test_parameters_and_options_reach_the_method(shell):
    job = JOB.replace("l: 4", "l: 2\n  block: all\n  nulls: value\n  draws: random\n  unit: row")
    done = shell("run", write(shell, job))
    assert done.returncode == 0, done.stderr
    parameters = json.loads(done.stdout)["parameters"]
    assert parameters == {"l": 2, "block": "all", "draws": "random", "nulls": "value", "rows_per_person": "many"}
    assert "can be predicted" in done.stderr


def logged(done) -> dict[str, list]:
    """Return what standard error says, which is lines of JSON and nothing else, by event."""
    events, runs = {}, set()
    for line in map(json.loads, done.stderr.splitlines()):
        written = datetime.fromisoformat(line.pop("time"))
        assert abs(datetime.now(UTC) - written) < timedelta(minutes=10)
        runs.add((line.pop("job"), line.pop("run")))
        events.setdefault(line.pop("event"), []).append(line)
    assert len(runs) == 1
    return events


def test_log_json_is_a_line_a_step(shell):
    done = shell("run", write(shell, JOB.replace("l: 4", "l: 4\n  draws: random")), "--log", "json")
    events = logged(done)
    attacks = {"attacking", "learning", "excluding"}
    assert set(events) == {"making", "checking", "writing", "verifying", "committing", "note", "warning"} | attacks
    assert {line["name"] for line in events["making"]} >= {"tally", "frequency", "grouped"}
    assert [line["name"] for line in events["writing"]] == ["qit", "st"]
    steps = [line for event in ("making", "checking", "writing", "verifying", "committing") for line in events[event]]
    assert all(set(line) == {"name", "seconds"} and line["seconds"] >= 0 for line in steps)
    assert "not published: ssn" in events["note"][0]["message"]
    assert json.loads(done.stdout)["rows"] == 600


def test_check_finds_what_the_data_does_not_allow_with_its_line_and_runs_nothing(shell):
    done = shell("run", write(shell), "--check")
    assert (done.returncode, done.stdout) == (0, "")
    says = ["nightly.yml, line 8: l = 9 is not possible", "the largest l that works is 6"]
    refused(shell, 3, JOB.replace("l: 4", "l: 9"), says, "--check")
    says = ["line 4: no column 'zipcod' in the source", "did you mean 'zipcode'?"]
    refused(shell, 2, JOB.replace("zipcode", "zipcod"), says, "--check")
    unique = JOB.replace("[age, sex, zipcode]", "[age,\n    ssn]").replace("  id: ssn\n", "")
    refused(shell, 3, unique, "line 5: the quasi column 'ssn' has a value of its own in each of 600 rows", "--check")
    robust = ROBUST.replace("BACKGROUND", "background_from: age\n  max_suppressed: 0")
    refused(shell, 3, robust, "r = 2.5 is not possible", "--check")
    refused(shell, 2, JOB + "key_env: WARD_KEY\n", "WARD_KEY", "--check")
    told = shell("run", write(shell, unique.replace("l: 4", "l: 4\n  unique_quasi: keep")), "--check")
    assert told.returncode == 0 and "'ssn' alone has 600 different values" in told.stderr
    assert not (shell.folder / "ward").exists()


# -- thresholds ---------------------------------------------------------------------------------------------------


def test_a_missed_threshold_publishes_nothing_and_leaves_what_stands(shell):
    said = refused(shell, 3, JOB + "require:\n  rows: '>= 1000'\n  l: '>= 4'\n", "rows >= 1000 is required, found 600")
    assert "nothing was published" in said and "l >= 4" not in said
    job = JOB.replace("out: ward", "out: ward\n  overwrite: true")
    assert shell("run", write(shell, job)).returncode == 0
    before = (shell.folder / "ward" / "release.json").read_bytes()
    refused(shell, 3, job + "require: {confidence: '< 0.25'}\n", "confidence < 0.25 is required, found 0.25")
    assert (shell.folder / "ward" / "release.json").read_bytes() == before


def test_every_figure_can_be_required(shell):
    figures = [figure for figure in FIGURES if figure != "posterior"]  # a robust release has one
    required = ", ".join(f"{figure}: '>= 0'" for figure in figures)
    assert shell("run", write(shell, JOB + f"require: {{{required}}}\n")).returncode == 0


# -- mistakes, one by one -----------------------------------------------------------------------------------------

# what stands in JOB, or behind it, the mistake in its place, its line, and what is said
MISTAKES = [
    ("method: anatomy", "methode: anatomy", 1, "unknown key 'methode' in the job; there are method,"),
    ("method: anatomy\n", "", 1, "the job lacks method"),
    ("method: anatomy", "method: magic", 1, "method is one of anatomy"),
    ("anatomy", "[anatomy]", 1, "method is one of anatomy, splu, robust, uncertain, mondrian, not a list"),
    ("", "method: anatomy\n", 11, "the key 'method' is given twice"),
    ("", "engine: spark\n", 11, "unknown key 'engine'"),
    ("", "<<: {a: 1}\n", 11, "unknown key '<<'"),
    ("patients.parquet", "7", 2, "source is text, not a whole number; put it into quotes"),
    ("patients.parquet", "{database: x}", 2, "source lacks table"),
    ("patients.parquet", "{engine: oracle}", 2, "engine is one of duckdb, spark, postgres"),
    ("patients.parquet", "{engine: postgres}", 2, "source lacks table"),
    ("patients.parquet", "{engine: spark, master: x}", 2, "source lacks path"),
    ("patients.parquet", "{engine: postgres, table: t}", 10, "writes no files; write into"),
    ("patients.parquet", "{engine: postgres,\n  table: t, master: x}", 3, "unknown key 'master' in source; there are"),
    (" patients.parquet", "", 2, "source is text, not nothing"),
    ("patients.parquet", "''", 2, "source is empty"),
    ("patients.parquet", "${GONE}/x", 2, "the environment variable GONE is not set"),
    ("patients.parquet", "${}", 2, "the environment variable  is not set"),
    ("sensitive: disease", "sensitiv: disease", 5, "unknown key 'sensitiv' in roles"),
    ("  sensitive: disease\n", "", 4, "roles lacks sensitive"),
    ("[age, sex, zipcode]", "[age, {sex: 1}]", 4, "each of quasi is text, not a mapping"),
    ("[age, sex, zipcode]", "[age, no]", 4, "text, not true or false; put it into quotes"),
    ("[age, sex, zipcode]", "[age,\n    1]", 5, "each of quasi is text, not a whole number"),
    ("[age, sex, zipcode]", "[]", 4, "quasi is empty"),
    ("id: ssn", "id:", 6, "id is text or a list, not nothing"),
    ("l: 4", "l: four", 8, "l is a whole number, not text"),
    ("l: 4", "l: '4'", 8, "l is a whole number, not text"),
    ("l: 4", "l: 4.5", 8, "l is a whole number, not a number"),
    ("l: 4", "l: true", 8, "l is a whole number, not true or false"),
    ("l: 4", "l: 010", 8, "l = 010 is read as 8: write it in plain digits"),
    ("l: 4", "l: 0x10", 8, "l = 0x10 is read as 16"),
    ("l: 4", "l: 1:30", 8, "l = 1:30 is read as 90"),
    ("l: 4", "l: 4\n  max_suppressed: 1:30.5", 9, "max_suppressed = 1:30.5 is read as 90.5"),
    ("l: 4", "l: 4\n  max_suppressed: 1 %%", 9, "max_suppressed = '1 %%' is no share"),
    ("l: 4", "l: 4\n  max_suppressed: [1]", 9, "max_suppressed of type list is no share"),
    ("", "require: {posterior: '<= 0.5'}\n", 11, "releases of anatomy have no figure 'posterior'"),
    ("", "require: {l: 010}\n", 11, "l = 010 is read as 8"),
    ("l: 4", "l: all", 8, "l is a whole number, not text"),
    ("l: 4", "k: 4", 8, "unknown key 'k' in parameters; there are l, max_suppressed, known_size, block, nulls, draws"),
    ("l: 4", "block: 4", 8, "parameters lacks l"),
    ("l: 4", "l: 4\n  nulls: keep", 9, "nulls is one of refuse, value, drop, not 'keep'"),
    ("l: 4", "l: 4\n  key: abc", 9, "unknown key 'key'"),
    ("parameters:\n  l: 4", "parameters: 4", 7, "parameters is a mapping of keys to values, not a whole"),
    ("out: ward", "out: ward\n  into: ward", 10, "and one of them"),
    ("out: ward", "overwrite: true", 10, "and one of them"),
    ("out: ward", "into: ward", 10, "give source a database and a table"),
    ("out: ward", "out: ward\n  overwrite: maybe", 11, "overwrite is true or false, not text"),
    ("", "require: {row: '>= 1'}\n", 11, "no figure 'row'; thresholds are on rows, groups"),
    (
        "",
        "require:\n  rows: 1000\n",
        12,
        "'rows 1000' is no threshold; write a figure, one of >= <= > < = and a number, as in",
    ),
    ("", "require:\n  groups: '>= 1'\n  rows: about 1000\n", 13, "'rows about 1000' is no threshold"),
    ("", "require: '>= 1000'\n", 11, "require is a mapping"),
    ("", "require: {rows: 2024-01-01}\n", 11, "rows is text or a number, not a timestamp"),
    ("", "require: {[a, b]: 1}\n", 11, "a key of require is a word, not a list"),
    ("", "key_env: [A]\n", 11, "key_env is text, not a list"),
    ("", "key_env: !secret A\n", 11, "key_env is text"),
    ("out: ward", 'out: "ward\\0"', 10, "'ward\\x00' holds a NUL character, which no name, path or query has"),
    ("", f"key_env: {'ab' * 32}\n", 11, "key_env names the environment variable that holds the key; it is not the key"),
    ("", "  x: [\n", 11, "not YAML"),
    ("", "\tx: 1\n", 11, "lines are indented with blanks"),
    ("", "  rows: >= 500\n", 11, "a text that begins with > or holds ': ' stands in quotes"),
    ("", "---\nmethod: anatomy\n", 11, "not YAML"),
    ("l: 4", "l: 4\n  block: some", 9, "block is all or a whole number, not text"),
    ("l: 4", "l: 4\n  coarsen: {age:\n    yes}", 10, "coarsen of age is text or a number, not true or false"),
    ("l: 4", "l: 4\n  coarsen: {age: fine}", 9, "age='fine' is no way to coarsen values"),
    ("l: 4", "l: 4\n  vary: sometimes visit", 9, "vary"),
    ("id: ssn", 'id: "\\ud800"', 6, "is not UTF-8 text"),
    ("", '"\\ud800": 1\n', 11, "is not UTF-8 text"),
    ("", "x: &x [1, 1]\ny: &y [*x, *x]\nz: [*y, *y]\n", 11, "unknown key 'x' in the job"),
]
OF_UNCERTAIN = [
    ("k: 4\n  hierarchy: education.csv", 9, "hierarchy is a mapping, not text"),
    ("k: 4\n  hierarchy: {age: 3}", 9, "hierarchy of age is text, not a whole number"),
    ("influence: [a]", 8, "influence is text, not a list"),
]
SPARK = JOB.replace("patients.parquet", "{engine: spark, table: t}")
TEXTS = [
    *((JOB.replace(old, new) if old else JOB + new, *told) for old, new, *told in MISTAKES),
    *((JOB.replace("anatomy", "uncertain").replace("l: 4", new), *told) for new, *told in OF_UNCERTAIN),
    (SPARK.replace("out: ward", "into: ward"), 10, "spark publishes to a directory; write out"),
    ("- method: anatomy\n", 1, "the job is a mapping of keys to values, not a list"),
]


@pytest.mark.parametrize(("text", "line", "words"), TEXTS)
def test_a_mistake_is_told_with_its_line(tmp_path, text, line, words):
    path = tmp_path / "nightly.yml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_job(path, {})
    assert f"{path}, line {line}: " in str(error.value)
    assert words in str(error.value)


MANY = "x0: &x0 [1]\n" + "".join(f"x{i + 1}: &x{i + 1} [{f'*x{i}, ' * 9}]\n" for i in range(6))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"# nothing\n", "nightly.yml' is empty|nightly.yml is empty"),
        (b"method: \xff\xfe", "not UTF-8 text"),
        (b"[" * 1100, "nested too deep"),
        (JOB.replace("l: 4", "l: &l [*l]").encode(), "nested too deep"),
        (MANY.encode(), "a job has at most 100,000 values"),
        (b"method: a\x00b", "special characters are not allowed"),
    ],
)
def test_files_that_are_no_jobs(tmp_path, content, says):
    (tmp_path / "nightly.yml").write_bytes(content)
    with pytest.raises(UsageError, match=says):
        read_job(tmp_path / "nightly.yml", {})


# -- secrets ------------------------------------------------------------------------------------------------------


def test_what_stood_in_a_variable_is_not_shown(shell):
    said = refused(shell, 2, DATABASE, "no database file '${HOSPITAL}'", HOSPITAL="/vault/s3cret.duckdb")
    assert "s3cret" not in said
    job = JOB.replace("patients.parquet", "${FOLDER}/patients.parquet")
    assert "s3cret" not in refused(shell, 2, job, "${FOLDER}", FOLDER="/vault/s3cret")
    assert "s3cret" not in refused(shell, 2, job, "${FOLDER}", "--check", FOLDER="./vault//s3cret")
    (shell.folder / "s3cret").mkdir()
    job = JOB.replace("out: ward", "out: ${OUT}")
    assert "s3cret" not in refused(shell, 2, job, "exists", OUT="s3cret")


# -- again --------------------------------------------------------------------------------------------------------


ROBUST = """\
method: robust
source: patients.parquet
roles:
  quasi: [age, sex]
  sensitive: disease
  id: ssn
parameters:
  r: 2.5
  BACKGROUND
output:
  out: ward
require:
  posterior: "<= 0.4"
  dropped_share: "<= 0.01"
"""


def test_a_job_publishes_against_backgrounds(shell):
    (shell.folder / "by_sex.csv").write_text("sex,disease,probability\nF,d0,0.3\nM,d0,0.1\n")
    known = "background: by_sex.csv\n  background_from: [sex, [sex]]"
    done = shell("run", write(shell, ROBUST.replace("BACKGROUND", known)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"]["backgrounds"] == [["sex"], ["sex"], ["sex"]]


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ("block: 64", "say what the adversary knows"),
        ("background: {a: b}", "line 9"),
        ("background: nowhere.csv", "nowhere.csv"),
    ],
)
def test_a_job_with_wrong_backgrounds_is_refused(shell, known, says):
    refused(shell, 2, ROBUST.replace("BACKGROUND", known), says)


# -- other engines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("{engine: duckdb, database: x.duckdb, table: t}", ("duckdb", "t", None, None)),
        ("{engine: spark, path: p/*.parquet, master: 'local[2]'}", ("spark", "p/*.parquet", "local[2]", None)),
        ("{engine: spark, table: wards.people}", ("spark", "wards.people", None, None)),
        ("{engine: postgres, table: s.t, dsn: '${DSN}'}", ("postgres", "s.t", None, "postgresql://me:pw@host/db")),
        ("{engine: postgres, table: s.t}", ("postgres", "s.t", None, "postgresql://other")),
    ],
)
def test_a_source_names_its_engine(tmp_path, source, place):
    path = tmp_path / "nightly.yml"
    path.write_text(JOB.replace("patients.parquet", source).replace("out: ward", "OUT: ward".lower()))
    if "postgres" in source:
        path.write_text(path.read_text().replace("out: ward", "into: ward"))
    variables = {"DSN": "postgresql://me:pw@host/db", "SQLANON_DSN": "postgresql://other"}
    job = read_job(path, variables)
    found = str(job.request.source).removeprefix(f"{tmp_path}/")
    assert (job.session["engine"], found, job.session["master"], job.session["dsn"]) == place
    assert ("postgresql://me:pw@host/db" in job.secrets) == ("${DSN}" in source)
