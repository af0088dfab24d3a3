"""Why a query failed, in the user's words: the published names, and whether the query or the data is at fault."""

import re
from collections.abc import Iterable, Mapping

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SqlanonError, UsageError
from sqlanon.estimation.constant_faults import fails_on_any_data
from sqlanon.plans.templates import Sql

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
        return QueryError(f"{_publish_names(wrong, names)} cannot be evaluated on any data: a constant does not fit")
    # an engine's own text may quote a value
    told = next((f" ({said})" for kind, said in _CAUSES.items() if isinstance(error, DataError) and kind in text), "")
    return DataError(f"the query cannot be evaluated on every row{told}; cast to a wider type, or filter")


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
