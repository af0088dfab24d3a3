"""The ledger of a release as it was asked for, and where the release goes."""

from dataclasses import dataclass

from sqlanon.plans.following import Changed


@dataclass(frozen=True)
class LedgerRequest:
    """The ledger that a release is published under, and what may differ from the release before."""

    path: str
    changed: Changed = "leave"
    since: str | None = None
    expect_departures: bool = False
    new_quasi: bool = False


@dataclass(frozen=True)
class Destination:
    """Where a release goes: a directory (`out`), a schema (`into`), or neither, in the session."""

    out: str | None = None
    into: str | None = None

    @property
    def named(self) -> str | None:
        """Return its name."""
        return self.into if self.out is None else self.out
