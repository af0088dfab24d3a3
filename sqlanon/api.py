"""The verbs of the command line as functions on an open connection or session."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlanon.breaching import Model, Question, analyse
from sqlanon.disclosure import Breach
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.grouping import GROUPS_PER_BLOCK
from sqlanon.jobfile import read_job
from sqlanon.jobs import run_job, secrets_hidden
from sqlanon.plan import Draws, Nulls
from sqlanon.publish import Asked, as_tuple, publish
from sqlanon.release import Release, open_release
from sqlanon.secret import Key
from sqlanon.sessions import engine_of


def anatomy(
    con: Any,
    source: object,
    *,
    quasi: str | Iterable[str],
    sensitive: str,
    l: int,
    id: str | Iterable[str] = (),
    block: int | None = GROUPS_PER_BLOCK,
    nulls: Nulls = "refuse",
    draws: Draws = "keyed",
    key: str | Key | None = None,
    rows_per_person: str = "one",
    show_values: bool = False,
    out: str | os.PathLike[str] | None = None,
    into: str | None = None,
    overwrite: bool = False,
) -> Release:
    """Publish a relation with Anatomy: QIT and ST of an l-diverse partition, verified before it appears.

    con: an open DuckDB connection, a Spark session or a psycopg connection; it stays as it is.
    source: a table, view, path or glob; for DuckDB a pandas or Arrow object (or its name in the caller's
    scope), for Spark a DataFrame, for PostgreSQL tables and views only. quasi, sensitive, id: column names.
    l: at least l different sensitive values in every group, none more than 1/l of it.
    block: groups per block of mixed values, None for one block.
    nulls: refuse, value or drop. draws: keyed or random. key: 64 hex digits or a Key; fresh if None.
    out: a directory (DuckDB, Spark), into: a schema of con's database (DuckDB, PostgreSQL); with neither the
    release lives in the session (DuckDB, PostgreSQL).
    Returns the Release. Raises UsageError for what no data could meet, DataError for what this data cannot.
    """
    asked = Asked(
        method="anatomy",
        source=os.fspath(source) if isinstance(source, os.PathLike) else source,
        quasi=as_tuple(quasi),
        sensitive=as_tuple(sensitive),
        identifier=as_tuple(id),
        nulls=nulls,
        draws=draws,
        key=Key.of(key) if isinstance(key, str) else key,
        many_rows_per_person=rows_per_person == "many",
        show_values=show_values,
    )
    return publish(asked, engine_of(con), None if out is None else Path(out), into, overwrite, l=l, block=block)


def breach(con: Any, *, base: object, views: str | Iterable[str], secret: str, model: Model = "unrestricted") -> Breach:
    """Tell how likely each secret association is to whoever has the published views and knows their definitions.

    con: an open connection. base: a table, view, path or glob, or a pandas or Arrow object.
    views: `SELECT columns FROM base` each; secret: `SELECT id, property FROM base [WHERE condition]`; the base is
    called by its table's name, or `base`. model: unrestricted, or restricted (an id is known to have one property).
    Returns the Breach, whose associations are a relation that stays in the database as long as the session.
    Raises UsageError for what no data could meet.
    """
    question = Question(os.fspath(base) if isinstance(base, os.PathLike) else base, as_tuple(views), secret, model)
    return analyse(question, engine_of(con))


def run(job: str | os.PathLike[str]) -> Release:
    """Publish what a job file describes, checked against its thresholds before anything is visible.

    Returns the Release; its `notes` say what to know. Raises UsageError, with the line, for what is not a job,
    DataError where this data does not allow it or a threshold is missed.
    """
    described = read_job(Path(job))
    with secrets_hidden(described):
        engine = DuckDBEngine(connect(described.database, write=described.into is not None))
    return run_job(described, engine)


def open(path: str | Path, database: str | None = None, con: Any = None) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) a schema in it; `con`: on this connection."""
    return open_release(path, database, None if con is None else engine_of(con))
