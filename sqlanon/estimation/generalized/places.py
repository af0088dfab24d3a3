"""Where the values of an ordered type lie: whole numbers that can be counted, or points on a line."""

import re
from dataclasses import dataclass

from sqlanon.plans.templates import Sql

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
        reading = "cast(floor(epoch({0}) / 86400) as bigint)"
        return Places(1, reading, day.format("place"), day.format("place + (next_place - place) // 2"))
    if sql_type.startswith("TIMESTAMP"):
        moment = f"cast(make_timestamp(cast({between} as bigint)) as {sql_type})"
        return Places(0, "cast(epoch_us({0}) as double)", "", moment)
    # beyond the ends of the line there is no length: infinity is taken for a number that is very large
    line = "greatest(least(cast({0} as double), cast(1e300 as double)), cast(-1e300 as double))"
    return Places(0, line, "", f"cast({between} as {sql_type})")
