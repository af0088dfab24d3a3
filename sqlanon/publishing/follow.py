"""A request with the ledger that it names: the plan that follows what was published, and the target in step with it."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.interruption import hold_back
from sqlanon.ledgers.ledger_run import LedgerRun, open_ledger
from sqlanon.ledgers.place import note_directory, note_schema
from sqlanon.ledgers.request import Destination
from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Plan, Source
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from sqlanon.releases.database_targets import SchemaTarget
from sqlanon.releases.directory_target import DirectoryTarget
from sqlanon.releases.targets import Target


# A release's target in step with its ledger: both appear or neither.
class LedgerTarget:
    """A directory or a schema that appears in step with its ledger, which goes first and comes back where that fails.

    The next run can take back a ledger without its release, but make none for a release.
    """

    def __init__(self, target: DirectoryTarget | SchemaTarget, ledger: LedgerRun, made: Mapping[str, Sql]) -> None:
        """Take the target of the release; made: the relations that the ledger will hold."""
        self.target, self.ledger, self.made = target, ledger, made
        self._schema = note_schema(target.engine, target.schema) if isinstance(target, SchemaTarget) else {}

    def close(self) -> None:
        """Let other runs write there."""
        self.target.close()

    def __enter__(self) -> "LedgerTarget":
        """Begin; the ledger's rows come first, for a database writes to one file at a time."""
        self.ledger.write_rows(self.made)
        self.target.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        """Undo what was not committed."""
        self.target.__exit__(*failure)

    def write(self, output: Statement) -> Sql:
        """Keep one published table."""
        return self.target.write(output)

    def describe_files(self, rows: Mapping[str, int]) -> dict[str, Any]:
        """Return what the manifest says of the tables."""
        return self.target.describe_files(rows)

    def write_companions(self, manifest: Manifest) -> dict[str, Any]:
        """Write the texts beside the tables."""
        return self.target.write_companions(manifest)

    def commit(self, manifest: Manifest) -> None:
        """Let ledger and release appear; if the release does not, `open_ledger` puts the ledger of before back."""
        hold_back()
        staged = note_directory(self.target.staged) if isinstance(self.target, DirectoryTarget) else self._schema
        self.ledger.appear(manifest, staged)
        self.target.commit(manifest)


def destination(out: str | Path | None, into: str | None) -> Destination:
    """Return where a release goes."""
    return Destination(None if out is None else str(out), into)


@contextmanager
def prepared(
    asked: ReleaseRequest, engine: Engine, prefix: str, place: Destination, **parameters: Any
) -> Iterator[tuple[Plan, tuple[Source, Mapping[str, str]], LedgerRun | None]]:
    """Prepare a request, and hold the ledger that it names for the block; None where it names none.

    Raises UsageError where the request does not follow what was published under the ledger.
    """
    with _ledger_of(asked, engine, place) as ledger:
        following = None if ledger is None else ledger.following
        plan, against = prepare(asked, engine, prefix, following=following, **parameters)
        if ledger is not None:
            ledger.check(plan, asked.identifier, against, place)
        yield plan, against, ledger


def _ledger_of(asked: ReleaseRequest, engine: Engine, place: Destination) -> AbstractContextManager[LedgerRun | None]:
    if asked.ledger is None:
        return nullcontext()
    METHODS[asked.method].refuse_ledger()
    request = {name: getattr(asked, name) for name in ("identifier", "draws", "many_rows_per_person")}
    return open_ledger(asked.ledger, engine, asked.key, request, place)


def in_step(target: Target, ledger: LedgerRun, plan: Plan) -> LedgerTarget:
    """Return the target in step with its ledger."""
    assert isinstance(target, DirectoryTarget | SchemaTarget), "a ledger is opened for a release that lasts"
    return LedgerTarget(target, ledger, plan.ledger)
