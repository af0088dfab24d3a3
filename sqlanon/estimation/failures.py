"""Refuse queries that have no answer, in the caller's words: an engine's message uses our names and may quote values.

SUM and AVG of columns without a finite sum (no numbers, NaN and infinity, numbers whose squares overflow) are refused
before anything is estimated; failures in the engine are explained.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import (
    AnswerError,
    DataError,
    QueryError,
    ReleaseError,
    ResourceError,
    SqlanonError,
    TargetError,
    TemplateError,
    UsageError,
)
from sqlanon.estimation.temporary_tables import inline
from sqlanon.plans.templates import ident

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers
    from sqlanon.estimation.missing_values import MissingValues
    from sqlanon.sql.aggregate_query import Comparison


_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL.*|BOOLEAN|BIGNUM|VARINT")
ENDLESS = "SUM and AVG were asked of an expression that is NaN or infinite {}; leave them out with WHERE"


def is_numeric(sql_type: str) -> bool:
    """Tell whether a type is a number's."""
    return _NUMERIC.fullmatch(sql_type) is not None


def require_numeric(sql_type: str) -> None:
    """Raise QueryError where the type of an expression is no number's."""
    if not is_numeric(sql_type):
        raise QueryError(f"SUM and AVG take numbers; one was asked of {sql_type} values")


def require_finite_weights(selected: "Mapping[str, Numbers]", count: int) -> None:
    """Raise AnswerError where one of `count` expressions over sensitive values is NaN or infinite for a value.

    selected: by selected value; endless_1 … tell where an expression is.
    """
    endless = max((int(selected[f"endless_{number}"].sum()) for number in range(1, count + 1)), default=0)
    if endless:
        raise AnswerError(ENDLESS.format(f"for {endless} of the values asked"))


def require_finite_measures(columns: "Mapping[str, Numbers]", name: str, count: int) -> None:
    """Raise AnswerError where one of `count` expressions over rows is NaN or infinite on a hit, or its squares are.

    columns: a moment query's rows; `name` counts such hits in the columns `name_1` …, once per case.
    """
    for number in range(1, count + 1):
        line = np.nan_to_num(columns[f"{name}_{number}"].astype(float))
        endless = round(np.bincount(columns["case_number"].astype(np.int64), line, 1).max())
        if endless:
            raise AnswerError(ENDLESS.format(f"on {endless} rows"))
    # a sum of finite numbers may be infinite itself; NaN stands for NULL
    if count and any(np.isinf(line.astype(float)).any() for line in columns.values()):
        raise AnswerError("SUM and AVG were asked of numbers whose squares are too large; divide them first")


def require_readable(engine: Engine, answer: str) -> None:
    """Refuse dates that a program would read as others: infinite ones, and those beyond the years 1 to 9999."""
    dates = [
        (name, sql_type.removesuffix("_NS"))  # whose nanoseconds begin in 1677
        for name, sql_type in engine.columns(answer).items()
        if sql_type.startswith(("DATE", "TIMESTAMP"))
    ]
    if not dates:
        return
    beyond = " or ".join(
        f"cast({ident(name)} as {sql_type}) {sign} cast('{day}' as {sql_type})"
        for name, sql_type in dates
        for sign, day in (("<", "0001-01-01"), (">", "9999-12-31"))
    )
    (row,) = engine.rows(f"select count(*) as beyond from {inline(answer)} as answered where {beyond}")
    if row["beyond"]:
        raise AnswerError(
            f"the answer holds dates that are infinite or beyond the years 1 to 9999 (in {row['beyond']} rows); cast"
            " them to text, or leave them out with WHERE"
        )


@contextmanager
def overlooked() -> Iterator[None]:
    """Go on behind the block where something in it fails on this data; what concerns all queries is raised."""
    try:
        yield
    except (ResourceError, TargetError, TemplateError):
        raise
    except SqlanonError:
        pass


def load_readable(load: Callable[[], None], contents: str) -> None:
    """Load what queries read of a release; raise ReleaseError where its tables cannot be read as `contents`."""
    try:
        load()
    except (ReleaseError, ResourceError, TargetError):
        raise
    except SqlanonError as error:
        # Another error's text may quote a value of the release.
        cause = str(error) if isinstance(error, UsageError | DataError) else type(error).__name__
        raise ReleaseError(
            f"the release's tables cannot be read as {contents} ({cause}); sqlanon verify says more"
        ) from None


def refuse_unsound(row: Mapping[str, Any]) -> None:
    """Raise ReleaseError for the row of such a query where QIT and ST do not fit each other."""
    if not row["line_count"] or row["unequal_groups"] or row["faulty_lines"]:
        raise ReleaseError(
            f"the release is damaged: {int(row['unequal_groups'])} groups are not as large in QIT as in ST,"
            f" {int(row['faulty_lines'])} lines have no group or no whole count"
            f"{'' if row['line_count'] else ', there are no rows'}; sqlanon verify says more"
        )


_NO_FUNCTION = re.compile(
    r"No function matches the given name and argument types '(?P<name>[^'(]+)\((?P<types>[^']*)\)'"
)
_NO_ARGUMENTS = re.compile(r"(?:Macro|Function) (?P<name>\w+)\(\) does not support the supplied arguments")
_KIND_OF_ERROR = re.compile(r"^\w+ Error: ")
_CAUSES = {  # what an engine of ours says of a value, in its words
    "cannot be read as what its column holds": "a value cannot be converted",
    "larger than what its column": "a value is out of range",
    "cannot read a value": "a value is none that a function takes",
}


@contextmanager
def explained(values: "MissingValues", comparisons: Sequence["Comparison"]) -> Iterator[None]:
    """Say in the block why a query fails in the engine, in words of ours; what is worded for users passes as it is.

    comparisons: those of the query, whose values may not fit.
    """
    try:
        yield
    except (QueryError, TargetError, AnswerError, ResourceError):
        raise
    except SqlanonError as error:
        # What an engine says is in our names and may quote a value.
        if not isinstance(error, UsageError | DataError) and type(error) is not SqlanonError:
            raise  # a fault of ours
        raise _explain(error, values, comparisons) from None


def _explain(error: SqlanonError, values: "MissingValues", comparisons: Sequence["Comparison"]) -> SqlanonError:
    text = _publish_names(str(error), values.space.names)
    if isinstance(error, UsageError):
        return QueryError(f"the query cannot be evaluated: {_say_plainly(text)}")
    if found := values.tell_unfit(comparisons):
        return DataError(f"the query cannot be evaluated: {found}")
    # an engine's own text may quote a value
    cause = next(
        (f" ({words})" for message, words in _CAUSES.items() if isinstance(error, DataError) and message in text), ""
    )
    return DataError(
        f"the query cannot be evaluated on every row{cause}; cast to a wider type, or filter, and write constants as"
        " their columns have them: 7, 'flu', '2024-01-31'"
    )


def _say_plainly(text: str) -> str:
    """Return an engine's complaint without the names of its own parts; of types that do not fit in words of ours."""
    match = _NO_FUNCTION.search(text)
    if match is not None:
        types = match["types"].replace("INTEGER_LITERAL", "INTEGER").replace("STRING_LITERAL", "VARCHAR")
        return f"{match['name']} does not take ({types}); cast what it is given"
    match = _NO_ARGUMENTS.search(text)
    if match is not None:
        return f"{match['name']} does not take what it is given"
    return _KIND_OF_ERROR.sub("", text)


def _publish_names(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b(quasi_\d+|sensitive(_\d+)?)\b", lambda match: names.get(match[0], match[0]), text)
