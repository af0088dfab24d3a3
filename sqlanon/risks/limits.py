"""The limits that a table must meet: their ranges, and which measure of which class misses them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import exp, inf, isfinite, log
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.models.values import Here, Kind, number, whole_number

# measure → the column that holds it for a class; some are to be large, some small
AT_LEAST = {"k": "class_size", "l": "distinct_values", "entropy_l": "entropy"}
AT_MOST = {"alpha": "largest_share", "t": "distance", "beta": "likeness", "delta": "disclosure"}
ROUNDING = 1e-9  # what sums of shares may be off


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is required of every equivalence class; None where nothing is.

    k: rows. l: different sensitive values; entropy_l: exp of their entropy. recursive: (c, l), r_1 < c (r_l + … + r_m).
    alpha: share of the most frequent value. t: distance to the table's distribution. beta: (p - q) / q. delta:
    |ln(p / q)|. Raises UsageError for what no table could meet or miss.
    """

    k: int | None = None
    l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    alpha: float | None = None
    t: float | None = None
    beta: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is outside a measure's range."""
        for name, least, most in (
            ("k", 1, None), ("l", 1, None), ("entropy_l", 1, None), ("alpha", 0, 1), ("t", 0, 1), ("beta", 0, None),
            ("delta", 0, None),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is None:
                continue
            if not isfinite(value) or value < least or (most is not None and value > most):
                span = f"from {least} to {most}" if most is not None else f"of at least {least}"
                raise UsageError(f"{name} = {value:g} cannot be required; it is a number {span}")
        if self.recursive is not None and not (0 < self.recursive[0] < inf and self.recursive[1] >= 1):
            raise UsageError("recursive takes c,l: a number above 0 and a whole number of at least 1, e.g. 3,4")

    @property
    def asked(self) -> dict[str, Any]:
        """Return what is required, by name."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}

    @property
    def of_values(self) -> dict[str, Any]:
        """Return what is required of sensitive values."""
        return {name: value for name, value in self.asked.items() if name != "k"}


def _pair(value: Any, here: Here) -> tuple[float, int]:
    """Read the two numbers of recursive (c, l)-diversity: a text c,l, or both."""
    if isinstance(value, str):
        first, _, second = value.partition(",")
        try:
            return float(first), int(second)
        except ValueError:
            raise ValueError("is not c,l, for example 3,4") from None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ValueError("is not c and l, for example (3, 4)")
    return number(value[0]), whole_number(value[1])


PAIR = Kind(_pair)


@dataclass(frozen=True)
class Measure:
    """One measure where it is worst, beside what was required; holds: None where nothing was."""

    name: str
    column: str
    found: float | int | None
    required: Any = None
    holds: bool | None = None

    @property
    def required_text(self) -> str:
        """Return what was required, in words."""
        if self.required is None:
            return ""
        if self.name == "recursive":
            return f"below {self.required[0]:g} with l = {self.required[1]}"
        return f"{'>=' if self.name in AT_LEAST else '<='} {self.required:g}"


def judge(name: str, column: str, found: Any, required: Any) -> Measure:
    """Return a measure with whether it reaches what is required."""
    if required is None or found is None:
        return Measure(name, column, found, required)
    if name == "recursive":
        return Measure(name, column, found, required, found < required[0])
    holds = found >= required - ROUNDING if name in AT_LEAST else found <= required + ROUNDING
    return Measure(name, column, found, required, bool(holds))


def failing_condition(name: str, required: Any) -> tuple[str, str, float]:
    """Return column, comparison and bound under which a class misses what is required; entropy is a logarithm."""
    if name == "recursive":
        return "recursion", ">=", float(required[0])
    if name in AT_LEAST:
        return AT_LEAST[name], "<", (log(required) if name == "entropy_l" else required) - ROUNDING
    return AT_MOST[name], ">", required + ROUNDING


def read_measures(column: str, figures: Mapping[str, Any], limits: Limits) -> list[Measure]:
    """Return the measures of one sensitive column from what its classes come to."""
    entropy = figures["entropy"]
    values = {
        "l": figures["distinct_values"],
        "entropy_l": None if entropy is None else exp(entropy),
        **{name: figures[figure] for name, figure in AT_MOST.items()},
    }
    if limits.recursive:
        values["recursive"] = figures["recursion"]
    return [judge(name, column, value, getattr(limits, name)) for name, value in values.items()]
