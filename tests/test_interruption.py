"""A signal ends a command in one line, with its exit code, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

import sqlanon
from sqlanon import interruption

PROGRAM = [sys.executable, "-c"]
ENDLESS = (
    "create view endless as select i as ssn, i % 90 as age, md5(i::varchar) as note, 'd' || i % 9 as disease"
    " from range(1000000000000) t(i)"
)
ROLES = ["--quasi", "age,note", "--sensitive", "disease", "-l", "4", "--database", "hospital.duckdb"]


def started(shell, *words):
    environment = shell.environment | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "sqlanon", *words, "--memory-limit", "100MB"]
    return subprocess.Popen(command, cwd=shell.folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def heard():
    """Let a command hear Ctrl-C and a closed terminal, though whoever started the tests made them deaf to both."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    ("number", "code", "where"),
    [
        (signal.SIGINT, 130, ("--out", "release")),
        (signal.SIGTERM, 143, ("--into", "ward")),
        (signal.SIGHUP, 129, ("--out", "release")),
    ],
)
def test_a_signal_in_a_query_ends_in_one_line_and_leaves_nothing(shell, number, code, where):
    with duckdb.connect(str(shell.folder / "hospital.duckdb")) as connection:
        connection.execute(ENDLESS)
    before = shell.left()
    process = started(shell, "publish", "anatomy", "endless", *ROLES, *where)
    deadline = time.monotonic() + 60
    waiting = ".release.sqlanon-*" if "release" in where else "tmp/sqlanon-spill-*"
    while not any(shell.folder.glob(waiting)) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)  # the query runs by now
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (code, b"")
    (line,) = err.decode().splitlines()
    assert line.partition(";")[0] == interruption.WORDS[number]
    assert line.partition("; ")[2] in ("", "nothing was published")
    assert shell.left() == before


def test_a_signal_that_is_heard_inside_a_query_ends_its_other_threads(monkeypatch):
    """DuckDB lets handlers run between a query's tasks, and waits for those of other threads before it says so."""

    class Connection:
        interrupted = False

        def interrupt(self):
            self.interrupted = True

    connection = Connection()
    monkeypatch.setattr(interruption, "_state", interruption._State())
    monkeypatch.setattr(interruption, "interruptible", {connection})
    before = {number: signal.getsignal(number) for number in interruption.WORDS}
    try:
        signal.signal(signal.SIGTERM, interruption._note)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert connection.interrupted


@pytest.mark.parametrize(("held", "words"), [(True, "stands"), (False, "nothing was published")])
def test_a_signal_in_a_commit_waits_for_its_end(held, words):
    lines = f"""
import os, signal
from sqlanon import interruption
interruption.handle_signals()
done = []
try:
    with interruption.visible_or_not():
        if {held}:
            interruption.hold_back()
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("whole")
except KeyboardInterrupt:
    print(done, interruption.ended_by())
"""
    run = subprocess.run([*PROGRAM, lines], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("['whole'] (143" if held else "[] (143")
    assert words in run.stdout


@pytest.mark.parametrize("lasting", [True, False])
def test_a_signal_after_a_release_is_not_held_back_and_what_it_says_is_true(con, tmp_path, monkeypatch, lasting):
    monkeypatch.setattr(interruption, "_state", interruption._State())
    con.execute("create table t as select i as age, 'd' || i % 4 as disease from range(40) t(i)")
    release = sqlanon.anatomy(con, "t", quasi="age", sensitive="disease", l=2)
    tables = {name: str(relation) for name, relation in release.tables.items()}
    if lasting:
        con.execute(f"create table qit as from {tables['qit']}; create table st as from {tables['st']}")
        sqlanon.adopt(con, qit="qit", st="st", quasi="age", sensitive="disease", l=2, out=tmp_path / "adopted")
    assert not interruption._state.held
    # a release of the session ends with it: whoever is told that one stands would look for it
    assert interruption._state.visible is lasting


def test_signals_that_a_caller_ignores_stay_ignored():
    lines = (
        "import signal; from sqlanon import interruption; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        " interruption.handle_signals(); signal.raise_signal(signal.SIGINT); print(interruption.ended_by())"
    )
    assert subprocess.run([*PROGRAM, lines], capture_output=True, text=True, check=True).stdout == "None\n"
