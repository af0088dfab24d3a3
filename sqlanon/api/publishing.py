"""The verbs of whoever publishes, as functions on an open connection or session."""

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from sqlanon.engines.connect import engine_of, session_and_source
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.models.fields import verb, with_parameters
from sqlanon.models.publication import Dialect, Model, Query, ScriptTable, Secret, Source, Views
from sqlanon.plain_values import refuse_broken_text
from sqlanon.plans.plan import Source as SourceRelation
from sqlanon.releases.release import Release
from sqlanon.removed import removed

P = ParamSpec("P")
R = TypeVar("R")


def _of_method(function: Callable[P, R]) -> Callable[P, R]:
    """Give the function of a method, which is called as it is, the signature and the list of its parameters."""
    declared, keyword = METHODS[function.__name__].arguments, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, keyword, default=parameter.default, annotation=parameter.python_type)
        for name, parameter in declared.items()
    ]
    shared = list(inspect.signature(function).parameters.values())[:3]
    function.__signature__ = inspect.Signature([*shared, *parameters], return_annotation="Release")  # type: ignore[attr-defined]
    function.__doc__ = with_parameters(function.__doc__, declared)
    return function


@_of_method
def anatomy(con: Any, source: object = None, *, query: str | None = None, **options: Any) -> Release:
    """Publish a relation with Anatomy: QIT and ST of an l-diverse partition, verified before it appears.

    con: an open DuckDB connection, a Spark session or a psycopg connection; it stays as it is. In its place a pandas or
    polars frame, an Arrow table or a path by itself: DuckDB is opened for it. source: a table, view,
    path or glob; for DuckDB a pandas or Arrow object (or its name in the caller's scope), for Spark a DataFrame, for
    PostgreSQL tables and views only. query: in its place, a SELECT in the engine's SQL. With neither `out` nor `into`
    the release lives in the session (DuckDB, PostgreSQL). Returns the Release. Raises UsageError for what no data could
    meet, DataError for what this data cannot.
    """
    return publish("anatomy", con, source, query=query, **options)


@_of_method
def robust(con: Any, source: object = None, *, query: str | None = None, **options: Any) -> Release:
    """Publish a relation so that an adversary who knows distributions of the sensitive values infers none above 1/r.

    con, source, query: as for `anatomy`. Backgrounds are tables p(s : x): the columns of one set of quasi columns, the
    sensitive column, and `probability`, a row per signature and value; or they are learned.
    Returns the Release (QIT and ST). Raises UsageError and DataError as `anatomy` does.
    """
    return publish("robust", con, source, query=query, **options)


@_of_method
def splu(con: Any, source: object = None, *, query: str | None = None, **options: Any) -> Release:
    """Publish a relation with SPLU-Gen: exact quasi values, sensitive values drawn from decoy groups.

    con, source, query: as for `anatomy`. Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    return publish("splu", con, source, query=query, **options)


@_of_method
def uncertain(con: Any, source: object = None, *, query: str | None = None, **options: Any) -> Release:
    """Publish a relation whose cells hold several alternatives (UDAK-anonymity): QIT and ST of groups of K rows.

    con, source, query: as for `anatomy`. With influence="learn" `release.learned` has the matrix.
    Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    return publish("uncertain", con, source, query=query, **options)


@_of_method
def mondrian(con: Any, source: object = None, *, query: str | None = None, **options: Any) -> Release:
    """Publish a relation as boxes of at least k rows (Mondrian): bounds, nodes or sets of quasi values, exact others.

    con, source, query: as for `anatomy`. Returns the Release (one table, `data`). Raises UsageError and DataError as
    `anatomy` does.
    """
    return publish("mondrian", con, source, query=query, **options)


@verb
def publish(method: str, con: Any, source: Source = None, *, query: Query = None, **options: Any) -> Release:
    """Publish a relation with a method that is named; the functions called as the methods are say what each takes.

    con, source, query, options: as for the method's own function. Returns the Release. Raises UsageError and DataError.
    """
    from sqlanon.publishing import publish as publishing
    from sqlanon.publishing.release_request import request_of

    declared = _method(method)
    refuse_broken_text((source, options.get("out"), options.get("into")))
    arguments = declared.options.read(options)
    opener, source = session_and_source(con, source, query)
    return publishing.publish(request_of(arguments, method, source), opener.open())


@verb
def compile(method: str, source: ScriptTable, *, dialect: Dialect = "duckdb", con: Any = None, **options: Any) -> str:
    """Return a method's script for an engine's own shell, as `sqlanon compile` prints it.

    source: the table as that engine names it. dialect: whose SQL. con: an open connection that has the source too, for
    a method whose script depends on the columns' types. options: as for the method's own function. With the method
    "breach": views, secret, model, as for `breach`. Raises UsageError.
    """
    from sqlanon.publishing.plan_text import compiled
    from sqlanon.publishing.release_request import request_of

    if method == "breach":
        return breach_script(source, dialect=dialect, **options)
    declared = _method(method)
    if declared.reads_source and con is None:
        raise UsageError(f"a script of {method} depends on the columns' types: hand over con, which has the source too")
    declared.refuse_in_scripts(options)
    arguments = declared.options.read(options)
    # a script of names alone opens nothing
    engine = engine_of(con) if declared.reads_source else None
    return compiled(request_of(arguments, method, source), dialect, engine)


@verb
def breach_script(
    source: ScriptTable, *, views: Views, secret: Secret, model: Model = "unrestricted", dialect: Dialect = "duckdb"
) -> str:
    """Return the script of a breach analysis, as `compile` with the method "breach" does; raise UsageError."""
    from sqlanon.breaches.chapters import compile_analysis
    from sqlanon.breaches.connectivity import BreachQuestion
    from sqlanon.publishing.plan_text import table_elsewhere

    question = BreachQuestion(source, tuple(views), secret, model)
    return compile_analysis(question, SourceRelation(table_elsewhere(source, dialect)), dialect)


def _method(name: str) -> Method[Any]:
    if name not in METHODS:
        raise UsageError(removed("compile", name) or f"no method {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name]
