"""The verbs of the command line as functions on an open connection or session."""

import inspect
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack

from sqlanon.engines.connect import engine_of
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.anatomy import AnatomyOptions
from sqlanon.methods.kinds import check_names, named_place
from sqlanon.methods.mondrian.plan import MondrianOptions
from sqlanon.methods.parameters import REQUIRED, Parameter, checked
from sqlanon.methods.robust.plan import RobustOptions
from sqlanon.methods.splu.plan import SpluOptions
from sqlanon.methods.uncertain.plan import UncertainOptions
from sqlanon.plain_values import refuse_broken_text
from sqlanon.releases.release import Release, open_release
from sqlanon.wording import option, spoken

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.attacks.findings import Attack
    from sqlanon.breaches.associations import Breach
    from sqlanon.breaches.statement_layout import Model
    from sqlanon.comparison.comparison import Comparison
    from sqlanon.completion.completed import Completed
    from sqlanon.ledgers.summary import Ledger
    from sqlanon.reports.page import Page
    from sqlanon.risks.check import Check

P = ParamSpec("P")
R = TypeVar("R")


def _described(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a method's function the signature and the list of parameters that the method declares."""
    method = METHODS[name]

    def describe(function: Callable[P, R]) -> Callable[P, R]:
        keyword = inspect.Parameter.KEYWORD_ONLY
        own = [
            inspect.Parameter(argument, keyword, default=_default(known), annotation=method.types[argument])
            for argument, known in method.arguments.items()
        ]
        shared = list(inspect.signature(function).parameters.values())[:2]
        function.__signature__ = inspect.Signature([*shared, *own], return_annotation="Release")  # type: ignore[attr-defined]
        lines = [f"    {argument}: {_sentence(known)}" for argument, known in method.arguments.items()]
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nParameters:\n" + "\n".join(lines)
        return function

    return describe


def _default(known: Parameter) -> Any:
    return inspect.Parameter.empty if known.default is REQUIRED else known.default


def _sentence(known: Parameter) -> str:
    words = spoken(known.help, "python")
    return words if known.default is REQUIRED else f"{words} Default: {known.kind.shown(known.default)!r}."


@_described("anatomy")
def anatomy(con: Any, source: object, **options: Unpack[AnatomyOptions]) -> Release:
    """Publish a relation with Anatomy: QIT and ST of an l-diverse partition, verified before it appears.

    con: an open DuckDB connection, a Spark session or a psycopg connection; it stays as it is.
    source: a table, view, path or glob; for DuckDB a pandas or Arrow object (or its name in the caller's
    scope), for Spark a DataFrame, for PostgreSQL tables and views only. With neither `out` nor `into` the release lives
    in the session (DuckDB, PostgreSQL). Returns the Release. Raises UsageError for what no data could meet, DataError
    for what this data cannot.
    """
    return publish("anatomy", con, source, **options)


@_described("robust")
def robust(con: Any, source: object, **options: Unpack[RobustOptions]) -> Release:
    """Publish a relation so that an adversary who knows distributions of the sensitive values infers none above 1/r.

    con, source: as for `anatomy`. Backgrounds are tables p(s : x): the columns of one set of quasi columns, the
    sensitive column, and `probability`, a row per signature and value; or they are learned.
    Returns the Release (QIT and ST). Raises UsageError and DataError as `anatomy` does.
    """
    return publish("robust", con, source, **options)


@_described("splu")
def splu(con: Any, source: object, **options: Unpack[SpluOptions]) -> Release:
    """Publish a relation with SPLU-Gen: exact quasi values, sensitive values drawn from decoy groups.

    con, source: as for `anatomy`. Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    return publish("splu", con, source, **options)


@_described("uncertain")
def uncertain(con: Any, source: object, **options: Unpack[UncertainOptions]) -> Release:
    """Publish a relation whose cells hold several alternatives (UDAK-anonymity): QIT and ST of groups of K rows.

    con, source: as for `anatomy`; DuckDB only. With influence="learn" `release.learned` has the matrix.
    Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    return publish("uncertain", con, source, **options)


@_described("mondrian")
def mondrian(con: Any, source: object, **options: Unpack[MondrianOptions]) -> Release:
    """Publish a relation as boxes of at least k rows (Mondrian): bounds, nodes or sets of quasi values, exact others.

    con, source: as for `anatomy`; DuckDB only. Returns the Release (one table, `data`). Raises UsageError and
    DataError as `anatomy` does.
    """
    return publish("mondrian", con, source, **options)


def publish(method: str, con: Any, source: object, **options: Any) -> Release:
    """Publish a relation with a method that is named; the functions called as the methods are say what each takes.

    con, source, options: as for the method's own function. Returns the Release. Raises UsageError and DataError.
    """
    from sqlanon.publishing import publish as publishing
    from sqlanon.publishing.release_request import request_of
    from sqlanon.publishing.thresholds import require, threshold_of

    # the methods' own functions cannot get here with another name
    if method not in METHODS:
        raise UsageError(f"no method {method!r}; there are {', '.join(METHODS)}")
    refuse_broken_text((source, options.get("out"), options.get("into")))
    declared = METHODS[method]
    arguments = checked(declared.arguments, options)
    request = request_of(arguments, method, named_place(source))
    own = {name: arguments[name] for name in declared.parameters}
    target = arguments["out"], arguments["into"], arguments["overwrite"]
    accept = require(map(threshold_of, arguments["require"]))
    return publishing.publish(request, engine_of(con), *target, accept=accept, **own)


def breach(
    con: Any, *, base: object, views: str | Iterable[str], secret: str, model: "Model" = "unrestricted"
) -> "Breach":
    """Tell how likely each secret association is to an adversary who has the published views and their definitions.

    con: an open connection. base: a table, view, path or glob, or a pandas or Arrow object.
    views: `SELECT columns FROM base` each; secret: `SELECT id, property FROM base [WHERE condition]`; the base is
    called by its table's name, or `base`. model: unrestricted, or restricted (an id is known to have one property).
    Returns the Breach, whose associations are a relation that stays in the database as long as the session.
    Raises UsageError for what no data could meet.
    """
    from sqlanon.breaches.analysis import BreachQuestion, analyse

    return analyse(BreachQuestion(named_place(base), check_names(views), secret, model), engine_of(con))


def attack(
    release: Release,
    *,
    against: object = None,
    id: str | Iterable[str] = (),
    others: Iterable[Release] = (),
    background: object = (),
) -> "Attack":
    """Tell what an adversary gets out of a release, promised beside reached: order, learning, composition, presence.

    against: the source, as for `anatomy`; it scores guesses. id: columns that tell its rows apart. others: releases of
    the same people, opened in the same session (`sqlanon.open(path, con=con)`). background: tables of distributions, as
    for `Release.verify`. Returns the Attack. Raises UsageError, and DataError for a source that is about others.
    """
    from sqlanon.attacks.attack_release import attack_release

    return attack_release(release, named_place(against), check_names(id), tuple(others), background)


def complete(
    release: Release,
    *,
    tables: int = 10,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> "Completed":
    """Complete a release: tables of plausible microdata, drawn from a model that is learned from the release alone.

    tables: how many. seed: the same one gives the same tables. out: a directory for them (`completed_01.parquet` …).
    Returns the Completed; analyse each table, and `pool` what they say. Raises UsageError for a release or a number
    that does not do, and TargetError.
    """
    from sqlanon.completion.completed import check_directory

    if out is not None:
        check_directory(out, overwrite)
    found = release.complete(tables, seed)
    if out is not None:
        found.write(out, overwrite)
    return found


def pool(estimates: Any, std_errors: Any, complete_df: float | None = None) -> "pd.DataFrame":
    """Pool what several completed tables say (Rubin's rules).

    estimates, std_errors: a row per table and a column per parameter, or one number per table. complete_df: the degrees
    of freedom that complete data would have (Barnard and Rubin). Returns a row per parameter: estimate, std_error, low
    and high (95 %), df, missing_information. Raises UsageError for fewer than two tables and for other shapes.
    """
    from sqlanon.completion.pooling import pool_estimates

    return pool_estimates(estimates, std_errors, complete_df)


def check(
    con: Any,
    source: object,
    *,
    quasi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    id: str | Iterable[str] = (),
    population: object = None,
    sampled: float | None = None,
    failing: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **required: Any,
) -> "Check":
    """Tell what a table risks: whom its quasi columns single out, what the sensitive values of its classes give away.

    con, source: as for `anatomy`. Without quasi columns: a line per column with a role that it may have. Rows with
    equal quasi values are a class; NULL is a value. required: what every class must reach: k, l, entropy_l,
    recursive=(c, l), alpha, t, beta, delta. population: a table with the quasi columns that the source is a part of;
    sampled: the share of the population that it is. failing: a Parquet file for the rows of failing classes.
    Returns the Check; its `holds` says whether all that is required is reached. Raises UsageError, DataError and
    TargetError.
    """
    from sqlanon.risks import assessment
    from sqlanon.risks.failing import check_path
    from sqlanon.risks.limits import limits_of
    from sqlanon.risks.question import CheckQuestion

    question = CheckQuestion(
        source=named_place(source),
        quasi=check_names(quasi),
        sensitive=check_names(sensitive),
        identifier=check_names(id),
        limits=limits_of(required),
        population=None if population is None else named_place(population),
        sampled=sampled,
    )
    target = None if failing is None else check_path(failing, overwrite, (question.source, question.population))
    return assessment.check(question, engine_of(con), target)


def compare(
    con: Any,
    source: object,
    *,
    quasi: str | Iterable[str],
    sensitive: str | Iterable[str],
    id: str | Iterable[str] = (),
    methods: str | Iterable[str] = ("anatomy", "robust", "splu", "mondrian"),
    l: int | Iterable[int] = (3, 5, 10),
    gamma: int | Iterable[int] = (5, 10),
    epsilon: float | Iterable[float] = (0.01, 0.1, math.log(2), math.log(3)),
    share: float | Iterable[float] = 0.1,
    queries: int | str | os.PathLike[str] = 200,
    seed: int = 1,
    target_error: float | None = None,
    nulls: str = "refuse",
    unique_quasi: str = "refuse",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> "Comparison":
    """Tell what each method and parameter costs in accuracy on this data: relative errors of the same queries.

    con: an open DuckDB connection; what is published for the comparison is dropped again. source, quasi, sensitive, id,
    nulls, unique_quasi: as for `anatomy`. l: of anatomy and mondrian (k = 10), and r of robust, whose adversary
    knows how the sensitive values depend on the quasi column with the fewest values. epsilon: of laplace (noise on
    true counts), share: of sampling; these two and dbr are rivals, which cannot be published. queries: how many to
    draw (half set predicates of Anatomy's paper, half conjunctions of SPLU-Gen's; seed: another number draws others),
    or a file of SQL queries FROM release. target_error: the largest median relative error to accept. out: a folder for
    the table and every answer.
    Returns the Comparison. Raises UsageError, DataError where this data allows no candidate, and TargetError.
    """
    from sqlanon.comparison.compare import compare as compare_methods
    from sqlanon.comparison.files import check_folder, write_comparison
    from sqlanon.comparison.question import read_question

    question = read_question(
        named_place(source), check_names(quasi), check_names(sensitive), check_names(id), methods=methods, l=l,
        gamma=gamma, epsilon=epsilon, share=share, seed=seed,
        queries=queries if isinstance(queries, int) else Path(queries), target_error=target_error, nulls=nulls,
        unique_quasi=unique_quasi,
    )  # fmt: skip
    target = None if out is None else check_folder(out, overwrite)
    found = compare_methods(question, engine_of(con))
    if target is not None:
        write_comparison(found, target)
    return found


def ledger(path: str | os.PathLike[str]) -> "Ledger":
    """Tell what a ledger holds, in figures: its releases, persons ever published, groups, who waits.

    path: the file that releases were published with (`ledger=`). Returns the Ledger; it has no values and no ids.
    Raises SourceError where there is none.
    """
    from sqlanon.ledgers.summary import read_ledger

    return read_ledger(Path(path))


def report(
    release: Release,
    out: str | os.PathLike[str] | None = None,
    *,
    against: object = None,
    id: str | Iterable[str] = (),
    others: Iterable[Release] = (),
    comparison: str | os.PathLike[str] | None = None,
    attack: "Attack | str | os.PathLike[str] | None" = None,
    overwrite: bool = False,
) -> "Page":
    """Tell about a release on one page of HTML: promise beside attacks, what was verified, what is lost, columns.

    out: the .html file to write. against, id, others: as for `attack`; with the source the page holds figures of it and
    is internal, without it what anybody can compute who has the release. comparison: a folder that `compare` wrote, for
    errors by selectivity, which are figures of the source. attack: an Attack found before, or a file of `attack`'s
    JSON; without it the release is attacked here, above 200,000 rows without order and learning, which take minutes.
    Returns the Page, whose `html` is the file's text.
    Raises UsageError, also where altair is not installed, DataError for a source about others, and TargetError.
    """
    from sqlanon.releases.file_beside import check_beside
    from sqlanon.reports.page import ENDINGS
    from sqlanon.reports.report import make_page

    source = named_place(against)
    if out is not None:
        check_beside(out, ENDINGS, option("out"), overwrite, release.directory, (source, attack))
    page = make_page(release, source, check_names(id), tuple(others), comparison, attack)
    if out is not None:
        page.write(out, overwrite)
    return page


def run(job: str | os.PathLike[str]) -> Release:
    """Publish what a job file describes, checked against its thresholds before anything is visible.

    Returns the Release; its `notes` say what to know. Raises UsageError, with the line, for what is not a job,
    DataError where this data does not allow it or a threshold is missed.
    """
    from sqlanon.publishing.job_file import read_job
    from sqlanon.publishing.run_job import open_engine_of, run_job

    described = read_job(Path(job))
    return run_job(described, open_engine_of(described))


def adopt(
    con: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    into: str | None = None,
    overwrite: bool = False,
    against: object = None,
    **tables: Any,
) -> Release:
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


def open(path: str | Path, database: str | None = None, con: Any = None) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) a schema in it; `con`: on this connection."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a release is a path or a schema's name, not a {type(path).__name__}")
    return open_release(path, database, None if con is None else engine_of(con))
