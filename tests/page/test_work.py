"""Runs without a browser: the latest check counts, a cancelled run ends, and what made a release visible is told."""

import logging
import threading
import time

import pytest

from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import DataError
from sqlanon.page.work import Work

LONG = "select count(*) as n from range(100000000000) x(j) where hash(j) % 1000003 = 7"


@pytest.fixture
def work():
    log = logging.getLogger("sqlanon")
    level, handlers = log.level, list(log.handlers)
    made = Work(open_duckdb, lambda: None)
    yield made
    made.cancel_all(10)
    log.setLevel(level)
    log.handlers[:] = handlers


def wait(run, seconds=20.0):
    end = time.monotonic() + seconds
    while run.goes_on:
        assert time.monotonic() < end, "the run goes on"
        time.sleep(0.01)
    return run


def test_a_run_has_a_session_of_its_own_and_its_value(work):
    assert work.start("verify", lambda engine: engine.rows("select 42 as n")[0]["n"], ("inputs",))
    run = wait(work.runs["verify"])
    assert (run.value, run.fault, run.cancelled, run.inputs) == (42, "", False, ("inputs",))


def test_a_second_run_of_a_step_is_refused_while_the_first_goes_on(work):
    assert work.start("publish", lambda engine: engine.rows(LONG), 1)
    assert not work.start("publish", lambda engine: 2, 2)
    assert work.start("verify", lambda engine: 3, 3)
    assert wait(work.runs["verify"]).value == 3
    work.cancel("publish")
    run = wait(work.runs["publish"])
    assert (run.inputs, run.cancelled, run.value, run.fault) == (1, True, None, "")
    assert work.start("publish", lambda engine: 4, 4)
    assert wait(work.runs["publish"]).value == 4


def test_a_cancel_between_two_statements_reaches_the_next_one(work):
    between, going = threading.Event(), threading.Event()

    def run(engine):
        engine.rows("select 1 as n")
        between.set()
        going.wait(10)
        return engine.rows(LONG)

    work.start("publish", run, 1)
    assert between.wait(10)
    work.cancel("publish")
    time.sleep(0.2)  # the first interruption finds nothing that runs
    going.set()
    assert wait(work.runs["publish"]).value is None


def test_of_ten_checks_the_last_one_counts_and_no_two_run_at_once(work):
    running, most = [], []

    def check(number):
        def run(engine):
            running.append(number)
            most.append(len(running))
            try:
                return number if number == 9 else engine.rows(LONG)
            finally:
                running.remove(number)

        return run

    for number in range(10):
        work.start_latest("risks", check(number), number)
    end = time.monotonic() + 20
    while work.runs["risks"].inputs != 9 or work.runs["risks"].goes_on:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert work.runs["risks"].value == 9
    assert max(most) == 1
    assert len(most) <= 3  # those between were forgotten


def test_what_is_refused_and_what_fails_is_told_without_values(work):
    def refuse(engine):
        raise DataError("l = 9 is not possible")

    def fail(engine):
        raise ValueError("'a secret value'")

    work.start("publish", refuse, 1)
    work.start("verify", fail, 1)
    assert wait(work.runs["publish"]).fault == "l = 9 is not possible"
    assert wait(work.runs["verify"]).fault == "a fault of sqlanon (ValueError); nothing was changed"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("checking one", ("Looking at the source", None)),
        ("making groups", ("Forming groups", None)),
        ("turn 1 of x", ("Forming groups", None)),
        ("writing qit", ("Writing the release", None)),
        ("verifying release", ("Verifying what was written", None)),
        ("attacking anatomy", ("Attacking the release", None)),
        ("candidate 2 of 4, about 9 seconds left", ("Candidate 2 of 4, about 9 seconds left", 0.25)),
    ],
)
def test_parts_are_told_in_plain_words_and_a_comparison_how_far_it_is(work, said, told):
    log, parts = logging.getLogger("sqlanon"), []

    def run(engine):
        for words in (said, "attacking anatomy"):  # what is within a candidate is none of how far it is
            log.info(words)
            parts.append((work.runs["compare"].part, work.runs["compare"].share))

    work.start("compare", run, 1)
    log.info("of no run")
    assert wait(work.runs["compare"]).seconds >= 0
    assert parts == [told, told if told[1] else ("Attacking the release", None)]


def test_the_end_of_the_server_cancels_and_names_what_ran(work):
    work.start("attack", lambda engine: engine.rows(LONG), 1)
    assert work.cancel_all(20) == ["attack"]
    assert wait(work.runs["attack"]).cancelled
