"""Thresholds for what verification finds, and what attacks reach.

A release that misses one is not published. Examples: `rows >= 500`; `attack <= 0.25`: the best scored attack names the
values of at most a quarter of the people; `sure(0.8) <= 0.001`: at most one in a thousand is named with more than 80 %
confidence.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UsageError, VerificationError
from sqlanon.forms import form_of_method
from sqlanon.plans.manifest import Manifest
from sqlanon.removed import removed
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.findings import Attack

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
BOUND = r"\s*(>=|<=|>|<|=)\s*(\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(%?)\s*"
_WRITTEN = re.compile(rf"\s*((\w+)(?:\s*\(([^()]*)\))?){BOUND}")


# figures that verification finds, under the first of these names
_VERIFIED = {
    "l": ("diversity", "l"),
    "confidence": ("confidence", "largest_confidence"),
    **{name: (name,) for name in ("smallest_group", "largest_group", "reconstruction_error_ratio")},
}


def _verified(names: Sequence[str], manifest: Manifest) -> Any:
    return next((manifest["verified"][name] for name in names if name in manifest["verified"]), None)


def _posterior(manifest: Manifest) -> float | None:
    """Return the largest posterior of a release proved class by class, else what its posteriors were held to."""
    posterior = manifest["verified"].get("classes")
    return posterior if isinstance(posterior, int | float) else manifest["guarantee"].get("posterior")


# what a threshold may be about, and where the finished manifest has it
FIGURES: dict[str, Callable[[Manifest], Any]] = {
    "rows": lambda manifest: manifest.get("rows"),
    "groups": lambda manifest: manifest.get("groups"),
    "dropped_rows": lambda manifest: manifest.get("dropped_rows"),
    "dropped_share": lambda manifest: _share(manifest.get("dropped_rows", 0), manifest["rows"]),
    "posterior": _posterior,
    **{figure: functools.partial(_verified, names) for figure, names in _VERIFIED.items()},
}
# the figures that some forms do not tell, by what a form verifies that tells them
_TOLD_BY = {
    **_VERIFIED,
    "groups": ("smallest_group", "boxes"),
    "posterior": ("classes",),
}


# shares of people, for which alone the release is attacked: those whose value the best attack names, scored against the
# source; and those whose value is named with more than a confidence
ATTACK, SURE, CONFIDENCES = "attack", "sure", (0.5, 0.8, 0.95)
_SHARES = {"dropped_share", "confidence", "posterior", ATTACK, SURE}
# what a job's `require` may name
FIGURE = rf"^({'|'.join((*FIGURES, ATTACK))}|{SURE}\(\s*0\.(5|8|95)\s*\))$"


@dataclass(frozen=True)
class Threshold:
    """Require that a figure stands in a relation to a bound: `rows` `>=` 1000; at: the confidence of `sure`."""

    figure: str
    relation: str
    bound: float
    at: float | None = None

    def __str__(self) -> str:
        """Write the threshold as a job has it."""
        at = "" if self.at is None else f"({self.at:g})"
        return f"{self.figure}{at} {self.relation} {self.bound:g}"

    def missed(self, manifest: Manifest, attack: "Callable[[], Attack]") -> str | None:
        """Return what was found where it misses the bound; a figure that the method does not measure misses it."""
        figure, words = self._found(manifest, attack)
        if figure is not None and _OPERATORS[self.relation](figure, self.bound):
            return None
        text = f"{figure:.6g}" if isinstance(figure, float) else figure
        return f"{self} is required, found {'no such figure' if figure is None else text}{words}"

    def _found(self, manifest: Manifest, attack: "Callable[[], Attack]") -> tuple[float | None, str]:
        """Return the figure, None where the method does not measure it, and what is said behind it."""
        if self.figure == SURE:
            by = "".join(f", by {one.name}" for one in attack().told[:1])
            # of nobody who can be looked up, nobody is told
            return attack().surely(self.at or CONFIDENCES[0]) or 0.0, f" of the people{by}"
        if self.figure == ATTACK:
            best, resist = attack().most_named(), option("resist", f"{self.bound:g}")
            words = ": no guess could be scored, for nobody is alone with their quasi values"
            if best is not None:
                words = f" of the people, by {best.attack} ({best.family})"
            if 0 < self.bound <= 1:
                words += f"; sqlanon compare with {resist} looks for a release that withstands"
            return None if best is None else best.reached, words
        return FIGURES[self.figure](manifest), ""


def threshold_of(text: str, method: str) -> Threshold:
    """Read `rows >= 1000`, or `sure(0.8) <= 0.001`; raise UsageError for what is none, or no figure of the method's."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is no threshold; write a figure, one of {' '.join(_OPERATORS)} and a number, as in"
            " 'rows >= 1000'"
        )
    figure, name, at, relation, bound, percent = match.groups()
    if name not in (*FIGURES, ATTACK, SURE) or (at and name != SURE):
        figures = ", ".join((*FIGURES, ATTACK, "sure(CONFIDENCE)"))
        raise UsageError(removed("require", name) or f"no figure {figure.strip()!r}; thresholds are on {figures}")
    told_by = form_of_method(method).figures.keys()
    if name in _TOLD_BY and not told_by & {*_TOLD_BY[name]}:
        told = ", ".join(each for each in FIGURES if each not in _TOLD_BY or told_by & {*_TOLD_BY[each]})
        raise UsageError(f"releases of {method} have no figure {name!r}; beside attacks they have {told}")
    if name == SURE and (at or "").strip() not in map(str, CONFIDENCES):
        raise UsageError("sure needs a confidence, 0.5, 0.8 or 0.95, as in sure(0.8)")
    if percent and name not in _SHARES:
        raise UsageError(f"{name} is no share, of which {bound}% could be required; give a number")
    return Threshold(name, relation, float(bound) / (100 if percent else 1), None if at is None else float(at))


def require(thresholds: Iterable[Threshold], manifest: Manifest, attack: "Callable[[], Attack]") -> None:
    """Raise VerificationError where a finished release misses a threshold; attack: attacks it, where that is asked."""
    once = functools.cache(attack)
    missed = [words for threshold in thresholds if (words := threshold.missed(manifest, once))]
    if missed:
        raise VerificationError(f"{'; '.join(missed)}: nothing was published")


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
