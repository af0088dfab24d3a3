"""The command line: help with examples, the tour, formats, exit codes, what goes where."""

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

VERBS = [
    *(["publish", "anatomy"], ["compile", "anatomy"], ["publish", "robust"], ["compile", "robust"]),
    *([verb] for verb in ("verify", "estimate", "report", "macros", "adopt", "run", "demo", "breach", "guide")),
]
ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "-l", 3)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(shell, verb):
    done = shell(*verb, "--help")
    assert done.returncode == 0
    assert f"Example: sqlanon {' '.join(verb)}" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("verb", "first", "headings"),
    [
        (["publish", "anatomy"], ["--quasi", "--sensitive", "-l", "--id", "--out", "--database"], 7),
        (["compile", "splu"], ["--quasi", "--sensitive", "--gamma", "--id"], 4),
        (["verify"], ["--against", "--id", "--database"], 6),
        (["guide"], [], 1),
    ],
)
def test_help_has_what_is_needed_first_and_the_rest_by_what_it_is_about(shell, verb, first, headings):
    said = shell(*verb, "--help").stdout
    sections = re.findall(r"^([A-Z][a-z ]+):\n((?:  .*\n)+)", said, re.MULTILINE)
    options = {heading: re.findall(r"^  (-\S+)", lines, re.MULTILINE) for heading, lines in sections}
    assert options.get("Needed first", []) == first
    assert len(options) - ("Arguments" in options) == headings


def test_the_help_lists_every_verb(shell):
    done = shell("--help")
    assert all(verb[0] in done.stdout for verb in VERBS)
    assert shell("--version").stdout.startswith("sqlanon ")


def test_the_tour_runs_and_shows_estimate_error_bar_and_truth(shell):
    done = shell("demo")
    assert done.returncode == 0, done.stderr
    assert re.search(r"disease +n +truth +n_std_error +n_low +n_high", done.stdout)
    inside, total = map(int, re.search(r"inside the 95 % interval in (\d+) of (\d+) rows", done.stdout).groups())
    assert total == 11
    assert inside >= 6
    assert shell.left() == {"tmp", "hospital.duckdb", "patients.parquet"}


def test_the_tour_can_be_kept(shell):
    assert shell("demo", "--keep", "tour").returncode == 0
    assert (
        shell("verify", "tour/release", "--against", "patients", "--database", "tour/hospital.duckdb").returncode == 0
    )
    done = shell("demo", "--keep", "tour")
    assert done.returncode == 2
    assert "exists" in done.stderr


@pytest.fixture
def release(shell, hospital_release):
    """Return the runner, in whose folder a release lies."""
    shutil.copytree(hospital_release, shell.folder / "release")
    return shell


def test_estimate_in_every_format(release):
    sql = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'd1' GROUP BY sex ORDER BY sex"
    asked = ("estimate", "release", sql)
    shown = release(*asked)
    rows = json.loads(release(*asked, "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(release(*asked, "--format", "csv").stdout)))
    assert [row["sex"] for row in rows] == [line["sex"] for line in lines] == ["F", "M"]
    assert set(rows[0]) == {"sex", "n", "n_std_error", "n_low", "n_high"}
    assert rows[0]["n_low"] <= rows[0]["n"] <= rows[0]["n_high"]
    assert shown.stdout.split()[:5] == list(rows[0])


def test_verify_ends_in_commands_that_run(release):
    verified = release("verify", "release")
    assert verified.returncode == 0
    commands = [shlex.split(line) for line in verified.stderr.splitlines() if line.startswith("sqlanon ")]
    assert [words[1] for words in commands] == ["attack", "estimate"]
    runs = [release(*words[1:]) for words in commands]
    assert [run.returncode for run in runs] == [0, 0]
    (command,) = [shlex.split(line) for line in runs[0].stderr.splitlines() if line.startswith("sqlanon ")]
    assert command == ["sqlanon", "report", "release", "--out", "release.html"]
    assert "next" not in release("verify", "release", "--format", "json").stderr


def test_zero_has_no_sign(release):
    sql = "SELECT round(COUNT(*) / -1e9, 1) AS x FROM release WHERE disease = 'd1' AND sex = 'F'"
    for how in ("table", "json"):
        assert "-0" not in release("estimate", "release", sql, "--format", how).stdout


def test_a_value_that_no_row_has_is_told(release):
    sql = "SELECT {}COUNT(*) FROM release WHERE disease = 'D 1'{}"
    told = "no such value in the release: disease = 'D 1'; did you mean 'd1'?"
    shown = release("estimate", "release", sql.format("", ""))
    assert shown.stderr.splitlines() == [told]
    (row,) = json.loads(release("estimate", "release", sql.format("", ""), "--format", "json").stdout)
    assert (row["count"], row["notes"]) == (0, [told])
    asked = sql.format("sex, ", " GROUP BY sex")
    assert json.loads(release("estimate", "release", asked, "--format", "json").stdout) == [{"notes": [told]}]


def test_compile_needs_no_database(shell):
    asked = (*ROLES, "--dialect", "postgres")
    done = shell("compile", "anatomy", "ward.patients", *asked)
    assert done.returncode == 0
    assert '"ward"."patients"' in done.stdout
    refused = shell("compile", "anatomy", "p.parquet", *asked)
    assert refused.returncode == 2
    assert "from a table, not from the file" in refused.stderr


def test_a_reader_that_leaves_early_is_no_error():
    compiled = f"{sys.executable} -m sqlanon compile anatomy t --quasi a --sensitive s -l 2"
    command = f"{compiled} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_control_characters_of_values_do_not_reach_the_terminal(shell):
    (shell.folder / "evil.csv").write_text("q,s\n" + "".join(f"\x1b[2J{i},{i % 3}\n" for i in range(9)))
    roles = ("--quasi", "q", "--sensitive", "s", "-l", 3)
    assert shell("publish", "anatomy", "evil.csv", *roles, "--out", "release").returncode == 0
    done = shell("estimate", "release", "SELECT q, COUNT(*) FROM release GROUP BY q")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b" in done.stdout
    (shell.folder / "named.csv").write_text("\x1b[2Jq,s\n" + "".join(f"{i % 7},{i % 7}\n" for i in range(700)))
    named = ("--quasi", "\x1b[2Jq", "--sensitive", "s", "-l", 3, "--out", "named")
    assert shell("publish", "anatomy", "named.csv", *named).returncode == 0
    done = shell("attack", "named")
    assert "tells most" in done.stdout and "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--keep", "no/such/place"],
        ["publish", "anatomy", "patients.parquet", *ROLES, "--out", "o\udcff"],
        ["estimate", "release", "SELECT '\udcff'"],
        ["verify", "tmp", "--threads", 100000],
        ["verify", "tmp", "--memory-limit=-1GB"],
    ],
)
def test_clumsy_input_ends_with_2(shell, arguments):
    done = shell(*arguments)
    assert done.returncode == 2, done.stderr
    assert "fault of sqlanon" not in done.stderr


@pytest.mark.parametrize("words", ["verify release", "--version"])
def test_an_answer_that_cannot_be_written_is_no_bug(release, words):
    command = f"{sys.executable} -m sqlanon {words} > /dev/full"
    done = subprocess.run(["bash", "-c", command], cwd=release.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot write" in done.stderr


def test_a_name_that_is_schema_and_directory_is_refused(release):
    asked = (*ROLES, "--database", "hospital.duckdb", "--into", "release")
    assert release("publish", "anatomy", "patients", *asked).returncode == 0
    done = release("verify", "release", "--database", "hospital.duckdb")
    assert done.returncode == 2
    assert "a schema of the database and a directory" in done.stderr
    assert release("verify", "./release", "--against", "patients", "--database", "hospital.duckdb").returncode == 0
