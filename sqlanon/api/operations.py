"""The verbs of whoever keeps releases coming: job files, ledgers, macros, and tables that something else wrote."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sqlanon.api.verbs import FilePath, replacing, verb
from sqlanon.engines.connect import engine_of
from sqlanon.errors import UsageError
from sqlanon.methods.kinds import Switch
from sqlanon.methods.named_kinds import Place
from sqlanon.methods.parameters import Parameter

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.ledgers.summary import Ledger
    from sqlanon.releases.release import Release


def adopt(
    con: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    into: str | None = None,
    overwrite: bool = False,
    against: object = None,
    **tables: Any,
) -> "Release":
    """Make a verified release of tables that a macro, a dbt hook or a compiled script wrote.

    con: an open connection. tables: qit and st, with l; or data, with sensitive and gamma; each a table, view, path, or
    an object; further the fields of `publishing.adopt.Adoption`. out, into: where the release goes, this session if
    neither is given. against: the microdata, to compare with. Returns the Release. Raises UsageError where the tables
    cannot be a release, VerificationError where they do not hold what is said of them.
    """
    from sqlanon.publishing.adopt import adopt as adopted
    from sqlanon.publishing.adopt import adoption

    target = None if out is None else Path(out)
    return adopted(adoption(**tables), engine_of(con), target, into, overwrite, against)


@verb
def run(
    job: Annotated[FilePath, Parameter(Place(), "YAML file; paths in it are relative to its folder.", metavar="job")],
) -> "Release":
    """Publish what a job file describes, checked against its thresholds before anything is visible.

    job: a YAML file. Returns the Release; its `notes` say what to know. Raises UsageError, with the line, for what is
    not a job, DataError where this data does not allow it or a threshold is missed.
    """
    from sqlanon.publishing.job_file import read_job
    from sqlanon.publishing.run_job import open_engine_of, run_job

    described = read_job(Path(job))
    return run_job(described, open_engine_of(described))


@verb
def ledger(
    path: Annotated[FilePath, Parameter(Place(), "What releases were made with: a path or a table.", metavar="LEDGER")],
    con: Any = None,
) -> "Ledger":
    """Tell what a ledger holds, in figures: its releases, persons ever published, groups, who waits.

    path: what releases were published with (`ledger=`): a file, or SCHEMA.TABLE of a server. con: the connection that
    reads it; DuckDB if None. Returns the Ledger; it has no values and no ids, and its `check` verifies its seals.
    Raises SourceError where there is none.
    """
    from sqlanon.ledgers.summary import read_ledger

    return read_ledger(os.fspath(path), None if con is None else engine_of(con))


@verb
def macros(
    con: Any,
    *,
    drop: Annotated[bool, Parameter(Switch(), "Remove the macros instead.")] = False,
    overwrite: Annotated[bool, replacing("macros of the same names that are not ours")] = False,
) -> "pd.DataFrame":
    """Store table macros that publish in SQL alone, for whoever writes no Python; `sqlanon guide macros` tells of them.

    con: an open DuckDB connection; they go into the database that it uses. Returns a line per macro: macro, yields,
    example. Raises TargetError where macros that are not ours stand, UsageError for another engine.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.publishing import store_macros

    engine = engine_of(con)
    if not isinstance(engine, DuckDBEngine):
        raise UsageError("macros are stored in a DuckDB database; for other engines there is compile")
    return store_macros.describe(store_macros.drop(engine) if drop else store_macros.store(engine, overwrite))
