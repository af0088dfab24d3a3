"""Verbs for releases that are made again and again: job files, ledgers, macros, and tables that others wrote."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sqlanon.engines.connect import engine_of
from sqlanon.errors import UsageError
from sqlanon.models.fields import Option, verb
from sqlanon.models.publication import Into, Out, Overwrite, replacing
from sqlanon.models.values import COLUMNS, PATH_TEXT, PLACE, FilePath, Names
from sqlanon.plans.plan import Unit
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.ledgers.summary import Ledger
    from sqlanon.releases.release import Release


@verb
def adopt(
    con: Any,
    *,
    qit: Annotated[object, PLACE, Field(description="Table of groups (QIT): quasi columns and the group.")] = None,
    st: Annotated[object, PLACE, Field(description="Table of each group's sensitive values and counts (ST).")] = None,
    data: Annotated[
        object, PLACE, Field(description="Instead: table of rows with randomized sensitive values.")
    ] = None,
    quasi: Annotated[
        Names, COLUMNS, Field(description="Columns to publish; all that have no other role if not given.")
    ] = (),
    sensitive: Annotated[
        Names,
        COLUMNS,
        Field(description=f"Of {option('data')}: the randomized columns. Of ST: the column beside the others."),
    ] = (),
    group: Annotated[str, Field(description="Column of the group, in QIT and ST.")] = "group_id",
    count: Annotated[str, Field(description="Column of the counts in ST.")] = "count",
    l: Annotated[
        int | None, Field(description="What QIT and ST promise: different values in every group."), Option(flag="-l")
    ] = None,
    gamma: Annotated[
        int | None, Field(description=f"Of {option('data')}: a row keeps its value in one case of gamma.")
    ] = None,
    residue: Annotated[
        Literal["drop", "keep"],
        Field(description=f"Of {option('data')}: what became of rows that fill no decoy group."),
    ] = "drop",
    dropped_rows: Annotated[int, Field(description="Rows of the source that are in none of the tables.")] = 0,
    against: Annotated[object, PLACE, Field(description="The source: compare multisets with it.")] = None,
    id: Annotated[
        Names,
        COLUMNS,
        Field(description=f"Columns of {option('against')} that tell persons apart: one row each, or refused."),
    ] = (),
    unit: Annotated[Unit, Field(description="row: persons have several rows; what is promised is per row.")] = "person",
    out: Out = None,
    into: Into = None,
    overwrite: Overwrite = False,
) -> "Release":
    """Make a verified release of tables that a macro, a dbt hook or a compiled script wrote.

    con: an open connection. The tables are qit and st, with l; or data, with sensitive and gamma; each a table, view,
    path, or an object. The release goes to this session where neither out nor into is given. Returns the Release.
    Raises UsageError where the tables cannot be a release, VerificationError where they do not hold what is said of
    them.
    """
    asked = locals()  # all that was told, by its names
    from sqlanon.publishing.adopt import adopt as make_release

    return make_release(asked, engine_of(con))


@verb
def run(
    job: Annotated[
        FilePath,
        PATH_TEXT,
        Field(description="YAML file; paths in it are relative to its folder."),
        Option(metavar="job"),
    ],
) -> "Release":
    """Publish what a job file describes, checked against its thresholds before anything is visible.

    job: a YAML file. Returns the Release; its `notes` say what to know. Raises UsageError, with the line, for what is
    not a job, DataError where this data does not allow it or a threshold is missed.
    """
    from sqlanon.publishing.job_file import open_engine_of, read_job, run_job

    described = read_job(Path(job))
    return run_job(described, open_engine_of(described))


@verb
def ledger(
    path: Annotated[FilePath, PATH_TEXT, Field(description="What releases were made with."), Option(metavar="LEDGER")],
    con: Any = None,
) -> "Ledger":
    """Tell what a ledger holds, in figures: its releases, persons ever published, groups, who waits.

    path: what releases were published with (`ledger=`). con: a connection to the database of its releases, where these
    are schemas. Returns the Ledger; it has no values and no ids, and its `check` verifies its seal. Raises SourceError
    where there is none.
    """
    from sqlanon.ledgers.summary import read_ledger

    return read_ledger(str(path), None if con is None else engine_of(con))


@verb
def macros(
    con: Any,
    *,
    overwrite: Annotated[bool, replacing("macros of the same names that are not ours")] = False,
) -> "pd.DataFrame":
    """Store table macros that publish in SQL alone, for whoever writes no Python; `sqlanon guide macros` tells of them.

    con: an open DuckDB connection; they go into the database that it uses. Returns a line per macro: macro, yields,
    example. Raises TargetError where macros that are not ours stand, UsageError for another engine.
    """
    from sqlanon.engines.duckdb.engine import DuckDBEngine
    from sqlanon.publishing import store_macros

    engine = engine_of(con)
    if not isinstance(engine, DuckDBEngine):
        raise UsageError("macros are stored in a DuckDB database; for other engines there is compile")
    return store_macros.describe(store_macros.store(engine, overwrite))
