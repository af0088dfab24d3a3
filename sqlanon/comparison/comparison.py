"""The result of a comparison: a line per candidate, workload and band of selectivity, and what they come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.html_tables import write_paragraphs, write_table
from sqlanon.plain_values import records

if TYPE_CHECKING:
    import pandas as pd

HEADS = ("method", "parameter", "promise", "confidence", "estimator", "workload", "selectivity", "queries",
         "median_relative_error", "mean_relative_error", "coverage", "seconds")  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What methods cost in accuracy on one table.

    answers: a line per candidate and figure asked: query, truth, estimate, low, high, error. lines: a line per
    candidate, workload and band, as HEADS names them. overall: median error and coverage by candidate. summary: two
    sentences. notes: what was left out and why. command: the strongest promise within target_error, '' where none is.
    """

    answers: "pd.DataFrame"
    lines: tuple[Mapping[str, Any], ...]
    overall: tuple[Mapping[str, Any], ...]
    summary: str
    notes: tuple[str, ...] = ()
    target_error: float | None = None
    command: str = ""

    @property
    def holds(self) -> bool:
        """Tell whether a candidate reaches the target, if one was given."""
        return self.target_error is None or bool(self.command)

    def df(self) -> "pd.DataFrame":
        """Return the lines as a frame."""
        import pandas as pd

        return pd.DataFrame(self.lines, columns=list(HEADS))

    def as_plain(self) -> list[dict[str, Any]]:
        """Return the lines as JSON has them."""
        return records(self.df())

    def shown(self) -> tuple[list[str], list[list[Any]]]:
        """Return the lines for people: heads without underscores, a candidate's name on its first line alone."""
        lines: list[list[Any]] = []
        before: Sequence[Any] = ()
        for line in self.lines:
            whole = [line[head] for head in HEADS if head != "estimator"]
            same = whole[:4] == list(before)
            before = whole[:4]
            lines.append(["", "", "", "", *whole[4:-1], ""] if same else whole)
        return [head.replace("_", " ") for head in HEADS if head != "estimator"], lines

    def _repr_html_(self) -> str:
        """Show it in a notebook; names and values are escaped."""
        heads, lines = self.shown()
        return write_table(heads, lines) + write_paragraphs((self.summary, *self.notes))
