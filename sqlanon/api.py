"""The verbs of the command line as functions on an open connection or session."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from sqlanon.breach.analysis import BreachQuestion, analyse
from sqlanon.breach.associations import Breach
from sqlanon.breach.statement_layout import Model
from sqlanon.engines.connect import engine_of
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods.grouping import GROUPS_PER_BLOCK
from sqlanon.methods.robust.plan import MOST_SUPPRESSED
from sqlanon.methods.splu import binomial
from sqlanon.methods.uncertain.columns import MOST_ALTERNATIVES
from sqlanon.methods.uncertain.influence import Learn
from sqlanon.plans.plan import Beside, Draws, Nulls
from sqlanon.publishing.job_file import read_job
from sqlanon.publishing.publish import Asked, publish
from sqlanon.publishing.run_job import run_job, secrets_hidden
from sqlanon.releases.release import Release, open_release

Names = str | Iterable[str]


class Options(TypedDict, total=False):
    """What every method's function takes besides its own parameters.

    id: identifier columns, never published. nulls: refuse, value or drop. draws: keyed or random.
    key: 64 hex digits or a Key; fresh if None. rows_per_person: one or many. show_values: messages may name values.
    out: a directory (DuckDB, Spark), into: a schema of the database (DuckDB, PostgreSQL); with neither the
    release lives in the session (DuckDB, PostgreSQL). overwrite: replace an older release at the target.
    """

    id: Names
    nulls: Nulls
    draws: Draws
    key: str | Key | None
    rows_per_person: str
    show_values: bool
    out: str | os.PathLike[str] | None
    into: str | None
    overwrite: bool


def anatomy(
    con: Any,
    source: object,
    *,
    quasi: Names,
    sensitive: str,
    l: int,
    block: int | None = GROUPS_PER_BLOCK,
    **options: Unpack[Options],
) -> Release:
    """Publish a relation with Anatomy: QIT and ST of an l-diverse partition, verified before it appears.

    con: an open DuckDB connection, a Spark session or a psycopg connection; it stays as it is.
    source: a table, view, path or glob; for DuckDB a pandas or Arrow object (or its name in the caller's
    scope), for Spark a DataFrame, for PostgreSQL tables and views only. quasi, sensitive: column names.
    l: at least l different sensitive values in every group, none more than 1/l of it.
    block: groups per block of mixed values, None for one block. options: see Options.
    Returns the Release. Raises UsageError for what no data could meet, DataError for what this data cannot.
    """
    parameters = {"l": _whole("l", l), "block": _block(block)}
    return _published("anatomy", con, source, quasi, sensitive, options, parameters)


def robust(
    con: Any,
    source: object,
    *,
    quasi: Names,
    sensitive: str,
    r: float,
    background: object | Sequence[object] = (),
    background_from: Names | Sequence[Names] = (),
    save_background: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    max_suppressed: float = MOST_SUPPRESSED,
    guarantee: str = "exact",
    repair: int = 0,
    block: int | None = GROUPS_PER_BLOCK,
    **options: Unpack[Options],
) -> Release:
    """Publish a relation so that who knows distributions of the sensitive column infers no value above 1/r.

    con, source, quasi, sensitive, block, options: as for `anatomy`. r: a number above 1.
    background: tables (any source) p(s : x): the columns of one set of quasi columns, the sensitive column, and
    `probability`, a row per signature and value. background_from: sets of quasi columns ("sex", or "sex,education")
    whose distribution is learned from the data; save_background: a file (.parquet or .csv) for each of these, for the
    publisher alone. max_suppressed: share of the rows that may be left out. guarantee: exact or delta.
    repair: how many other classes each row that is left over may ask for a group.
    Returns the Release (QIT and ST). Raises UsageError and DataError as `anatomy` does.
    """
    tables = background if isinstance(background, list | tuple) else (background,)
    sets = (background_from,) if isinstance(background_from, str) else tuple(background_from)
    kept = save_background if isinstance(save_background, list | tuple) else (save_background,)
    parameters = {
        "r": _number("r", r),
        "background": tuple(Beside(_place(table)) for table in tables),
        "background_from": tuple(_names(columns) for columns in sets),
        "max_suppressed": _number("max_suppressed", max_suppressed),
        "guarantee": guarantee,
        "repair": _whole("repair", repair),
        "block": _block(block),
    }
    return _published("robust", con, source, quasi, sensitive, options, parameters, tuple(map(_path, kept)))


def splu(
    con: Any,
    source: object,
    *,
    quasi: Names,
    sensitive: Names,
    gamma: int | Mapping[str, int],
    residue: str | None = None,
    epsilon: float = binomial.EPSILON,
    alpha: int = binomial.ALPHA,
    target_error: float = binomial.TARGET_ERROR,
    block: int | None = GROUPS_PER_BLOCK,
    **options: Unpack[Options],
) -> Release:
    """Publish a relation with SPLU-Gen: exact quasi values, sensitive values drawn from decoy groups.

    con, source, quasi, block, options: as for `anatomy`. sensitive: one or several columns.
    gamma: rows of a decoy group, for all columns or for each by its name. residue: drop or keep the rows beyond a
    multiple of gamma; None: drop where one gamma serves all. epsilon, alpha, target_error: what the guarantee in
    the manifest is about. Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    if residue not in (None, "drop", "keep"):
        raise UsageError(f"residue = {residue!r} is neither 'drop' nor 'keep'")
    if isinstance(gamma, Mapping):
        sizes: int | dict[str, int] = {_name(name): _whole("gamma", size) for name, size in gamma.items()}
    else:
        sizes = _whole("gamma", gamma)
    parameters = {
        "gamma": sizes,
        "residue": residue,
        "epsilon": epsilon,
        "alpha": _whole("alpha", alpha),
        "target_error": target_error,
        "block": _block(block),
    }
    return _published("splu", con, source, quasi, sensitive, options, parameters)


def uncertain(
    con: Any,
    source: object,
    *,
    quasi: Names,
    sensitive: str,
    k: int,
    l: int,
    threshold: float,
    influence: object,
    save_influence: str | os.PathLike[str] | None = None,
    hierarchy: Mapping[str, object] | None = None,
    undiverse: str = "merge",
    refine: int = 0,
    alternatives: str = "lists",
    alternative_of: str | None = None,
    max_alternatives: int = MOST_ALTERNATIVES,
    label: str | None = None,
    order_alternatives: str = "given",
    **options: Unpack[Options],
) -> Release:
    """Publish a relation whose cells hold several alternatives (UDAK-anonymity): QIT and ST of groups of K rows.

    con, source, quasi, sensitive, options: as for `anatomy`; DuckDB only. k: least rows of a group.
    l: least different weights in a group where one is at least `threshold`. influence: a table, path or frame with a
    line per sensitive value (its influences and weight in [0, 1]), or "learn"; then `release.learned` has it, and
    save_influence may name a file. hierarchy: a table for each quasi column that has one, by its name.
    undiverse: merge or suppress. refine: turns of swaps. alternatives: lists or braces. alternative_of: the column
    that ties alternative rows. max_alternatives: the most of a cell. label: a column published with the rows.
    order_alternatives: given or sorted. Returns the Release. Raises UsageError and DataError as `anatomy` does.
    """
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise UsageError(f"threshold = {threshold!r} is not a number")
    if not isinstance(hierarchy, Mapping | None):
        raise UsageError("hierarchy is a mapping of column names to tables")
    learns = isinstance(influence, str) and influence == "learn"
    if save_influence is not None and not learns:
        raise UsageError("save_influence keeps what influence='learn' finds; with a table there is nothing to save")
    saved = None if save_influence is None else Path(save_influence)
    parameters = {
        "k": _whole("k", k),
        "l": _whole("l", l),
        "threshold": float(threshold),
        "influence": Learn(saved, bool(options.get("overwrite", False))) if learns else _beside(influence),
        "hierarchy": {_name(column): _beside(table) for column, table in (hierarchy or {}).items()},
        "undiverse": _choice("undiverse", undiverse, "merge", "suppress"),
        "refine": _whole("refine", refine),
        "alternatives": _choice("alternatives", alternatives, "lists", "braces"),
        "alternative_of": None if alternative_of is None else _name(alternative_of),
        "max_alternatives": _whole("max_alternatives", max_alternatives),
        "label": None if label is None else _name(label),
        "order_alternatives": _choice("order_alternatives", order_alternatives, "given", "sorted"),
    }
    return _published("uncertain", con, source, quasi, sensitive, options, parameters)


def _beside(table: object) -> Beside:
    return Beside(os.fspath(table) if isinstance(table, os.PathLike) else table, fetched=True, as_text=True)


def breach(con: Any, *, base: object, views: str | Iterable[str], secret: str, model: Model = "unrestricted") -> Breach:
    """Tell how likely each secret association is to whoever has the published views and knows their definitions.

    con: an open connection. base: a table, view, path or glob, or a pandas or Arrow object.
    views: `SELECT columns FROM base` each; secret: `SELECT id, property FROM base [WHERE condition]`; the base is
    called by its table's name, or `base`. model: unrestricted, or restricted (an id is known to have one property).
    Returns the Breach, whose associations are a relation that stays in the database as long as the session.
    Raises UsageError for what no data could meet.
    """
    question = BreachQuestion(os.fspath(base) if isinstance(base, os.PathLike) else base, _names(views), secret, model)
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
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a release is a path or a schema's name, not a {type(path).__name__}")
    return open_release(path, database, None if con is None else engine_of(con))


def _published(
    method: str,
    con: Any,
    source: object,
    quasi: Names,
    sensitive: Names,
    options: Options,
    parameters: dict[str, Any],
    save: Sequence[Path] = (),
) -> Release:
    """Check what the command line's parser would have checked, and publish."""
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise UsageError(f"no parameter {unknown[0]!r}; there are {', '.join(Options.__annotations__)}")
    key, out, into = options.get("key"), options.get("out"), options.get("into")
    if not (key is None or isinstance(key, str | Key)):
        raise UsageError(f"a key is text or a Key, not a {type(key).__name__}")
    if not (out is None or isinstance(out, str | os.PathLike)) or not (into is None or isinstance(into, str)):
        raise UsageError("out is a path and into a schema's name")
    for text in (source, out, into):
        if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UsageError(f"{text!a} is not UTF-8 text")
    asked = Asked(
        method=method,
        source=_place(source),
        quasi=_names(quasi),
        sensitive=_names(sensitive),
        identifier=_names(options.get("id", ())),
        nulls=_choice("nulls", options.get("nulls", "refuse"), "refuse", "value", "drop"),
        draws=_choice("draws", options.get("draws", "keyed"), "keyed", "random"),
        key=Key.of(key) if isinstance(key, str) else key,
        many_rows_per_person=_choice("rows_per_person", options.get("rows_per_person", "one"), "one", "many") == "many",
        show_values=bool(options.get("show_values", False)),
    )
    target = None if out is None else Path(out)
    return publish(asked, engine_of(con), target, into, bool(options.get("overwrite", False)), save=save, **parameters)


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{name} = {value!r} is not a whole number")
    return value


def _number(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124
        raise UsageError(f"{name} = {value!r} is not a number")
    return value


def _place(source: object) -> object:
    return os.fspath(source) if isinstance(source, os.PathLike) else source


def _path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by a path, not by a {type(path).__name__}")
    return Path(path)


def _block(value: Any) -> int | None:
    return None if value is None or value == "all" else _whole("block", value)


def _names(names: Any) -> tuple[str, ...]:
    """Take one name or several."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise UsageError(f"columns are named by text, not by a {type(names).__name__}")
    return tuple(_name(name) for name in names)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise UsageError(f"columns are named by text, not by a {type(name).__name__}")
    return name


def _choice(name: str, value: Any, *choices: str) -> Any:
    if value not in choices:
        raise UsageError(f"{name} = {value!r} is none of {', '.join(choices)}")
    return value
