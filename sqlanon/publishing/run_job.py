"""Run the release that a job file describes: thresholds are checked before it appears, and a rerun is safe."""

import json
import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_engine
from sqlanon.engines.runner import fresh_prefix, run_plan
from sqlanon.errors import SqlanonError
from sqlanon.key import Key
from sqlanon.models import shapes
from sqlanon.plans.plan import Report
from sqlanon.publishing.job_file import Job
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import prepared
from sqlanon.releases.release import Release
from sqlanon.wording import heard

NO_IDENTIFIER = "the promise is per row: name an id in roles so that several rows of a person are seen"


def open_engine_of(job: Job, check: bool = False, **limits: Any) -> Engine:
    """Open what runs a job's SQL; check: nothing will be written. limits: resources of the session, as options."""
    with secrets_hidden(job):
        writes = job.request.place.schema is not None and not check
        return open_engine(**job.session, write=writes, **limits)


def run_job(job: Job, engine: Engine) -> Release:
    """Publish what the job describes; return the release, whose notes say what to know.

    Raises UsageError for what is not right on any data, DataError where this data does not allow it
    or a threshold is missed: nothing is visible then, and what stood at the target stands.
    """
    with secrets_hidden(job):
        release = publish(job.request, engine, expect=True)
    release.notes = [_hidden(note, job.secrets) for note in release.notes]
    if not job.request.identifier:
        release.notes.append(NO_IDENTIFIER)
    return release


def check_job(job: Job, engine: Engine) -> list[str]:
    """Look at the source's columns and rows as far as anything in them could refuse the job; publish nothing.

    Returns what the job's publisher should know. Raises what `run_job` would raise, but for thresholds and the target.
    """
    request = job.request
    with secrets_hidden(job), ExitStack() as stack:
        plan, _, ledger = stack.enter_context(prepared(request, engine, fresh_prefix()))
        # what may refuse the data, or has something to say of it
        telling = [number for number, step in enumerate(plan.steps) if isinstance(step, Report)]
        looked_at = replace(plan, steps=plan.steps[: max(telling, default=-1) + 1])
        stack.enter_context(engine.snapshot())
        if ledger is not None:
            ledger.take_rows()
        # persons are known again by the ledger's own key
        key = request.key if request.ledger is not None and request.key is not None else Key.fresh()
        reports = stack.enter_context(run_plan(looked_at, engine, key))
        return [_hidden(note, job.secrets) for note in looked_at.notes(reports)]


@contextmanager
def secrets_hidden(job: Job) -> Iterator[None]:
    """Show the name of an environment variable wherever a message would show its value, and the line it is about."""
    try:
        yield
    except SqlanonError as error:
        lines = [job.lines[name] for name in (text.lower() for text in error.about) if name in job.lines]
        place = f"{job.path}, line {lines[0]}: " if lines else ""
        raise type(error)(place + _hidden(str(error), job.secrets)) from None


def _hidden(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with variables' names in the place of their values."""
    for value in sorted((value for value in variables if len(value) > 2), key=len, reverse=True):
        text = text.replace(value, variables[value])
    return text


_EVERY_LINE = {
    "time": shapes.text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"),
    "job": str,
    "run": shapes.text("[0-9a-f]{16}"),
}
_STEP = {"event": shapes.text("[a-z]+"), "name": str, "seconds": shapes.number()}
_WORDS = {"event": shapes.word("note", "warning", "error"), "message": str}


def log_schema() -> dict[str, Any]:
    """Return the JSON schema of a line of the log: of a step that has ended, or of words to the publisher."""
    lines = shapes.either(*(shapes.record({**_EVERY_LINE, **members}) for members in (_STEP, _WORDS)))
    return shapes.described("a line of sqlanon run --log json", lines)


class JobLog:
    """Lines of JSON about one run of a job: time (UTC), job, run (a number of its own), event, and what it says."""

    def __init__(self, stream: IO[str], job: str) -> None:
        """Write to a stream, about the job of this name."""
        self._stream, self._job, self._run = stream, job, secrets.token_hex(8)

    def write(self, event: str, **fields: object) -> None:
        """Write one line."""
        time_now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": time_now, "job": self._job, "run": self._run, "event": event, **fields}
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()

    @contextmanager
    def of_steps(self) -> Iterator[None]:
        """Write a line for every step (each turn of a loop is one): event, name, seconds it took."""
        step, begun = "", 0.0

        def begin(words: str) -> None:
            """Close a step when the next one begins: what is logged is that a step begins."""
            nonlocal step, begun
            now = time.monotonic()
            if step:
                event, _, name = step.partition(" ")
                self.write(event.rstrip(","), name=name, seconds=round(now - begun, 6))
            step, begun = words, now

        try:
            with heard(logging.INFO, begin):
                yield
        finally:
            begin("")
