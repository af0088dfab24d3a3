"""The answer of a query: numbers by name, and messages about them; a data frame is made only if one is asked for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.estimators.evidence import Array, BoolArray

if TYPE_CHECKING:
    import pandas as pd

OVER_NO_ROW = "{columns}: {count} of {answers} answers are empty, for SUM, AVG and quantiles over no row are NULL"
NO_ERROR_BAR = "{columns}: {estimator} gives no error bars, for its error is a bias that the release does not tell"
ENDS = ("std_error", "low", "high")
BIASED = ("uniform", "iterative")  # estimators that know no error of theirs


@dataclass
class Answered:
    """A row per answer.

    columns: arrays of one length by name, or the frame that a database put keys and order to. messages: texts about the
    answer; warnings: those of them that warn. keys: the columns that are no figures, in which NULL is a value.
    """

    columns: "Mapping[str, Array] | pd.DataFrame"
    messages: Sequence[str]
    warnings: Sequence[str]
    keys: Collection[str] = ()

    def tell_missing(self, name: str) -> BoolArray:
        """Tell which figures of a column are NULL."""
        column = np.asarray(self.columns[name])
        if column.dtype.kind == "M":
            return np.asarray(np.isnat(column))
        if column.dtype.kind == "O":  # of times, as some databases' drivers give them, beside None or NaT
            import pandas as pd

            return np.asarray(pd.isna(column))
        return np.asarray(np.isnan(column.astype(float)))

    def tell_blank_cells(self, estimator: str) -> None:
        """Add to the messages why values and error bars are missing.

        Of each aggregate x there are columns x_std_error, x_low, x_high as well.
        """
        names = list(self.columns.keys())
        measured = [name for name in names if {f"{name}_{end}" for end in ENDS} <= set(names)]
        empty, bare = dict[int, list[str]](), list[str]()
        for name in measured:
            missing = self.tell_missing(name)
            answers = len(missing)
            empty.setdefault(int(missing.sum()), []).append(name)
            if estimator in BIASED and (self.tell_missing(f"{name}_std_error") & ~missing).any():
                bare.append(name)
        messages = [
            OVER_NO_ROW.format(columns=", ".join(names), count=count, answers=answers)
            for count, names in empty.items()
            if count
        ]
        messages += [NO_ERROR_BAR.format(columns=", ".join(bare), estimator=estimator)] if bare else []
        self.messages = [*self.messages, *messages]

    def df(self) -> "pd.DataFrame":
        """Return a frame whose `attrs` hold what is said."""
        import pandas as pd

        columns = self.columns
        frame = columns if isinstance(columns, pd.DataFrame) else pd.DataFrame(dict(columns))
        frame.attrs["messages"], frame.attrs["warnings"] = list(self.messages), list(self.warnings)
        return frame
