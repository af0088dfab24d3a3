"""What a publisher may see of a ledger: figures, and never a value or an id."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError
from sqlanon.ledgers.contents import Contents
from sqlanon.ledgers.database_file import attached
from sqlanon.ledgers.ledger_file import is_there, mend
from sqlanon.ledgers.parquet_directory import opened
from sqlanon.ledgers.server_tables import read_tables
from sqlanon.plans.build import render_query

if TYPE_CHECKING:
    import pandas as pd

HISTORY = (
    *("shown", "stayed", "left_source", "returned", "arrived"),
    *("changed", "moved", "waiting", "put_off", "withheld"),
)


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


def read_ledger(named: str | Path, engine: Engine | None = None) -> Ledger:
    """Read a ledger: a file, a directory, or SCHEMA.TABLE of a server; what a dead run left of it is mended first.

    engine: the session that reads it, DuckDB if None. Raises SourceError where there is none, or it is something else.
    """
    engine = engine or open_duckdb()
    if engine.dialect == "postgres":
        found = read_tables(engine, str(named))
        if found is None:
            raise _missing(named)
        return _told(engine, found)
    place = Path(named).absolute()
    mend(place)
    if not is_there(place, place.is_dir()):
        raise _missing(named)
    with (opened if place.is_dir() else attached)(engine, place) as found:
        return _told(engine, found)


def _missing(named: str | Path) -> SourceError:
    return SourceError(f"no ledger {str(named)!r}; a release that is published with it makes one")


def _told(engine: Engine, found: Contents) -> Ledger:
    sql = render_query("ledgers/summary/standings", {}, {"person": found.relations["person"]})
    (standing,) = engine.rows(sql)
    history = tuple(
        {"release": one["number"], "created": one["created"], **{name: one["figures"].get(name, 0) for name in HISTORY}}
        for one in found.releases
    )
    last = {name: history[-1][name] for name in ("waiting", "put_off")}
    standing = {**standing, **last, "moved": sum(one["moved"] for one in history)}
    told = found.description
    return Ledger(told["method"], told["parameters"], tuple(told["quasi"]), standing, history)
