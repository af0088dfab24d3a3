"""What a release promises, as the confidence of an adversary who can exclude j values of a group.

Anatomy and its kin promise one number. Different values among the rows of a group promise a weaker one: where n rows
hold l different values and j of them are excluded, l - 1 - j values of one row each may be all that is left beside the
one that is named, so that it is held by n - (l - 1) of n - j rows. Where cells are sets of alternatives, the l weights
may all stand in one row: the named value then has n - 1 + 1 / l of n - j / l.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Promise:
    """What is promised of the confidence in anybody's value, None where nothing is.

    excluding: by how many values an adversary can exclude, from none on. why: the words for where this comes from,
    empty where the release says the number itself.
    """

    excluding: tuple[float | None, ...]
    why: str = ""

    @property
    def plain(self) -> float | None:
        """Return what is promised against who can exclude nothing."""
        return self.excluding[0]


def promise_of(manifest: Mapping[str, Any], largest: int | None) -> Promise:
    """Return what a manifest promises; largest: rows of the largest group that the promise speaks of, None: none."""
    promises, parameters, columns = manifest["guarantee"], manifest["parameters"], manifest["columns"]
    if "gamma" in parameters:  # randomized: a row keeps its value with probability 1 / gamma
        gamma = parameters["gamma"]
        return Promise((1 / (gamma[columns["sensitive"][0]] if isinstance(gamma, dict) else gamma),))
    l = int(parameters["l"])
    excluded = range(max(l - 1, 1))
    if "k" not in promises:
        return Promise(tuple(float(promises.get("confidence", 1 / l)) for _ in excluded))
    if l < 2 or not largest:
        return Promise(tuple(None for _ in excluded))
    sets = len(columns.get("values", ())) > 1
    bounds = tuple(_largest_of_sets(largest, l, j) if sets else 1 - (l - 1 - j) / (largest - j) for j in excluded)
    what = "weights" if "threshold" in parameters else "values"
    rows = f"{l} different {what} in groups of up to {largest:,} rows"
    return Promise(bounds, f"{rows} leave a confidence of up to {bounds[0]:.1%}, and no more is promised")


def _largest_of_sets(size: int, l: int, excluded: int) -> float:
    return (size - 1 + 1 / l) / (size - excluded / l)
