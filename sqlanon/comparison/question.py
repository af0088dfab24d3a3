"""What a comparison is asked to do: source, roles, candidates, and how many queries of which sort."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.comparison.workload import WORKLOADS
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.forms import form_of_method
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.base import Strength
from sqlanon.removed import removed
from sqlanon.sql.source import source_of_release
from sqlanon.wording import option

USUAL_METHODS = ("anatomy", "robust", "splu", "mondrian")
USUAL_L: tuple[int, ...] = (5,)
SEARCHED_L = (3, 5, 10)  # where what resists is searched
USUAL_SUPPRESSED = 0.01
LEAST_BOX = 10  # rows of a box of Mondrian, where l asks for no more
USUAL_GAMMA: tuple[int, ...] = (5,)
SEARCHED_GAMMA = (5, 10)
USUAL_QUERIES = 100
MOST_QUERIES = 20_000


@dataclass(frozen=True)
class Candidate:
    """One method with one value of the parameter that sets its promise; background: robust's quasi columns.

    max_suppressed: the share of the rows that robust may leave out. coarsen: quasi columns made coarser, with the rule
    of each. without: quasi columns that are not published.
    """

    method: str
    value: int
    background: tuple[str, ...] = ()
    max_suppressed: float = USUAL_SUPPRESSED
    coarsen: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    without: tuple[str, ...] = field(default=(), repr=False)

    @property
    def strength(self) -> Strength:
        """Return what the value is of."""
        strength = METHODS[self.method].strength
        assert strength is not None, "methods without one are refused before"
        return strength

    @property
    def parameter(self) -> str:
        """Return the parameter as it is shown."""
        lacking = [f"without {' and '.join(self.without)}"] if self.without else []
        return ", ".join([f"{self.strength.parameter} = {self.value}", *self.rules, *lacking])

    @property
    def shown(self) -> str:
        """Return the parameter with what robust's adversary knows."""
        return " by ".join(filter(None, (self.parameter, ", ".join(self.background))))

    def leave_out(self, column: str) -> "Candidate | None":
        """Return the candidate without a quasi column; None where robust's adversary would know none."""
        known = tuple(name for name in self.background if name != column)
        if self.background and not known:
            return None
        rules = tuple(rule for rule in self.coarsen if rule[0] != column)
        return replace(self, background=known, coarsen=rules, without=(*self.without, column))

    def original(self, source: object) -> object:
        """Return the source as a release of it is held against it."""
        return source_of_release(source, dict(self.coarsen))

    def published(self, quasi: Iterable[str]) -> tuple[str, ...]:
        """Return those of the quasi columns that are published."""
        return tuple(name for name in quasi if name not in self.without)

    @property
    def rules(self) -> list[str]:
        """Return what is coarser, as it is typed."""
        return [f"{column}={rule}" for column, rule in self.coarsen]

    @property
    def promise(self) -> str:
        """Return what a release would promise."""
        return self.strength.promise.format(value=self.value, background=", ".join(self.background), rows=self.rows)

    @property
    def estimator(self) -> str:
        """Return the estimator that answers: the default one."""
        return form_of_method(self.method).estimators[0]

    def confidence(self, verified: Mapping[str, Any]) -> float:
        """Return the confidence in anybody's sensitive value that an adversary may reach who knows the quasi values.

        Some promise none: theirs is what the release's own figures (`verified`) show.
        """
        return float(verified[self.strength.verified_figure]) if self.strength.verified_figure else 1 / self.value

    def key(self, seed: int) -> Key:
        """Return the key of its draws: the same of every run, for the release is dropped and nobody gets it."""
        return Key.of(hashlib.sha256(" ".join([str(seed), str(self), *self.rules]).encode()).hexdigest())

    @property
    def rows(self) -> int:
        """Return k of a box of Mondrian."""
        return max(LEAST_BOX, self.value)

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the method's own parameters."""
        parameters: dict[str, Any] = {self.strength.parameter: self.value}
        parameters |= {"k": self.rows} if self.strength.boxed else {}
        if self.background:
            parameters |= {"background_from": (self.background,), "max_suppressed": self.max_suppressed}
        return parameters


@dataclass(frozen=True, kw_only=True)
class CompareQuestion:
    """What to publish in the session, and what to ask of it.

    strengths: values by parameter (l, also robust's r; gamma). queries: how many to draw, as `workload` says, or a file
    of the user's own. target_error: the largest median relative error that is acceptable. resist: the largest share of
    people whose value the best attack may name. quick: nothing is attacked. coarsen: rules by quasi column that
    candidates may use.
    """

    source: object
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: tuple[str, ...] = ()
    methods: tuple[str, ...] = USUAL_METHODS
    strengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    queries: int | Path = USUAL_QUERIES
    seed: int = 1
    target_error: float | None = None
    resist: float | None = None
    quick: bool = False
    max_suppressed: float = USUAL_SUPPRESSED
    workload: str = WORKLOADS[0]
    coarsen: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no data could meet."""
        methods = [name for name, method in METHODS.items() if method.strength is not None]
        unknown = [name for name in self.methods if name not in methods]
        if unknown or not self.methods:
            method = repr(unknown[0]) if unknown else "none"
            mark = METHODS[unknown[0]].lacks.get("compare") if unknown and unknown[0] in METHODS else None
            reason = f", which is not compared: {mark.why}" if mark else ""
            gone = removed("methods", *unknown[:1])
            raise UsageError(gone or f"compared are {', '.join(methods)}; {option('methods')} names {method}{reason}")
        taken = {strength.takes for name in self.methods if (strength := METHODS[name].strength) is not None}
        for name, values in self.strengths.items():
            if name not in taken:
                raise UsageError(f"{option(name)} is for none of {', '.join(self.methods)}: leave it out")
            if not values or any(value < 2 for value in values):
                raise UsageError(f"{option(name)} takes whole numbers of at least 2, for example 3,5,10")
        if isinstance(self.queries, int) and not 1 <= self.queries <= MOST_QUERIES:
            raise UsageError(f"{option('queries')} takes a number from 1 to {MOST_QUERIES:,}, or a file of queries")
        if self.target_error is not None and not 0 < self.target_error < 1:
            raise UsageError(f"{option('target_error')} is a relative error between 0 and 1, for example 0.1")
        if self.resist is not None and not 0 < self.resist <= 1:
            raise UsageError(f"{option('resist')} is a share of people above 0 and at most 1, for example 0.25")
        if self.resist is not None and self.quick:
            raise UsageError(
                f"{option('resist')} is about attacks, and {option('quick', True)} runs none: say one of them"
            )
        if not 0 <= self.max_suppressed < 1:
            raise UsageError(f"{option('max_suppressed')} is a share of the rows below 1, for example 0.03")

    def values_of(self, name: str) -> tuple[int, ...]:
        """Return the values to compare of l or gamma, each once, in their order."""
        of_gamma = USUAL_GAMMA if self.resist is None else SEARCHED_GAMMA
        of_l = USUAL_L if self.resist is None else SEARCHED_L
        usual = [max(value, self.least_value) for value in (of_gamma if name == "gamma" else of_l)]
        return tuple(sorted(set(self.strengths.get(name, usual))))

    @property
    def least_value(self) -> int:
        """Return the least value of a parameter whose promise, 1 in so many, is no more than the target."""
        return 1 if self.resist is None else math.ceil(1 / (self.resist + CLEAR))

    def candidates(self, background: str) -> list[Candidate]:
        """Return what is compared; background: the quasi column whose distribution robust's adversary knows."""
        return [
            Candidate(method, value, (background,) if strength.knows else (), self.max_suppressed)
            for method in dict.fromkeys(self.methods)
            if (strength := METHODS[method].strength) is not None
            for value in self.values_of(strength.takes)
        ]

    def cap(self, candidate: Candidate, error: SqlanonError) -> Candidate | None:
        """Return what is compared in the place of a refused candidate: the largest value that this data allows.

        None where that is not known, or where the user named the value.
        """
        possible = getattr(error, "possible", None)
        if possible is None or possible >= candidate.value or candidate.strength.takes in self.strengths:
            return None
        return replace(candidate, value=possible)
