"""The ledger of a release as it was asked for."""

from dataclasses import dataclass

from sqlanon.plans.plan import Changed


@dataclass(frozen=True)
class LedgerRequest:
    """The ledger that a release is published under, and what may differ from the release before."""

    path: str
    changed: Changed = "leave"
    since: str | None = None
    expect_departures: bool = False
    new_quasi: bool = False
