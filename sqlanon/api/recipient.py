"""The verbs of whoever holds a release, as functions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from sqlanon.engines.connect import engine_of
from sqlanon.engines.time_limit import LONGEST
from sqlanon.estimators import ESTIMATOR_NAMES
from sqlanon.models.fields import Option, verb
from sqlanon.models.publication import (
    AgainstQuery,
    Background,
    Bound,
    Completable,
    Endless,
    Labels,
    ScoredBy,
    Seed,
    Tables,
    Vary,
    replacing,
)
from sqlanon.models.values import PATH, PLACE, FilePath, choice
from sqlanon.read_places import refuse_alone
from sqlanon.releases.opening import RELEASE

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.adversary.completed import Completed
    from sqlanon.releases.release import Release
    from sqlanon.verification.checks import Report


NamedRelease = Annotated["Release | str | Path", RELEASE]


@verb
def open(path: FilePath, database: FilePath | None = None, con: Any = None) -> "Release":
    """Open a release; what it says and whether it is whole, `verify` of it tells.

    path: a directory, or with `database` (a DuckDB file) the name of a schema in it. con: an open connection or session
    that reads it, in place of a new one. Returns the Release. Raises ReleaseError where there is none that this version
    reads, UsageError for what is no path.
    """
    from sqlanon.releases.release import open_release

    return open_release(str(path), None if database is None else str(database), None if con is None else engine_of(con))


def opened(release: "Release | str | Path") -> "Release":
    """Return a release that may be named by its directory."""
    from sqlanon.releases.release import Release

    return release if isinstance(release, Release) else open(release)


@verb
def complete(
    release: NamedRelease,
    *,
    out: Annotated[
        FilePath | None, PATH, Field(description="Directory for completed_01.parquet …; it must not exist.")
    ] = None,
    tables: Tables = 10,
    seed: Seed = None,
    sensitive: Completable = None,
    overwrite: Annotated[bool, replacing("older completed tables")] = False,
) -> "Completed":
    """Complete a release: tables of plausible microdata, drawn from a model that is learned from the release alone.

    Returns the Completed, whose `files` are those in `out`; analyse each table, and `pool` what they say. Raises
    UsageError for a release, a number or a column that cannot be used, ReleaseError where its files have changed, and
    TargetError.
    """
    from sqlanon.adversary.completed import check_directory

    refuse_alone(overwrite, out, "out")
    release = opened(release)
    if out is not None:
        check_directory(out, overwrite, release.directory)
    completion = release.complete(tables, seed, sensitive)
    if out is not None:
        completion.write(out, overwrite)
    return completion


@verb
def pool(
    estimates: Any, std_errors: Any, complete_df: Annotated[float | None, Field(allow_inf_nan=True)] = None
) -> "pd.DataFrame":
    """Pool what several completed tables say (Rubin's rules).

    estimates, std_errors: a row per table and a column per parameter, or one number per table. complete_df: the degrees
    of freedom that complete data would have (Barnard and Rubin). Returns a row per parameter: estimate, std_error, low
    and high (95 %), df, missing_information. Raises UsageError for fewer than two tables and for other shapes.
    """
    from sqlanon.adversary.completed import pool_estimates

    return pool_estimates(estimates, std_errors, complete_df)


@verb
def verify(
    release: FilePath,
    *,
    against: Annotated[object, PLACE, Field(description="The source: compare multisets with it.")] = None,
    query: AgainstQuery = None,
    id: ScoredBy = (),
    vary: Vary = None,
    coarsen: Labels = None,
    since: Annotated[
        "str | Path | Release | None",
        RELEASE,
        Field(description="An earlier release of the same ledger: groups in both are compared."),
    ] = None,
    background: Background = (),
    r: Bound = None,
    voters: Annotated[object, PLACE, Field(description="A list of people with the quasi columns.")] = None,
    database: FilePath | None = None,
    con: Any = None,
) -> "Report":
    """Prove from the published files what can be proved: `open(release, database, con)` and its `verify`.

    Returns the Report. Raises ReleaseError where there is no release, and as `Release.verify` does.
    """
    return open(release, database, con).verify(
        against, voters, background, r=r, since=since, query=query, coarsen=coarsen, id=id, vary=vary
    )


@verb
def estimate(
    release: FilePath,
    query: Annotated[
        str,
        Field(description="SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) | MEDIAN(e) | STDDEV(e) | … FROM release …"),
        Option(metavar="query"),
    ],
    estimator: Annotated[
        str | None,
        choice(ESTIMATOR_NAMES),
        Field(description="How to count; the method's own first choice if not given."),
    ] = None,
    *,
    timeout: Annotated[Endless, Field(description="Seconds after which the query is interrupted.")] = LONGEST,
    database: FilePath | None = None,
    con: Any = None,
) -> "pd.DataFrame":
    """Answer one aggregate query from a release; for several, open it once: `open(release).estimate_many(queries)`.

    query: as for `Release.estimate`. database, con: as for `open`. Returns a row per answer. Raises ReleaseError
    where there is no release or its files have changed, and as `Release.estimate` does.
    """
    return open(release, database, con).estimate(query, estimator, timeout=timeout)
