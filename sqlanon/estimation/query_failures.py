"""Why a query failed, in the user's words: the published names, and whether the query or the data is at fault."""

import re
from collections.abc import Iterable, Mapping

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, QueryError, SqlanonError, UsageError
from sqlanon.estimation.constant_faults import fails_on_any_data
from sqlanon.plans.templates import Sql


def explain_failure(
    error: SqlanonError, engine: Engine, pieces: Iterable[tuple[Sql, Sql]], names: Mapping[str, str]
) -> SqlanonError:
    """Return the error to raise instead of an engine's.

    pieces: the query's expressions, each with the relation that it reads. names: internal name → published name.
    """
    text = _publish_names(str(error), names)
    if isinstance(error, UsageError):
        return QueryError(f"the query cannot be evaluated: {text}")
    wrong = next((piece for piece, relation in pieces if fails_on_any_data(engine, piece, relation)), None)
    if wrong is not None:
        return QueryError(f"{_publish_names(wrong, names)} cannot be evaluated on any data: a constant does not fit")
    cause = text.partition("(")[2].rstrip(")") or text
    told = f" ({cause})" if isinstance(error, DataError) else ""  # another error's text may quote a value
    return DataError(f"the query cannot be evaluated on every row{told}; cast to a wider type, or filter")


def _publish_names(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b(quasi_\d+|sensitive(_\d+)?)\b", lambda match: names.get(match[0], match[0]), text)
