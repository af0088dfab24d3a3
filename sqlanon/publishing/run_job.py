"""Run a release that a file describes: thresholds before anything is visible, a rerun that is safe."""

import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.key import Key
from sqlanon.plans.manifest import Manifest
from sqlanon.publishing.job_file import Job
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from sqlanon.publishing.thresholds import require
from sqlanon.releases.release import Release, open_release

log = logging.getLogger("sqlanon")


def run_job(job: Job, engine: Engine) -> Release:
    """Publish what the job describes; return the release, whose notes say what to know.

    Raises UsageError for what is not right on any data, DataError where this data does not allow it
    or a threshold is missed: nothing is visible then, and what stood at the target stands.
    """
    request = _request(job)
    with secrets_hidden(job):
        before = _standing(job, engine)
        release = publish(
            request, engine, job.out, job.into, job.overwrite, accept=require(job.thresholds), **job.parameters
        )
    release.notes = [_hidden(note, job.secrets) for note in release.notes]
    if before is not None:
        release.notes.append(_succession(before, release.manifest))
    return release


def check_job(job: Job, engine: Engine) -> None:
    """Look at the source's columns, the roles and the parameters, and at nothing else."""
    request = _request(job)
    with secrets_hidden(job):
        prepare(request, engine, fresh_prefix(), **job.parameters)


def _request(job: Job) -> ReleaseRequest:
    return ReleaseRequest(
        job.method,
        job.source,
        job.roles["quasi"],
        job.roles["sensitive"],
        job.roles.get("id", ()),
        nulls=job.options.get("nulls", "refuse"),
        draws=job.options.get("draws", "keyed"),
        key=_key(job.key_env),
        many_rows_per_person=job.options.get("rows_per_person") == "many",
    )


def _key(variable: str | None) -> Key | None:
    if variable is None:
        return None
    text = os.environ.get(variable)
    if not text:
        raise UsageError(f"the environment variable {variable}, which key_env names, is not set; it holds the key")
    return Key.of(text)


def _standing(job: Job, engine: Engine) -> Manifest | None:
    """Return the manifest of the release that the job will replace, None where there is none."""
    if not job.overwrite:
        return None
    try:
        if job.out is not None:
            return open_release(job.out, engine=engine).manifest if job.out.is_dir() else None
        return open_release(str(job.into), job.database, engine).manifest
    except SqlanonError:  # nothing that is a release; publishing says so where that matters
        return None


def _succession(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say what it means that a release stood at the target."""
    if all("sha256" in said for said in now["files"].values()) and before["files"] == now["files"]:
        return "the target held this very release already"
    return (
        f"the target held an earlier release ({before['rows']} rows; now {now['rows']}): this is a second release of"
        " the same people, and releases intersect. Whoever kept the earlier one learns more from both than either"
        " promises"
    )


@contextmanager
def secrets_hidden(job: Job) -> Iterator[None]:
    """Show the name of an environment variable wherever a message would show its value."""
    try:
        yield
    except SqlanonError as error:
        raise type(error)(_hidden(str(error), job.secrets)) from None


def _hidden(text: str, secrets: Mapping[str, str]) -> str:
    for value in sorted((value for value in secrets if len(value) > 2), key=len, reverse=True):
        text = text.replace(value, secrets[value])
    return text


@contextmanager
def logged_as_json(stream: IO[str]) -> Iterator[None]:
    """Write a line of JSON for every step (each turn of a loop is one): event, name, seconds it took."""
    handler = _JsonLines(stream)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        handler.finish()
        log.removeHandler(handler)
        log.setLevel(level)


class _JsonLines(logging.Handler):
    """Close a step when the next one begins: what is logged is that a step begins."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._stream = stream
        self._step: tuple[str, str, float] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Begin a step; its name is what the message is about."""
        self.finish()
        event, _, name = record.getMessage().partition(" ")
        self._step = event, name, time.monotonic()

    def finish(self) -> None:
        """Write the step that is open."""
        if self._step is not None:
            event, name, begun = self._step
            line = {"event": event, "name": name, "seconds": round(time.monotonic() - begun, 6)}
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._stream.flush()
            self._step = None
