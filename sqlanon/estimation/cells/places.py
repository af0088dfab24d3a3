"""Where the values of an ordered type lie: whole numbers that can be counted, or points on a line."""

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sqlanon.plans.templates import Sql

_LARGEST = {"DOUBLE": "1e300", "FLOAT": "3.4e38"}  # numbers whose values may be infinite, or NaN
_COMPARISONS = (
    exp.Column, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In,
    exp.Is,
)  # fmt: skip
_WHOLE = re.compile(r"(TINY|SMALL|BIG)?INT(EGER)?|U(TINY|SMALL)INT|UINTEGER")


@dataclass(frozen=True)
class Places:
    """How values of one type become places and back.

    unit: 1 where places are counted, 0 where they are measured. reading: SQL of a place, `{0}` the value. filling: SQL
    of the value at `place`, empty where places are not counted. middle: SQL of the value amid `place` and `next_place`.
    """

    unit: int
    reading: str
    filling: str
    middle: str

    def read(self, value: str) -> Sql:
        """Return the SQL of a value's place."""
        return Sql(self.reading.format(value))


def places_of(sql_type: str) -> Places:
    """Return the places of a type."""
    between = "place + (next_place - place) / 2"
    if _WHOLE.fullmatch(sql_type):
        middle = "place + (next_place - place) // 2"
        return Places(1, "cast({0} as bigint)", f"cast(place as {sql_type})", f"cast({middle} as {sql_type})")
    if sql_type == "DATE":
        day = "date '1970-01-01' + cast({} as integer)"
        # infinite dates have no days since 1970: they lie beyond all others
        reading = f"coalesce(cast(floor(epoch({{0}}) / 86400) as bigint), {_beyond(2**31 - 1, 'date')})"
        return Places(1, reading, day.format("place"), day.format("place + (next_place - place) // 2"))
    if sql_type.startswith("TIMESTAMP"):
        moment = f"cast(make_timestamp(cast({between} as bigint)) as {sql_type})"
        return Places(
            0, f"cast(coalesce(epoch_us({{0}}), {_beyond(2**63 - 2**10, 'timestamp')}) as double)", "", moment
        )
    line = "greatest(least(cast({0} as double), cast(1e300 as double)), cast(-1e300 as double))"
    if sql_type not in _LARGEST:
        return Places(0, f"case when {{0}} is not null then {line} end", "", f"cast({between} as {sql_type})")
    # infinities lie beyond all numbers, and NaN beyond them, as values are ordered
    endless = "cast('Infinity' as double)"
    reading = (
        f"case when cast({{0}} as double) > {endless} then 4e300 when cast({{0}} as double) = {endless} then 2e300"
        f" when cast({{0}} as double) = -{endless} then -2e300 when {{0}} is not null then {line} end"
    )
    most = _LARGEST[sql_type]
    middle = f"greatest(least({between}, cast({most} as double)), cast(-{most} as double))"
    return Places(0, reading, "", f"cast({middle} as {sql_type})")


def _beyond(place: int, kind: str) -> str:
    """Return the SQL of the place of a value that is infinite, NULL for NULL."""
    return f"case when {{0}} > {kind} '2000-01-01' then {place} when {{0}} is not null then -{place} end"


def compares_alone(condition: Sql) -> bool:
    """Tell whether a condition is made of comparisons of the column itself with constants.

    Between two neighbouring constants it then has one result for all values; of `year(x) = 2024` nobody can tell.
    """
    node = sqlglot.parse_one(str(condition), read="duckdb").unnest()
    if isinstance(node, exp.Connector | exp.Not):
        return all(compares_alone(Sql(side.sql("duckdb"))) for side in node.iter_expressions())
    sides = [side.unnest() for side in node.iter_expressions()]
    plain = all(isinstance(side, exp.Column) or not side.find(exp.Column) for side in sides)
    return plain and isinstance(node, _COMPARISONS)
