"""Nasty commands of every verb end in the contract's exit codes."""

import time

import pytest
from hypothesis import HealthCheck, given

from tests.examples import examples
from tests.nasty_commands import VALID, commands, complaint, jobs
from tests.nasty_folder import NastyFolder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return NastyFolder(tmp_path_factory.mktemp("nasty"), releases=5)


def ends_well(folder, words):
    begun = time.monotonic()
    done = folder.shell(*words)
    faults = list(complaint(done, time.monotonic() - begun))
    folder.restore()
    assert not faults, (words, done.stderr)


def test_the_commands_that_are_changed_are_valid(folder):
    for verb in ("estimate", "complete", "adopt", "ledger", "run", "breach"):
        done = folder.shell(*verb.split(), *VALID[verb][0])
        assert done.returncode == 0, (verb, done.stderr)
        folder.restore()
        assert not (folder.shell.folder / "out").exists(), "what a command leaves is taken back"


SELDOM = ("publish splu", "publish robust", "publish uncertain", "compare", "complete", "report")
OFTEN = [verb for verb in VALID if verb not in SELDOM]


@pytest.mark.parametrize("verb", OFTEN)
def test_nasty_commands(folder, verb):
    @given(commands(verb))
    @examples(1, *HealthCheck)
    def end_well(words):
        ends_well(folder, words)

    end_well()


@given(text=jobs())
@examples(2, *HealthCheck)
def test_nasty_jobs(folder, text):
    folder.lay_job(text)
    ends_well(folder, ["run", "job.yml"])
