"""Refuse queries that have no answer, in the caller's words: an engine's message uses our names and may quote values.

SUM and AVG of columns without a finite sum (no numbers, NaN and infinity, numbers whose squares overflow) are refused
before anything is estimated; failures in the engine are explained.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError, DataError, QueryError, SqlanonError, UsageError
from sqlanon.plans.templates import Sql, ident

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers


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


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)
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


def fails_on_any_data(engine: Engine, piece: Sql, relation: Sql) -> bool:
    """Tell whether an expression over a relation fails whatever its rows are: a constant of it cannot be read."""
    try:
        types = engine.columns(f"select * from {relation}")
    except SqlanonError:
        return False
    tree = sqlglot.parse_one(str(piece), read="duckdb")
    if any(_fails(engine, f"select {constant} as tried") for constant in _constants(tree)):
        return True
    # A row of NULLs satisfies every type: what fails on it does not fail because of a value.
    nulls = ", ".join(f"cast(null as {sql_type}) as {ident(name)}" for name, sql_type in types.items())
    if _fails(engine, f"select {piece} as tried from (select {nulls}) as row_of_nulls"):
        return True
    # A comparison with NULL may be settled before the literal beside it is read as the column's type.
    return any(_compares_misfit(engine, node, nulls) for node in tree.find_all(*_COMPARISONS))


def _constants(tree: exp.Expr) -> Iterator[str]:
    """Yield the largest pieces that read no column; a literal by itself can always be read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        whole = isinstance(node, exp.Condition) and not isinstance(node, exp.Literal | exp.Var | exp.Column | exp.If)
        if whole and node.find(exp.Column) is None:
            yield node.sql("duckdb")
        else:
            waiting.extend(node.iter_expressions())


def _compares_misfit(engine: Engine, node: exp.Expr, nulls: str) -> bool:
    """Tell whether a literal cannot be read as the type of what it is compared with."""
    sides = [side for side in node.iter_expressions() if isinstance(side, exp.Condition)]
    literals = [side for side in sides if isinstance(side, exp.Literal)]
    others = [side for side in sides if side.find(exp.Column) is not None]
    if not literals or not others:
        return False
    tried = f"select {others[0].sql('duckdb')} as tried from (select {nulls}) as row_of_nulls"
    try:
        (sql_type,) = engine.columns(tried).values()
    except SqlanonError:
        return False
    if sql_type == "VARCHAR":
        return any(not literal.is_string for literal in literals)
    return any(
        _fails(engine, f"select cast({literal.sql('duckdb')} as {sql_type}) as tried")
        for literal in literals
        if literal.is_string
    )


def _fails(engine: Engine, sql: str) -> bool:
    try:
        engine.rows(sql)
    except SqlanonError:
        return True
    return False


def explain_failure(
    error: SqlanonError, engine: Engine, pieces: Iterable[tuple[Sql, Sql]], names: Mapping[str, str]
) -> SqlanonError:
    """Return the error to raise instead of an engine's.

    pieces: the query's expressions, each with the relation that it reads. names: internal name → published name.
    """
    text = _publish_names(str(error), names)
    if isinstance(error, UsageError):
        return QueryError(f"the query cannot be evaluated: {_say_plainly(text)}")
    wrong = next((piece for piece, relation in pieces if fails_on_any_data(engine, piece, relation)), None)
    if wrong is not None:
        return QueryError(
            f"{_publish_names(wrong, names)} cannot be evaluated on any data: a constant does not fit;"
            " write numbers as 7, texts as 'flu', dates as '2024-01-31'"
        )
    # an engine's own text may quote a value
    cause = next(
        (f" ({words})" for message, words in _CAUSES.items() if isinstance(error, DataError) and message in text), ""
    )
    return DataError(f"the query cannot be evaluated on every row{cause}; cast to a wider type, or filter")


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
