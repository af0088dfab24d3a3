"""The verbs of the command line as functions on an open connection or session."""

import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack

from sqlanon.engines.connect import engine_of
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.anatomy import AnatomyOptions
from sqlanon.methods.kinds import check_names, named_place
from sqlanon.methods.parameters import REQUIRED, Parameter, checked
from sqlanon.methods.robust.plan import RobustOptions
from sqlanon.methods.splu.plan import SpluOptions
from sqlanon.methods.uncertain.plan import UncertainOptions
from sqlanon.releases.release import Release, open_release
from sqlanon.wording import spoken

if TYPE_CHECKING:
    from sqlanon.breaches.associations import Breach
    from sqlanon.breaches.statement_layout import Model

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


def publish(method: str, con: Any, source: object, **options: Any) -> Release:
    """Publish a relation with a method that is named; the functions called as the methods are say what each takes.

    con, source, options: as for the method's own function. Returns the Release. Raises UsageError and DataError.
    """
    from sqlanon.publishing import publish as publishing
    from sqlanon.publishing.release_request import request_of

    # the methods' own functions cannot get here with another name
    if method not in METHODS:
        raise UsageError(f"no method {method!r}; there are {', '.join(METHODS)}")
    _refuse_broken_text(source, options.get("out"), options.get("into"))
    declared = METHODS[method]
    arguments = checked(declared.arguments, options)
    request = request_of(arguments, method, named_place(source))
    own = {name: arguments[name] for name in declared.parameters}
    target = arguments["out"], arguments["into"], arguments["overwrite"]
    return publishing.publish(request, engine_of(con), *target, **own)


def _refuse_broken_text(*texts: object) -> None:
    for text in texts:
        if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UsageError(f"{text!a} is not UTF-8 text")


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


def run(job: str | os.PathLike[str]) -> Release:
    """Publish what a job file describes, checked against its thresholds before anything is visible.

    Returns the Release; its `notes` say what to know. Raises UsageError, with the line, for what is not a job,
    DataError where this data does not allow it or a threshold is missed.
    """
    from sqlanon.engines.duckdb import DuckDBEngine, connect
    from sqlanon.publishing.job_file import read_job
    from sqlanon.publishing.run_job import run_job, secrets_hidden

    described = read_job(Path(job))
    with secrets_hidden(described):
        engine = DuckDBEngine(connect(described.database, write=described.into is not None))
    return run_job(described, engine)


def open(path: str | Path, database: str | None = None, con: Any = None) -> Release:
    """Open a release: a directory, or with `database` (a DuckDB file) a schema in it; `con`: on this connection."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a release is a path or a schema's name, not a {type(path).__name__}")
    return open_release(path, database, None if con is None else engine_of(con))
