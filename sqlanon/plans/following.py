"""A release that follows others of the same people: what the plan takes from the publisher's ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlanon.plans.templates import Sql

Changed = Literal["leave", "keep"]
PERSON = {  # what a ledger keeps of a person, with the types
    **{"person": "UUID", "group_id": "BIGINT", "code": "BIGINT", "entered": "BIGINT", "standing": "VARCHAR"},
    **{"mark": "BIGINT", "class_mark": "BIGINT", "published": "BIGINT"},
}


@dataclass(frozen=True)
class Following:
    """Which release of a ledger is to come, and where the ledger of the one before stands.

    number: of the release, from 1. changed: what becomes of persons whose sensitive value changed. relations: the
    tables of the ledger by the names that steps read them under, none for the first release. losses: whether nearly
    everybody may have left. quasi: the columns of the release before. put_off: whether the release before let rows
    wait though enough had come. chain: what all releases of the ledger are called, and no others.
    """

    number: int
    changed: Changed = "leave"
    relations: Mapping[str, Sql] = field(default_factory=dict)
    losses: bool = False
    quasi: tuple[str, ...] = ()
    put_off: bool = False
    chain: str = ""

    @property
    def is_first(self) -> bool:
        """Return whether there is no release before."""
        return self.number == 1
