"""A request with the ledger that it names: the plan that follows what was published, and the target in step with it."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.ledgers.ledger_run import LedgerRun, open_ledger
from sqlanon.ledgers.ledger_target import LedgerTarget
from sqlanon.ledgers.request import Destination
from sqlanon.methods import METHODS
from sqlanon.plans.plan import Plan, Source
from sqlanon.publishing.release_request import ReleaseRequest, prepare
from sqlanon.releases.database_targets import SchemaTarget
from sqlanon.releases.directory_target import DirectoryTarget
from sqlanon.releases.targets import Target


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
            ledger.check(plan, asked.identifier, against[1], place)
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
