"""What a check is about, and the limits that a table must meet: before any database was looked at."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import exp, inf, log
from typing import Any

from sqlanon.adversary.given_away import USUAL_SIZE
from sqlanon.errors import UsageError
from sqlanon.models.values import Here, Kind, number, whole_number
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.roles import TWO_ROLES, resolve_names, split_columns
from sqlanon.wording import option

# measure → the column that holds it for a class; some are to be large, some small
AT_LEAST = {"k": "class_size", "l": "distinct_values", "entropy_l": "entropy"}
AT_MOST = {"alpha": "largest_share", "t": "distance", "beta": "likeness", "delta": "disclosure"}
ROUNDING = 1e-9  # what sums of shares may be off
MOST_QUASI = 12  # columns whose pairs are all looked at


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is required of every equivalence class; None where nothing is.

    k: rows. l: different sensitive values; entropy_l: exp of their entropy. recursive: (c, l), r_1 < c (r_l + … + r_m).
    alpha: share of the most frequent value. t: distance to the table's distribution. beta: (p - q) / q. delta:
    |ln(p / q)|.
    """

    k: int | None = None
    l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    alpha: float | None = None
    t: float | None = None
    beta: float | None = None
    delta: float | None = None

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
    try:
        c, l = value.split(",") if isinstance(value, str) else value
        pair = (float(c), int(l)) if isinstance(value, str) else (number(c), whole_number(l))
    except (TypeError, ValueError):
        pair = (0, 0)
    if not (0 < pair[0] < inf and pair[1] >= 1):
        raise ValueError("is not c,l: a number above 0 and a whole number of at least 1, e.g. 3,4")
    return pair


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


@dataclass(frozen=True, kw_only=True)
class CheckQuestion:
    """A source, the roles of its columns as far as they are known, what is required, and what is known of a population.

    population: a table with the quasi columns, of which the source is a part. sampled: the share of the population that
    the source is. coarsen: rules by quasi column, as for a release. subsets: how many quasi columns are looked at
    together at most.
    Any role may be empty; without quasi columns the columns are described and roles suggested.
    """

    source: object
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    population: object = None
    sampled: float | None = None
    coarsen: Mapping[str, str] = field(default_factory=dict)
    subsets: int | None = None

    def resolved(self, columns: Collection[str]) -> "CheckQuestion":
        """Return the question with columns spelled as the source has them; raise UsageError for what cannot be."""
        roles = {
            option(name): resolve_names(columns, split_columns(getattr(self, role), columns))
            for name, role in (("quasi", "quasi"), ("sensitive", "sensitive"), ("id", "identifier"))
        }
        roles_by_name: dict[str, str] = {}
        for role, names in roles.items():
            for name in names:
                if name in roles_by_name:
                    raise UsageError(TWO_ROLES.format(column=repr(name), one=roles_by_name[name], other=role))
                roles_by_name[name] = role
        quasi, sensitive, identifier = roles.values()
        of_population = self.population is not None or self.sampled is not None
        needs_quasi = self.coarsen or of_population or (self.limits.asked and not (sensitive or self.subsets))
        if needs_quasi and not quasi:
            raise UsageError(f"classes are made by quasi columns; name them with {option('quasi')}")
        if self.limits.of_values and not sensitive:
            name = next(iter(self.limits.of_values))
            raise UsageError(f"{name} is about sensitive values; name their column with {option('sensitive')}")
        if self.population is not None and self.sampled is not None:
            raise UsageError(f"say {option('population')} or {option('sampled')}, not both: one tells the other")
        if len(quasi) > MOST_QUASI:
            raise UsageError(
                f"at most {MOST_QUASI} quasi columns are checked, pair by pair; {option('quasi')} names {len(quasi)}"
            )
        return replace(self, quasi=quasi, sensitive=sensitive, identifier=identifier)

    @property
    def names(self) -> dict[str, str]:
        """Return published name → the name of ours under which it is read, which no column of the user's meets."""
        roles = {"quasi": self.quasi, "value": self.sensitive, "identifier": self.identifier}
        return {name: f"{role}_{n}" for role, names in roles.items() for n, name in enumerate(names, start=1)}

    def ours(self, names: Sequence[str]) -> list[str]:
        """Return columns under our names."""
        ours = self.names
        return [ours[name] for name in names]

    def class_values(self, column: str) -> Chapter:
        """Return the chapter that counts a sensitive column's values in the classes; it reads `microdata`."""
        return Chapter("check/columns/class_value", {"quasi": self.ours(self.quasi), "value": self.names[column]})

    def classes(self, k: int) -> Chapter:
        """Return the chapter of the classes, which reads `class_value` of a sensitive column where there is one."""
        values = {"quasi": self.ours(self.quasi), "counted": bool(self.sensitive), "k": k}
        return Chapter("check/classes", {**values, "identifiers": self.ours(self.identifier)})

    def measures(self, ordered: bool) -> Chapter:
        """Return the chapter that measures a sensitive column; ordered: whether t is by the order of its values."""
        recursive = self.limits.recursive[1] if self.limits.recursive else None
        values = {"quasi": self.ours(self.quasi), "ordered": ordered, "recursive": recursive}
        values["l"] = self.limits.l or USUAL_SIZE
        return Chapter("check/measures", values)
