"""The largest posterior of each row of a release under a known distribution, summarized by size of group."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.adversary.posterior import Array, Mask, Whole, bounds, is_exact, meets_delta, posteriors
from sqlanon.verification.checks import ROUNDING

if TYPE_CHECKING:
    import pandas as pd

POSTERIOR_METHODS = ("one signature", "exact", "bound")
_AT_ONCE = 2**22  # priors of groups looked up together


@dataclass(frozen=True)
class Holding:
    """How often each item (a signature, a value) stands in each group: parallel arrays, a line a pair.

    often: how many groups are like the line's group, itself among them.
    """

    group: Whole
    item: Whole
    count: Whole
    often: Whole

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame") -> "Holding":
        """Take a frame with the columns group_id, item, row_count and often."""
        return cls(*(whole_numbers(frame[name]) for name in ("group_id", "item", "row_count", "often")))

    def sorted(self) -> "Holding":
        """Return the lines by group, and in a group by falling count: equal counts lie alike."""
        order = np.lexsort((self.item, -self.count, self.group))
        return Holding(self.group[order], self.item[order], self.count[order], self.often[order])


_LARGEST_TABLE = 2**22  # at most so many pairs of a signature and a value are laid out for lookup


class Priors:
    """Look up p(s : x) by the numbers of signature and value."""

    def __init__(self, signature: Whole, value: Whole, probability: Array, share: Array, totals: Whole) -> None:
        """Take the listed priors, and for the others each signature's share and each value's rows."""
        self._share, self._totals = share, totals
        self._table: Array | None = None
        if len(share) * len(totals) <= _LARGEST_TABLE:
            self._table = share[:, None] * totals
            self._table[signature, value] = probability
            return
        keys = signature * len(totals) + value
        order = np.argsort(keys)
        self._keys, self._listed = keys[order], probability[order]

    @classmethod
    def from_frames(cls, listed: "pd.DataFrame", share: "pd.DataFrame", tally: "pd.DataFrame") -> "Priors":
        """Take the priors that a background lists, each signature's share, and each value's rows, in any order."""
        return cls(
            whole_numbers(listed["signature_number"]),
            whole_numbers(listed["value_number"]),
            listed["probability"].to_numpy(dtype=float),
            share["share"].to_numpy(dtype=float)[np.argsort(whole_numbers(share["signature_number"]))],
            whole_numbers(tally["row_count"])[np.argsort(whole_numbers(tally["value_number"]))],
        )

    def of(self, signatures: Whole, values: Whole) -> Array:
        """Return the priors G × s × k of groups that hold these signatures (G × s) and values (G × k)."""
        if self._table is not None:
            return self._table[signatures[:, :, None], values[:, None, :]]
        keys = signatures[:, :, None] * len(self._totals) + values[:, None, :]
        # what a signature's listed priors leave over is shared out among the other values as they occur in the release
        rest = self._share[signatures][:, :, None] * self._totals[values][:, None, :]
        if not len(self._keys):
            return rest
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._listed[place], rest)


def whole_numbers(column: "pd.Series[Any]") -> Whole:
    """Return a column of whole numbers as an array of them."""
    # engines hand numbers over as objects or floats where their own type is wider
    return column.to_numpy(dtype=np.int64)


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
            rows = int(line["size"]) * int(line["groups"])
            self.off_delta += int(line["off_delta"])
            self.contradicted += int(line["contradicted"])
            self.prior_above += int(line["prior_above"])
            self.sizes[int(line["size"]), POSTERIOR_METHODS[0]] = {
                "groups": int(line["groups"]),
                "rows": rows,
                "largest_posterior": float(line["largest_posterior"]),
                "rows_above": int(line["rows_above"]),
            }

    def add(self, signatures: Holding, values: Holding, priors: Priors) -> None:
        """Add groups of several signatures; both holdings hold the same groups, each with as many rows as values."""
        for (items, rows), (held, counts), often in _group_by_shape(signatures.sorted(), values.sorted()):
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
        size = rows.sum(axis=1)
        worst, above = largest.max(axis=1), (rows * (largest > limit)).sum(axis=1)
        for kind in np.unique(np.stack((size, method)), axis=1).T:
            some = (size == kind[0]) & (method == kind[1])
            line = self.sizes.setdefault(
                (int(kind[0]), POSTERIOR_METHODS[kind[1]]),
                {"groups": 0, "rows": 0, "largest_posterior": 0.0, "rows_above": 0},
            )
            line["groups"] += int(often[some].sum())
            line["rows"] += int((often * size)[some].sum())
            line["largest_posterior"] = max(line["largest_posterior"], float(worst[some].max()))
            line["rows_above"] += int((often * above)[some].sum())

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
    first, wide = _starts(signatures)
    second, many = _starts(values)
    shape = np.stack((wide, many))
    for width, number in np.unique(shape, axis=1).T:
        some = np.flatnonzero((wide == width) & (many == number))
        signature_places = first[some][:, None] + np.arange(width)
        value_places = second[some][:, None] + np.arange(number)
        yield (
            (signatures.item[signature_places], signatures.count[signature_places]),
            (values.item[value_places], values.count[value_places]),
            signatures.often[first[some]],
        )


def _starts(holding: Holding) -> tuple[Whole, Whole]:
    # the lines lie group by group
    start = np.flatnonzero(np.diff(holding.group, prepend=holding.group[:1] - 1))
    return start, np.diff(start, append=len(holding.group))


def _largest_posteriors(priors: Array, rows: Whole, counts: Whole) -> tuple[Array, Mask, Whole]:
    """Return each signature's largest posterior (G × s), which groups are contradicted, and how it was found."""
    largest = np.empty(rows.shape)
    contradicted: Mask = priors.max(axis=1).min(axis=1) <= 0
    method = np.full(len(rows), POSTERIOR_METHODS.index("exact"))
    for some in _of_one_shape(np.concatenate((rows, counts), axis=1)):
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


def _of_one_shape(shapes: Whole) -> list[Whole]:
    """Return the places of equal lines, a list for each different line."""
    if (shapes == shapes[:1]).all():
        return [np.arange(len(shapes))]
    _, which, length = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
    return np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(length)[:-1])
