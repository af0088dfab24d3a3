"""Refuse SUM and AVG of what has no finite sum: no numbers, NaN and infinity, numbers whose squares overflow."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError, QueryError

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
    if count:
        require_finite_sums(columns)


def require_finite_sums(columns: "Mapping[str, Numbers]") -> None:
    """Raise AnswerError where a sum of finite numbers is infinite itself; NaN stands for NULL."""
    if any(np.isinf(line.astype(float)).any() for line in columns.values()):
        raise AnswerError("SUM and AVG were asked of numbers whose squares are too large; divide them first")
