"""Thresholds for what verification finds, what SPLU-Gen promises, and what attacks reach.

A release that misses one is not published. Examples: `rows >= 500`; `off_at_least(3) >= 0.5`, about counts up to a
number; `error_at(1%) <= 0.1`, about counts from a share of the rows on; `attack <= 0.25`: the best scored attack names
the values of at most a quarter of the people; `sure(0.8) <= 0.001`: at most one in a thousand is named with more than
80 % confidence.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UsageError, VerificationError
from sqlanon.forms import form_of, form_of_method
from sqlanon.plans import json_schema
from sqlanon.plans.manifest import Manifest
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
_FIGURE = re.compile(r"(\w+)(?:\(\s*(\d+(?:\.\d+)?)\s*(%?)\s*\))?\Z")
_WHOLE = re.compile(r"\s*(\w+\s*(?:\([^()]*\))?)\s*((?:[<>=]).*)\Z")
WRITTEN = r"\s*(>=|<=|>|<|=)\s*(\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*"
_WRITTEN = re.compile(rf"{WRITTEN}\Z")


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
    **dict.fromkeys(("off_at_least", "error_at"), ("retention",)),
}


# figures of counts that a form's promise speaks of, of the worst of several columns: what each needs to be told
FIGURES_AT = {
    "off_at_least": "the largest small count, as in off_at_least(3)",
    "error_at": "a share of the rows, as in error_at(1%)",
    "sure": "a confidence, 0.5, 0.8 or 0.95, as in sure(0.8)",
}


# shares of people whose value the best attack names, scored against the source; the release is attacked for these alone
ATTACKS = {"attack": "", "attack_learning": "learning", "attack_order": "order"}
# the share of people whose value is named with more than a confidence
SURE, CONFIDENCES = "sure", (0.5, 0.8, 0.95)


_AT = "|".join(FIGURES_AT)
# of what a job's `require` says: the keys, and the texts beside them
THRESHOLDS = {
    "type": "object",
    "propertyNames": json_schema.text(rf"{'|'.join((*FIGURES, *ATTACKS))}|({_AT})\(\s*\d+(\.\d+)?\s*%?\s*\)"),
    "additionalProperties": json_schema.text(WRITTEN),
}


@dataclass(frozen=True)
class Threshold:
    """Require that a figure stands in a relation to a bound: `rows` `>=` 1000; at: which counts the figure is for."""

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
        if self.figure in ATTACKS:
            best, resist = attack().most_named(ATTACKS[self.figure]), option("resist", f"{self.bound:g}")
            words = ": no guess could be scored, for nobody is alone with their quasi values"
            if best is not None:
                words = f" of the people, by {best.attack} ({best.family})"
            if 0 < self.bound <= 1:
                words += f"; sqlanon compare with {resist} looks for a release that withstands"
            return None if best is None else best.reached, words
        if self.at is not None:
            return form_of(manifest).figure_at(self.figure, manifest, self.at), ""
        return FIGURES[self.figure](manifest), ""


def threshold(figure: str, text: str, method: str) -> Threshold:
    """Read `>= 1000` as a threshold on `figure`; raise UsageError where it is none, or no figure of the method's."""
    parts = _FIGURE.match(figure)
    name = parts[1] if parts else ""
    if parts is None or name not in (*FIGURES, *ATTACKS, *FIGURES_AT) or (parts[2] and name not in FIGURES_AT):
        figures = ", ".join((*FIGURES, *ATTACKS, "off_at_least(COUNT)", "error_at(SHARE)", "sure(CONFIDENCE)"))
        raise UsageError(f"no figure {figure!r}; thresholds are on {figures}")
    form = form_of_method(method)
    if name in _TOLD_BY and not form.figures.keys() & {*_TOLD_BY[name]}:
        told = ", ".join(each for each in (*FIGURES, *FIGURES_AT) if form.figures.keys() & {*_TOLD_BY.get(each, ())})
        raise UsageError(f"releases of {method} have no figure {name!r}; beside rows and attacks they have {told}")
    match = _WRITTEN.match(text)
    if match is None:
        number = text.strip() if re.fullmatch(r"\s*\d+(\.\d+)?\s*", text) else "1000"
        raise UsageError(
            f"{text!r} is no threshold; write one of {' '.join(_OPERATORS)} and a number, as in '>= {number}'"
        )
    return Threshold(name, match[1], float(match[2]), _argument(name, parts[2], bool(parts[3])))


def _argument(name: str, number: str | None, percent: bool) -> float | None:
    """Read what a figure is for; raise UsageError where it is missing or out of range."""
    if name not in FIGURES_AT:
        return None
    value = float(number or 0) / (100 if percent else 1)
    from sqlanon.methods.splu.binomial import MOST_SMALL  # numpy is slow to import

    whole = value >= 1 and value == int(value) <= MOST_SMALL
    fits = {"off_at_least": whole, "error_at": 0 < value <= 1, SURE: value in CONFIDENCES}
    if not fits[name]:
        raise UsageError(f"{name} needs {FIGURES_AT[name]}")
    return value


def threshold_of(text: str, method: str) -> Threshold:
    """Read a threshold in one text, `rows >= 1000`; raise UsageError as `threshold` does."""
    return threshold(*split_threshold(text), method)


def split_threshold(text: str) -> tuple[str, str]:
    """Return the figure and the rest of `rows >= 1000`, as a job has them; raise UsageError where it is none."""
    match = _WHOLE.match(text)
    if match is None:
        raise UsageError(f"{text!r} is no threshold; write a figure, a relation and a number, as in 'rows >= 1000'")
    return match[1].strip(), match[2]


def require(thresholds: Iterable[Threshold], manifest: Manifest, attack: "Callable[[], Attack]") -> None:
    """Raise VerificationError where a finished release misses a threshold; attack: attacks it, where that is asked."""
    once = functools.cache(attack)
    missed = [words for threshold in thresholds if (words := threshold.missed(manifest, once))]
    if missed:
        raise VerificationError(f"{'; '.join(missed)}: nothing was published")


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
