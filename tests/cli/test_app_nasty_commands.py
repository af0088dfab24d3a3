"""Nasty commands of every verb end in the contract's exit codes; `tests.benchmarks.nasty` draws a thousand of each."""

import shutil
import time

import pytest
from hypothesis import HealthCheck, given

from tests.benchmarks.nasty import furnished
from tests.examples import examples
from tests.nasty_commands import VALID, commands, complaint, jobs


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return furnished(tmp_path_factory.mktemp("nasty"))


def ends_well(shell, words):
    begun = time.monotonic()
    done = shell(*words)
    assert not list(complaint(done, time.monotonic() - begun)), (words, done.stderr)


def test_the_commands_that_are_changed_are_valid(shell):
    (shell.folder / "job.yml").write_text(
        "method: anatomy\nsource: patients.parquet\nroles: {quasi: [age, sex], sensitive: disease, id: ssn}\n"
        "parameters: {l: 3}\noutput: {out: out, overwrite: true}\n"
    )
    for verb in ("estimate", "complete", "adopt", "ledger", "run"):
        shutil.rmtree(shell.folder / "out", ignore_errors=True)
        done = shell(*verb.split(), *VALID[verb])
        assert done.returncode == 0, (verb, done.stderr)


OFTEN = [verb for verb in VALID if verb not in ("publish splu", "publish robust", "publish uncertain", "compare")]


@pytest.mark.parametrize("verb", OFTEN)
def test_nasty_commands(shell, verb):
    @given(commands(verb))
    @examples(1, *HealthCheck)
    def end_well(words):
        ends_well(shell, words)

    end_well()


@given(text=jobs())
@examples(2, *HealthCheck)
def test_nasty_jobs(shell, text):
    (shell.folder / "job.yml").write_text(text, encoding="utf-8", errors="surrogatepass")
    ends_well(shell, ["run", "job.yml"])
