"""What a publisher may see of a ledger: figures, and never a value or an id."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError
from sqlanon.ledgers.contents import attached
from sqlanon.ledgers.ledger_file import is_there, mend
from sqlanon.plans.build import render_query

if TYPE_CHECKING:
    import pandas as pd

HISTORY = ("shown", "stayed", "left_source", "returned", "arrived", "changed", "waiting", "withheld")


@dataclass(frozen=True)
class Ledger:
    """What a ledger says of its releases and persons.

    method, parameters: those of all its releases. quasi: the columns that its last release showed. figures: persons
    ever published and what has become of them. history: a line per release.
    """

    method: str
    parameters: Mapping[str, Any]
    quasi: tuple[str, ...]
    figures: Mapping[str, int]
    history: tuple[Mapping[str, Any], ...]

    def as_plain(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "quasi": list(self.quasi),
            "releases": len(self.history),
            **self.figures,
            "history": [dict(line) for line in self.history],
        }

    def df(self) -> "pd.DataFrame":
        """Return the history as a frame: a line per release."""
        import pandas as pd

        return pd.DataFrame([dict(line) for line in self.history], columns=["release", "created", *HISTORY])


def read_ledger(path: str | Path, engine: Engine | None = None) -> Ledger:
    """Read a ledger; what a run that died left of it is mended first.

    Raises SourceError where there is none, or the file is something else.
    """
    place = Path(path).absolute()
    mend(place)
    if not is_there(place):
        raise SourceError(f"no ledger {str(path)!r}; a release that is published with it makes one")
    engine = engine or open_duckdb()
    with attached(engine, place) as found:
        sql = render_query("ledgers/summary/standings", {}, {"person": found.relations["person"]})
        (standing,) = engine.rows(sql)
        history = tuple(
            {"release": one["number"], "created": one["created"], **{name: one["figures"][name] for name in HISTORY}}
            for one in found.releases
        )
        standing = {**standing, "waiting": history[-1]["waiting"], "moved": 0}
        told = found.description
        return Ledger(told["method"], told["parameters"], tuple(told["quasi"]), standing, history)
