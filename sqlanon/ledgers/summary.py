"""What a publisher may see of a ledger: figures, and never a value or an id."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError
from sqlanon.key import Key
from sqlanon.ledgers import seal
from sqlanon.ledgers.contents import Contents
from sqlanon.ledgers.ledger_run import refuse_server_tables
from sqlanon.ledgers.newest import Evidence, fingerprint, reasons_against, releases_in_schemas, releases_within
from sqlanon.ledgers.place import is_there, mend, note_path, read_note
from sqlanon.ledgers.refusals import refuse_other_key
from sqlanon.ledgers.store import attached
from sqlanon.plain_values import words
from sqlanon.plans.build import render_query
from sqlanon.verification.checks import Check, Report

if TYPE_CHECKING:
    import pandas as pd

HISTORY = (
    *("shown", "stayed", "left_source", "returned", "arrived"),
    *("changed", "waiting", "put_off", "withheld"),
)


@dataclass(frozen=True, repr=False)
class Ledger:
    """What a ledger says of its releases and persons.

    method, parameters: those of all its releases. quasi: the columns that its last release showed. figures: persons
    ever published and what has become of them. history: a line per release. named: the ledger. engine: a session on
    its releases' database, if there is one.
    """

    method: str
    parameters: Mapping[str, Any]
    quasi: tuple[str, ...]
    figures: Mapping[str, int]
    history: tuple[Mapping[str, Any], ...]
    named: str
    engine: Engine | None = field(repr=False, compare=False)

    def check(self, key: str | Key, releases: str | Path | None = None) -> Report:
        """Verify its seal under its key, and that it lacks no release that is known beside it.

        releases: the folder that its releases lie in, or one of them; those in schemas of the database that it was read
        with are compared as well. Returns the Report; `holds` is None where nothing fails and not all is proved. Raises
        UsageError for another key.
        """
        return check_ledger(self.named, key if isinstance(key, Key) else Key.of(key), self.engine, releases)

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

    def __repr__(self) -> str:
        """Say in one line what this is."""
        return f"<Ledger: {len(self.history)} releases of {self.method}, {words(dict(self.figures))}>"


def read_ledger(named: str | Path, engine: Engine | None = None) -> Ledger:
    """Read a ledger; what a dead run left of it is mended first.

    engine: a session on the database that its releases go to. Raises SourceError where there is none, or it is
    something else.
    """
    with _opened(str(named), engine) as (keeper, contents):
        sql = render_query("followed/counted/standings", {}, {"person": contents.relations["person"]})
        (totals,) = keeper.rows(sql)
        history = tuple(
            {
                "release": release["number"],
                "created": release["created"],
                **{name: release["figures"].get(name, 0) for name in HISTORY},
            }
            for release in contents.releases
        )
        last = {name: history[-1][name] for name in ("waiting", "put_off")}
        description = contents.description
        return Ledger(
            method=description["method"], parameters=description["parameters"], quasi=tuple(description["quasi"]),
            figures={**totals, **last}, history=history, named=str(named), engine=engine,
        )  # fmt: skip


def check_ledger(
    named: str | Path, key: Key, engine: Engine | None = None, releases: str | Path | None = None
) -> Report:
    """Verify a ledger's seal, and that no release is known beside it that it lacks.

    key: its own; UsageError for another. engine: as for `read_ledger`; releases in schemas of its database are
    compared. releases: the folder that its releases lie in, or one of them. Raises SourceError as `read_ledger` does.
    """
    path = Path(named).absolute()
    # what is known beside the ledger is looked at first: a run that ends meanwhile makes the ledger newer, not older
    if releases is not None and not Path(releases).is_dir():
        raise SourceError(f"no directory {str(Path(releases))!r} that releases lie in")
    beside = {} if releases is None else releases_within(Path(releases))
    beside |= releases_in_schemas(engine) if engine is not None and "schema" not in engine.lacks else {}
    evidence = Evidence(str(note_path(path)), read_note(path), beside)
    with _opened(str(named), engine) as (keeper, contents):
        refuse_other_key(str(named), contents, key)
        fits = seal.fits(contents, keeper, key)
        required = "what it says of itself and its releases, and its persons and values, are as sealed"
        sealed = Check("seal", required, "as sealed" if fits else "it does not fit", fits)
        # of a ledger that was changed nothing is compared
        return Report((sealed, *(_compare_beside(str(named), contents, evidence) if fits else ())))


def _compare_beside(ledger_name: str, contents: Contents, evidence: Evidence) -> tuple[Check, Check]:
    """Compare a ledger whose seals hold with what is known beside it."""
    reasons = list(reasons_against(ledger_name, contents, evidence))
    entries = {release["fingerprint"]: release for release in contents.releases}
    pairs = {name: (entries.get(fingerprint(manifest)), manifest) for name, manifest in evidence.releases.items()}
    compared = {name: entry["manifest"] == seal.digest(manifest) for name, (entry, manifest) in pairs.items() if entry}
    changed = [name for name, equal in compared.items() if not equal]
    evidence_text = (
        f"release {contents.last['number']}; noted beside it: {evidence.note is not None}; releases: {len(compared)}"
    )
    newest = bool(evidence.note is not None or compared) and not reasons
    required = "no release is known beside it that it lacks"
    return (
        Check(
            "newest", required, "; ".join(reasons) or evidence_text, False if reasons else newest or None, promised=True
        ),
        Check(
            "manifests",
            "releases that lie there have the manifest that they were published with",
            {"compared": len(compared), "changed": changed},
            not changed if compared else None,
        ),
    )


@contextmanager
def _opened(ledger_name: str, engine: Engine | None) -> Iterator[tuple[Engine, Contents]]:
    """Hold a ledger open for the block, in a session of its own."""
    path = Path(ledger_name).absolute()
    mend(path, engine)
    if not is_there(path):
        if engine is not None:
            refuse_server_tables(ledger_name, engine)
        raise SourceError(f"no ledger {ledger_name!r}; a release that is published with it makes one")
    keeper = open_duckdb()
    with closing(keeper.connection), attached(keeper, path) as contents:
        yield keeper, contents
