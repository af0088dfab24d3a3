"""The largest posterior of each row of a release under a known distribution, summarized by size of group."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sqlanon.adversary.posterior import Array, Mask, Whole, bounds, is_exact, meets_delta, posteriors
from sqlanon.verification.checks import ROUNDING

POSTERIOR_METHODS = ("one signature", "exact", "bound")
_AT_ONCE = 2**22  # priors of groups looked up together


class Holding(NamedTuple):
    """How often each item (a signature, a value) stands in each group: parallel arrays, a line a pair.

    The lines lie by group, and in a group by falling count: equal counts lie alike. often: how many groups are like the
    line's group, itself among them.
    """

    group: Whole
    item: Whole
    row_count: Whole
    often: Whole

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> "Holding":
        """Take arrays of numbers: group_id, item, row_count and often."""
        return cls(*(column.astype(np.int64) for column in arrays.values()))


class Priors:
    """Look up p(s : x) by the numbers of signature and value."""

    def __init__(self, listed: Mapping[str, Any], share: Any, totals: Any) -> None:
        """Take the listed priors, and for the others each signature's share and each value's rows, by number."""
        keys = listed["signature_number"].astype(np.int64) * len(totals) + listed["value_number"].astype(np.int64)
        order = np.argsort(keys)
        self._keys, self._listed = keys[order], listed["probability"][order].astype(float)
        self._share, self._totals = share.astype(float), totals.astype(float)  # engines hand decimals over as objects

    def of(self, signatures: Whole, values: Whole) -> Array:
        """Return the priors G × s × k of groups that hold these signatures (G × s) and values (G × k)."""
        keys = signatures[:, :, None] * len(self._totals) + values[:, None, :]
        # what a signature's listed priors leave over is shared out among the other values as they occur in the release
        rest: Array = self._share[signatures][:, :, None] * self._totals[values][:, None, :]
        if not len(self._keys):
            return rest
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        priors: Array = np.where(self._keys[place] == keys, self._listed[place], rest)
        return priors


@dataclass
class Exposure:
    """Count rows by their largest posterior, and how many are above the limit 1/r."""

    r: float
    sizes: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    off_delta: int = 0
    contradicted: int = 0
    prior_above: int = 0

    def add_alone(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add groups of one signature, which SQL counted by their size."""
        for line in lines:
            self.off_delta += int(line["off_delta"])
            self.contradicted += int(line["contradicted"])
            self.prior_above += int(line["prior_above"])
            size, groups = int(line["size"]), int(line["groups"])
            self._count(size, POSTERIOR_METHODS[0], groups, line["largest_posterior"], line["rows_above"])

    def _count(self, size: int, method: str, groups: int, largest: float, above: int) -> None:
        line = self.sizes.setdefault(
            (size, method), {"groups": 0, "rows": 0, "largest_posterior": 0.0, "rows_above": 0}
        )
        line["groups"] += groups
        line["rows"] += size * groups
        line["largest_posterior"] = max(line["largest_posterior"], float(largest))
        line["rows_above"] += int(above)

    def add(self, signatures: Holding, values: Holding, priors: Priors) -> None:
        """Add groups of several signatures; both holdings hold the same groups, each with as many rows as values."""
        for (items, rows), (held, counts), often in _group_by_shape(signatures, values):
            most = max(1, _AT_ONCE // (items.shape[1] * held.shape[1]))
            for start in range(0, len(often), most):
                some = slice(start, start + most)
                self._add(priors.of(items[some], held[some]), rows[some], counts[some], often[some])

    def _add(self, priors: Array, rows: Whole, counts: Whole, often: Whole) -> None:
        """Add groups with as many different signatures and values; `often` counts each group's equals."""
        limit = 1 / self.r + ROUNDING
        self.off_delta += int(often[~meets_delta(priors, self.r, counts, rows)].sum())
        self.prior_above += int((often[:, None] * rows * (priors.max(axis=2) > limit)).sum())
        largest, contradicted, method = _largest_posteriors(priors, rows, counts)
        self.contradicted += int(often[contradicted].sum())
        size, above = rows.sum(axis=1), often * (rows * (largest > limit)).sum(axis=1)
        for length, number in np.unique(np.stack((size, method)), axis=1).T:
            some = (size == length) & (method == number)
            by, groups = POSTERIOR_METHODS[number], int(often[some].sum())
            self._count(int(length), by, groups, largest[some].max(), above[some].sum())

    def figures(self) -> dict[str, Any]:
        """Return what was counted, with a line for each size of group and each method."""
        sizes = [{"size": size, **self.sizes[size, by], "method": by} for size, by in sorted(self.sizes)]
        rows, above = (sum(line[name] for line in sizes) for name in ("rows", "rows_above"))
        worst = max(sizes, key=lambda line: line["largest_posterior"], default=None)
        return {
            "largest_posterior": worst["largest_posterior"] if worst else 0.0,
            "largest_by": worst["method"] if worst else POSTERIOR_METHODS[0],
            "limit": 1 / self.r,
            "rows": rows,
            "rows_above": above,
            "share_above": above / rows if rows else 0.0,
            **{
                f"rows_{by.replace(' ', '_')}": sum(x["rows"] for x in sizes if x["method"] == by)
                for by in POSTERIOR_METHODS
            },
            "rows_prior_above": self.prior_above,
            "groups": sum(line["groups"] for line in sizes),
            "groups_off_delta": self.off_delta,
            "groups_contradicted": self.contradicted,
            "sizes": sizes,
        }


def _group_by_shape(
    signatures: Holding, values: Holding
) -> Iterator[tuple[tuple[Whole, Whole], tuple[Whole, Whole], Whole]]:
    """Yield groups with as many different signatures and values: items and counts, a line a group, and how often."""
    (first, wide), (second, many) = _starts(signatures), _starts(values)
    for width, number in np.unique(np.stack((wide, many)), axis=1).T:
        some = np.flatnonzero((wide == width) & (many == number))
        places = first[some][:, None] + np.arange(width)
        others = second[some][:, None] + np.arange(number)
        often = signatures.often[first[some]]
        yield (
            (signatures.item[places], signatures.row_count[places]),
            (values.item[others], values.row_count[others]),
            often,
        )


def _starts(holding: Holding) -> tuple[Whole, Whole]:
    start = np.flatnonzero(np.diff(holding.group, prepend=holding.group[:1] - 1))
    return start, np.diff(start, append=len(holding.group))


def _largest_posteriors(priors: Array, rows: Whole, counts: Whole) -> tuple[Array, Mask, Whole]:
    """Return each signature's largest posterior (G × s), which groups are contradicted, and how it was found."""
    largest = np.empty(rows.shape)
    contradicted: Mask = priors.max(axis=1).min(axis=1) <= 0
    method = np.full(len(rows), POSTERIOR_METHODS.index("exact"))
    _, which, length = np.unique(
        np.concatenate((rows, counts), axis=1), axis=0, return_inverse=True, return_counts=True
    )
    for some in np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(length)[:-1]):  # groups of one shape
        row_counts, value_counts = rows[some[0]].tolist(), counts[some[0]].tolist()
        if is_exact(row_counts, value_counts, len(some)):
            exact = posteriors(priors[some], value_counts, row_counts)
            largest[some], contradicted[some] = exact.probability.max(axis=2), exact.contradicted
        else:
            method[some] = POSTERIOR_METHODS.index("bound")
    large = np.flatnonzero(method == POSTERIOR_METHODS.index("bound"))
    if len(large):
        bound = bounds(priors[large], counts[large], rows[large])
        largest[large], contradicted[large] = bound.probability.max(axis=2), bound.contradicted
    return largest, contradicted, method
