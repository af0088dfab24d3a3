"""A request with the ledger that it names: the plan that follows what was published, and the target in step with it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sqlanon.engines.base import Engine
from sqlanon.interruption import hold_back
from sqlanon.ledgers.ledger_run import LedgerRun, open_ledger
from sqlanon.ledgers.place import note_directory, note_schema
from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Plan, Source
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from sqlanon.releases.targets import DirectoryTarget, SchemaTarget, Target


@contextmanager
def prepared(
    asked: ReleaseRequest, engine: Engine, prefix: str
) -> Iterator[tuple[Plan, tuple[Source, Mapping[str, str]], LedgerRun | None]]:
    """Prepare a request, and hold the ledger that it names for the block; None where it names none.

    Raises UsageError where the request does not follow what was published under the ledger.
    """
    with _ledger_of(asked, engine) as ledger:
        following = None if ledger is None else ledger.following
        with prepare(asked, engine, prefix, following=following) as (plan, against):
            if ledger is not None:
                ledger.check(plan, asked.identifier, against, asked.place)
            yield plan, against, ledger


def _ledger_of(asked: ReleaseRequest, engine: Engine) -> AbstractContextManager[LedgerRun | None]:
    if asked.ledger is None:
        return nullcontext()
    METHODS[asked.method].refuse_ledger()
    request = {name: getattr(asked, name) for name in ("identifier", "draws", "unit")}
    return open_ledger(asked.ledger, engine, asked.key, request, asked.place)


@contextmanager
def in_step(target: Target, ledger: LedgerRun | None, plan: Plan) -> Iterator[Callable[[Manifest], None] | None]:
    """Write what a ledger will hold, and enter the release's target; give what lets the ledger appear, before it.

    Both appear or neither: the next run can take back a ledger without its release, but make none for a release.
    """
    if ledger is None:
        with target:
            yield None
        return
    assert isinstance(target, DirectoryTarget | SchemaTarget), "a ledger is opened for a release that lasts"
    schema = note_schema(target.engine, target.schema) if isinstance(target, SchemaTarget) else {}
    # its rows come first, for a database writes to one file at a time
    ledger.write_rows(plan.ledger)
    with target:

        def appear(manifest: Manifest) -> None:
            # if the release does not appear, `open_ledger` puts the ledger of before back
            hold_back()
            ledger.appear(manifest, note_directory(target.staged) if isinstance(target, DirectoryTarget) else schema)

        yield appear
