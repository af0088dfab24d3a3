"""A release under a ledger: read it, refuse what does not follow, and write it in step with the release."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.interruption import hold_back
from sqlanon.key import Key
from sqlanon.ledgers import refusals
from sqlanon.ledgers.contents import Contents, attached, write
from sqlanon.ledgers.ledger_file import LedgerFile
from sqlanon.ledgers.request import LedgerRequest
from sqlanon.plans.following import Following
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Plan
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.releases.directory_target import DirectoryTarget
from sqlanon.releases.targets import MANIFEST
from sqlanon.wording import option

# what the releases' history says of each, by the report that counts it
FIGURES = {
    "turnover": ("left_source", "stayed", "returned", "arrived", "changed"),
    "outcome": ("row_count", "shown", "waiting", "withheld"),
}


@dataclass
class LedgerRun:
    """A ledger that one run holds; before: what it holds so far, None before its first release.

    description: what it will say of its releases. figures: what the run has counted, for its history. notes: what to
    tell the publisher.
    """

    asked: LedgerRequest
    file: LedgerFile
    engine: Engine
    key: Key
    before: Contents | None = None
    description: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def following(self) -> Following:
        """Return what the plan has to know."""
        asked, before = self.asked, self.before
        if before is None:
            return Following(1, asked.changed)
        known = {f"known_{name}": before.relations[name] for name in ("person", "value")}
        return Following(
            before.last["number"] + 1, asked.changed, known, asked.expect_departures, tuple(before.description["quasi"])
        )

    def check(self, plan: Plan, identifier: Sequence[str], types: Mapping[str, str], standing: Path | None) -> None:
        """Refuse a plan that does not follow what was published before.

        identifier: as it was asked for. types: of the source's columns. standing: a directory that is to be replaced.
        """
        names = resolve_names(list(types), split_columns(identifier, list(types)))
        path, now = self.file.path, refusals.describe(plan.method, plan.publication, names, types, self.key)
        if self.before is not None:
            refusals.refuse_other_request(path, self.before, now)
            new = refusals.refuse_new_quasi(self.before, now, self.asked.new_quasi)
            # what one release has shown stays known, though the next one leaves it out
            ever = self.before.description["ever_quasi"]
            now["ever_quasi"] = [*ever, *new]
            if new:
                self.notes.append(
                    f"no release before had {', '.join(new)}: who keeps them learns it of the same persons now"
                )
        for release, asked in ((self.asked.since, True), (standing, False)):
            if release is not None:
                refusals.refuse_fork(path, self.before, Path(release), asked)
        self.description = now

    def count(self, reports: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the figures of a plan's reports for the ledger's history."""
        self.figures = {name: int(reports[report][name]) for report, names in FIGURES.items() for name in names}

    def write(self, manifest: Manifest, made: Mapping[str, Sql]) -> None:
        """Write the ledger as it will be after this release, in the run's own folder."""
        release = {
            "number": self.following.number,
            "created": manifest["created"],
            "fingerprint": refusals.fingerprint(manifest),
            "figures": self.figures,
        }
        write(self.engine, self.file.new, made, self.before, self.description, release)


@contextmanager
def open_ledger(
    asked: LedgerRequest, engine: Engine, key: Key | None, request: Mapping[str, Any], out: Path | None
) -> Iterator[LedgerRun]:
    """Hold a ledger for the block; what a dead run left of it is mended first.

    request: what else was asked for: identifier, draws, many_rows_per_person. Raises UsageError and TargetError.
    """
    refusals.refuse_engine(engine)
    key = _required_key(key, request)
    path = _required_place(asked, out)
    file = LedgerFile(path)
    try:
        if not file.present:
            yield LedgerRun(asked, file, engine, key)
            return
        with attached(engine, file.path) as before:
            # under another key everybody would be taken for new
            refusals.refuse_other_key(file.path, before, key)
            yield LedgerRun(asked, file, engine, key, before)
    finally:
        file.close()


def _required_key(key: Key | None, request: Mapping[str, Any]) -> Key:
    if key is None or not key.given:
        raise UsageError(
            f"a ledger needs a key that stays: make one with openssl rand -hex 32, and hand it over as"
            f" {option('key')}, {option('key_file', 'FILE')} or SQLANON_KEY, or in a job with key_env"
        )
    if not request["identifier"] or request["many_rows_per_person"]:
        raise UsageError(
            f"a ledger needs {option('id', 'COLUMN')}, one row each: without it nobody is known again the next time",
            about=["id"],
        )
    if request["draws"] != "keyed":
        raise UsageError(f"a ledger needs keyed draws; leave {option('draws', 'random')} away")
    return key


def _required_place(asked: LedgerRequest, out: Path | None) -> Path:
    if out is None:
        raise UsageError(
            f"a ledger is written in step with a directory of files: say {option('out', 'DIR')} for the release"
        )
    path, place = Path(asked.path).absolute(), out.absolute()
    if path == place or place in path.parents or (path.parent / MANIFEST).is_file():
        raise UsageError(
            f"{asked.path!r} lies in a release, which is handed on; a ledger is as secret as the source: keep it"
            " elsewhere"
        )
    if asked.changed == "move":
        raise UsageError(MOVE)
    return path


MOVE = (
    f"{option('changed', 'move')} is not offered: that somebody moved tells that the old and the new group do not agree"
    f" in this person's value, and over many releases no bound on what groups tell together is proved; say"
    f" {option('changed', 'leave')} or {option('changed', 'keep')}"
)


class LedgerTarget:
    """A directory that appears in step with its ledger: the ledger goes first, and comes back where that fails."""

    def __init__(self, target: DirectoryTarget, ledger: LedgerRun, made: Mapping[str, Sql]) -> None:
        """Take the target of the files; made: the relations that the ledger will hold."""
        self.target, self.ledger, self.made = target, ledger, made

    def close(self) -> None:
        """Let other runs write to the directory."""
        self.target.close()

    def __enter__(self) -> "LedgerTarget":
        """Begin."""
        self.target.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""
        self.target.__exit__(*failure)

    def write(self, output: Statement) -> Sql:
        """Write one table's files."""
        return self.target.write(output)

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of the files."""
        return self.target.describe_files(rows)

    def write_companions(self, manifest: Manifest) -> dict[str, Any]:
        """Write the texts beside the tables."""
        return self.target.write_companions(manifest)

    def commit(self, manifest: Manifest) -> None:
        """Let ledger and release appear."""
        self.ledger.write(manifest, self.made)
        hold_back()
        # the ledger first: the next run can take back a ledger without its release, but make none for a release
        self.ledger.file.appear(self.target.staged)
        try:
            self.target.commit(manifest)
        except BaseException:
            self.ledger.file.undo()
            raise
