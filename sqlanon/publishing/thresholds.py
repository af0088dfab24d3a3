"""Thresholds on what a verification measured: a release that misses one does not become visible."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlanon.errors import UsageError, VerificationError
from sqlanon.plans.manifest import Manifest

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_WRITTEN = re.compile(r"\s*(>=|<=|>|<|=)\s*(\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*\Z")


def _posterior(manifest: Manifest) -> float | None:
    """Return the largest posterior of a release proved class by class, else what its posteriors were held to."""
    found = manifest["verified"].get("classes")
    return found if isinstance(found, int | float) else manifest["guarantee"].get("posterior")


# what a threshold may be about, and where the finished manifest has it
FIGURES: dict[str, Callable[[Manifest], Any]] = {
    "rows": lambda manifest: manifest.get("rows"),
    "groups": lambda manifest: manifest.get("groups"),
    "dropped_rows": lambda manifest: manifest.get("dropped_rows"),
    "dropped_share": lambda manifest: _share(manifest.get("dropped_rows", 0), manifest["rows"]),
    "l": lambda manifest: manifest["verified"].get("diversity"),
    "confidence": lambda manifest: manifest["verified"].get("confidence"),
    "posterior": _posterior,
    "smallest_group": lambda manifest: manifest["verified"].get("smallest_group"),
    "largest_group": lambda manifest: manifest["verified"].get("largest_group"),
    "reconstruction_error_ratio": lambda manifest: manifest["verified"].get("reconstruction_error_ratio"),
}


@dataclass(frozen=True)
class Threshold:
    """Require that a figure stands in a relation to a bound: `rows` `>=` 1000."""

    figure: str
    relation: str
    bound: float

    def __str__(self) -> str:
        """Write the threshold as a job has it."""
        return f"{self.figure} {self.relation} {self.bound:g}"

    def missed(self, manifest: Manifest) -> str | None:
        """Return what was found where it misses the bound; a figure that the method does not measure misses it."""
        found = FIGURES[self.figure](manifest)
        if found is not None and _OPERATORS[self.relation](found, self.bound):
            return None
        return f"{self} is required, found {'no such figure' if found is None else found}"


def threshold(figure: str, text: str) -> Threshold:
    """Read `>= 1000` as a threshold on `figure`; raise UsageError where it is none."""
    if figure not in FIGURES:
        raise UsageError(f"no figure {figure!r}; thresholds are on {', '.join(FIGURES)}")
    match = _WRITTEN.match(text)
    if match is None:
        raise UsageError(f"{text!r} is no threshold; write one of {' '.join(_OPERATORS)} and a number, as in '>= 1000'")
    return Threshold(figure, match[1], float(match[2]))


def require(thresholds: Iterable[Threshold]) -> Callable[[Manifest], None]:
    """Return what raises VerificationError where a finished manifest misses a threshold."""

    def accept(manifest: Manifest) -> None:
        missed = [words for threshold in thresholds if (words := threshold.missed(manifest))]
        if missed:
            raise VerificationError(f"{'; '.join(missed)}: nothing was published")

    return accept


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
