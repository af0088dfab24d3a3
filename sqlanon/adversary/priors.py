"""The prior probability of each value given each signature, for values that a background lists and for others."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.adversary.posterior import Array, Whole

if TYPE_CHECKING:
    import pandas as pd

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
