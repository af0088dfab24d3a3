"""What the groups of a release give away to a known distribution: every row's largest posterior, counted up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlanon.adversary.posterior import Array, Mask, Whole, is_exact, posteriors
from sqlanon.adversary.posterior_bounds import bounds, meets_delta

SLACK = 1e-12  # what rounding may add to a posterior of exactly 1/r
SEVERAL = "each background by itself: who combines them is met only by one over all their columns"
METHODS = ("one signature", "exact", "bound")
_AT_ONCE = 2**22  # priors of groups looked up together


@dataclass(frozen=True)
class Holding:
    """How often each item (a signature, a value) stands in each group: parallel arrays, a line a pair."""

    group: Whole
    item: Whole
    count: Whole

    def sorted(self) -> "Holding":
        """Return the lines by group, and in a group by falling count and item: equal groups look alike."""
        order = np.lexsort((self.item, -self.count, self.group))
        return Holding(self.group[order], self.item[order], self.count[order])


class Priors:
    """Look up p(s : x) by the numbers of signature and value."""

    def __init__(self, signature: Whole, value: Whole, probability: Array, share: Array, totals: Whole) -> None:
        """Take the listed priors, and for the others each signature's share and each value's rows."""
        keys = signature * len(totals) + value
        order = np.argsort(keys)
        self._keys, self._listed = keys[order], probability[order]
        self._share, self._totals = share, totals

    def of(self, signatures: Whole, values: Whole) -> Array:
        """Return the priors G × s × k of groups that hold these signatures (G × s) and values (G × k)."""
        wanted = signatures[:, :, None] * len(self._totals) + values[:, None, :]
        rest = self._share[signatures][:, :, None] * self._totals[values][:, None, :]
        if not len(self._keys):
            return rest
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, self._listed[place], rest)


@dataclass
class Exposure:
    """Count up what groups give away, seen against the limit 1/r."""

    r: float
    sizes: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    off_delta: int = 0
    contradicted: int = 0
    prior_above: int = 0

    def add(self, signatures: Holding, values: Holding, priors: Priors) -> None:
        """Add groups; both holdings hold the same groups, each with as many rows as values."""
        for held, given in _alike(signatures.sorted(), values.sorted()):
            group, often = np.unique(np.concatenate((*held, *given), axis=1), axis=0, return_counts=True)
            wide, many = held[0].shape[1], given[0].shape[1]
            most = max(1, _AT_ONCE // (wide * many))
            for start in range(0, len(group), most):
                parts = np.split(group[start : start + most], np.cumsum((wide, wide, many)), axis=1)
                item, rows, value, counts = parts
                self._add(priors.of(item, value), rows, counts, often[start : start + most])

    def _add(self, priors: Array, rows: Whole, counts: Whole, often: Whole) -> None:
        """Add groups with as many different signatures and values; `often` counts each group's equals."""
        limit = 1 / self.r + SLACK
        self.off_delta += int(often[~meets_delta(priors, self.r, counts, rows)].sum())
        self.prior_above += int((often[:, None] * rows * (priors.max(axis=2) > limit)).sum())
        found, contradicted, method = _posteriors(priors, rows, counts)
        self.contradicted += int(often[contradicted].sum())
        size = rows.sum(axis=1)
        largest, above = found.max(axis=1), (rows * (found > limit)).sum(axis=1)
        for kind in np.unique(np.stack((size, method)), axis=1).T:
            some = (size == kind[0]) & (method == kind[1])
            line = self.sizes.setdefault(
                (int(kind[0]), METHODS[kind[1]]), {"groups": 0, "rows": 0, "largest_posterior": 0.0, "rows_above": 0}
            )
            line["groups"] += int(often[some].sum())
            line["rows"] += int((often * size)[some].sum())
            line["largest_posterior"] = max(line["largest_posterior"], float(largest[some].max()))
            line["rows_above"] += int((often * above)[some].sum())

    def figures(self) -> dict[str, Any]:
        """Return what was counted, with a line for each size of group and each method."""
        sizes = [{"size": size, **self.sizes[size, by], "method": by} for size, by in sorted(self.sizes)]
        rows, above = (sum(line[name] for line in sizes) for name in ("rows", "rows_above"))
        worst = max(sizes, key=lambda line: line["largest_posterior"], default=None)
        return {
            "largest_posterior": worst["largest_posterior"] if worst else 0.0,
            "largest_by": worst["method"] if worst else METHODS[0],
            "limit": 1 / self.r,
            "rows": rows,
            "rows_above": above,
            "share_above": above / rows if rows else 0.0,
            **{f"rows_{by.replace(' ', '_')}": sum(x["rows"] for x in sizes if x["method"] == by) for by in METHODS},
            "rows_prior_above": self.prior_above,
            "groups": sum(line["groups"] for line in sizes),
            "groups_off_delta": self.off_delta,
            "groups_contradicted": self.contradicted,
            "sizes": sizes,
        }


def _alike(signatures: Holding, values: Holding) -> Iterator[tuple[tuple[Whole, Whole], tuple[Whole, Whole]]]:
    """Yield groups with as many different signatures and values: items and counts, a line a group."""
    first, wide = _starts(signatures)
    second, many = _starts(values)
    shape = np.stack((wide, many))
    for width, number in np.unique(shape, axis=1).T:
        some = np.flatnonzero((wide == width) & (many == number))
        one = first[some][:, None] + np.arange(width)
        other = second[some][:, None] + np.arange(number)
        yield (signatures.item[one], signatures.count[one]), (values.item[other], values.count[other])


def _starts(held: Holding) -> tuple[Whole, Whole]:
    _, start, length = np.unique(held.group, return_index=True, return_counts=True)
    return start, length


def _posteriors(priors: Array, rows: Whole, counts: Whole) -> tuple[Array, Mask, Whole]:
    """Return each signature's largest posterior (G × s), which groups are contradicted, and how it was found."""
    found = np.empty(rows.shape)
    contradicted: Mask = priors.max(axis=1).min(axis=1) <= 0
    if rows.shape[1] == 1:  # rows that the adversary cannot tell apart
        return counts.max(axis=1, keepdims=True) / rows, contradicted, np.zeros(len(rows), dtype=np.int64)
    method = np.full(len(rows), METHODS.index("exact"))
    for some in _of_one_shape(np.concatenate((rows, counts), axis=1)):
        held, given = rows[some[0]].tolist(), counts[some[0]].tolist()
        if is_exact(held, given, len(some)):
            told = posteriors(priors[some], given, held)
            found[some], contradicted[some] = told.probability.max(axis=2), told.contradicted
        else:
            method[some] = METHODS.index("bound")
    large = np.flatnonzero(method == METHODS.index("bound"))
    if len(large):
        told = bounds(priors[large], counts[large], rows[large])
        found[large], contradicted[large] = told.probability.max(axis=2), told.contradicted
    return found, contradicted, method


def _of_one_shape(shapes: Whole) -> list[Whole]:
    """Return the places of equal lines, a list for each different line."""
    _, which, length = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
    return np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(length)[:-1])


def table(found: Mapping[str, Any], promise: str) -> tuple[str, list[str], list[list[object]], list[str]]:
    """Return a title, heads, rows and closing lines that say to people what one background makes of a release.

    promise: in words, what was promised or asked.
    """
    known, bound = ", ".join(found["attributes"]), found["largest_by"] == "bound"
    title = (
        f"{promise}, an adversary who knows {found['background']}'s distribution (by {known}) reaches"
        f" {'at most ' if bound else ''}{_percent(found['largest_posterior'])}"
    )
    heads = ["group size", "groups", "rows", "largest posterior", f"rows above {_percent(found['limit'])}", "method"]
    names = ("size", "groups", "rows", "largest_posterior", "rows_above", "method")
    rows = [[line[name] for name in names] for line in found["sizes"]]
    closing = [
        f"{found['rows_above']:,} of {found['rows']:,} rows ({found['share_above']:.1%}) are above"
        f" {_percent(found['limit'])}; {found['rows_prior_above']:,} have a prior above it already",
        f"{found['groups_off_delta']:,} of {found['groups']:,} groups miss the paper's delta condition;"
        f" {found['groups_contradicted']:,} contradict the distribution",
    ]
    if found["unknown_values"]:
        closing.append(f"{found['unknown_values']:,} values that the table lists stand nowhere in the release")
    if found["rows_bound"]:
        closing.append(
            f"{found['rows_bound']:,} rows are in groups too large for exact posteriors: theirs are upper bounds"
        )
    return title, heads, rows, closing


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
