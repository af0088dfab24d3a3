"""The result of a comparison: a line for each candidate, workload and band of selectivity, and a summary."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.charts.figure import write_figure
from sqlanon.charts.lines import Bar, write_bars
from sqlanon.plain_values import plain, records
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Section, Verdict, write_card, write_summary

if TYPE_CHECKING:
    import pandas as pd

HEADS = ("method", "parameter", "promise", "confidence", "estimator", "workload", "selectivity", "queries",
         "median_relative_error", "mean_relative_error", "coverage", "seconds")  # fmt: skip

NOT_POSSIBLE = "not possible"
SMALL = 10  # rows: what the papers call small counts
BANDS = ((0.005, "up to 0.5 %"), (0.01, "0.5 to 1 %"), (0.05, "1 to 5 %"), (math.inf, "above 5 %"))
SMALL_COUNTS, OTHERS = f"1 to {SMALL} rows", "sums, averages"
ORDER = (SMALL_COUNTS, *(name for _, name in BANDS), OTHERS)
CANDIDATE = (
    *("method", "parameter", "knowing", "reached", "sure", "family", "promised", "left_out", "error"),
    *("half_width", "coverage", "unanswered", "seconds"),
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """What methods cost in accuracy on one table.

    answers: a line per candidate and figure asked: query, truth, estimate, low, high, error. lines: a line per
    candidate, workload and band, as HEADS names them. overall: error and coverage by candidate. summary: two
    sentences. notes: what was left out and why. command: what publishes the strongest promise within target_error or,
    with resist, the most accurate release that resists; without either the most accurate one of which attacks reach no
    more than it promises, else the one of which they reach least; '' where none is.
    failed: method, parameter and reason of each candidate that this data does not allow.
    """

    answers: "pd.DataFrame"
    lines: tuple[Mapping[str, Any], ...]
    overall: tuple[Mapping[str, Any], ...]
    summary: str
    notes: tuple[str, ...] = ()
    target_error: float | None = None
    resist: float | None = None
    command: str = ""
    failed: tuple[tuple[str, str, str], ...] = ()

    @property
    def holds(self) -> bool:
        """Tell whether a candidate reaches the targets, if any was given."""
        return (self.target_error is None and self.resist is None) or bool(self.command)

    def df(self) -> "pd.DataFrame":
        """Return the lines as a frame."""
        import pandas as pd

        return pd.DataFrame(self.lines, columns=list(HEADS))

    def candidates(self) -> list[dict[str, Any]]:
        """Return a line per candidate: method, parameter, what attacks reach and the promise, error, share left out.

        sure: the share of the people whose value is told with more than 80 % confidence, `told` in what is shown.
        """
        renamed = {"method": "candidate", "promised": "confidence"}
        return [{name: line[renamed.get(name, name)] for name in CANDIDATE} for line in self.overall]

    def as_plain(self) -> dict[str, Any]:
        """Return it as JSON has it: the proposal's command ('' where none is), a line per candidate, and all lines."""
        return {
            "command": self.command,
            "holds": self.holds,
            "summary": self.summary,
            "candidates": plain(self.candidates()),
            "lines": records(self.df()),
            "not_possible": [dict(zip(("method", "parameter", "reason"), each, strict=True)) for each in self.failed],
            "notes": list(self.notes),
        }

    def shown(self) -> tuple[list[str], list[list[Any]]]:
        """Return a line per candidate for people: what it promises and costs, and what attacks reach, if any were run.

        The most accurate one comes first, of those that resist; what this data does not allow comes last, as notes say.
        """
        attacked = any(line["reached"] is not None for line in self.overall)
        shorter = any(line["unanswered"] > 0 for line in self.overall)
        lines: list[list[Any]] = []
        for line in self.overall:
            known = f" by {line['knowing']}" if line["knowing"] else ""
            first = [line["candidate"], f"{line['parameter']}{known}", _percent(line["confidence"])]
            at_least = "≥ " if line["at_least"] else ""
            reached = [at_least + _percent(line["reached"]), _percent(line["sure"], 2), _percent(line["left_out"], 2)]
            costs = [line["error"], line["coverage"], *([line["unanswered"]] if shorter else ())]
            lines.append([*first, *(reached if attacked else ()), *map(_percent, costs)])
        heads = ["method", "parameter", "promise", *(["best attack", "told", "left out"] if attacked else ())]
        heads += ["error", "coverage", *(["unanswered"] if shorter else ())]
        blank = [""] * (len(heads) - 3)
        return heads, lines + [[method, parameter, NOT_POSSIBLE, *blank] for method, parameter, _ in self.failed]

    @property
    def verdict(self) -> Verdict:
        """Return what it comes to: green where a candidate is proposed, red where none reaches the targets."""
        return Verdict(self.summary, "green" if self.command else "" if self.holds else "red")

    def sections(self) -> list[Section]:
        """Return what is shown below the verdict: attacks and errors as bars, the candidates, all else folded."""
        lines = ([line[head] for head in HEADS] for line in self.lines)
        return [
            Section("Risk and error of each candidate", self._draw(), folded=False),
            Section("The candidates, the most accurate one first", write_table(*self.shown()), folded=False),
            Section("Every figure", write_table([head.replace("_", " ") for head in HEADS], lines)),
            Section("What was left out, and why", write_paragraphs(self.notes)),
        ]

    def _draw(self) -> str:
        """Return a bar for each candidate that was attacked: what is reached beside the promise, and the error."""
        bars = [
            Bar(
                f"{line['candidate']}, {line['parameter']}", line["reached"],
                f"{_percent(line['reached'])}, error {_percent(line['error']) or 'not asked'}",
                line["confidence"], above=line["reached"] > line["confidence"] + CLEAR,
            )
            for line in self.overall if line["reached"] is not None
        ]  # fmt: skip
        caption = "The share of people whose value the best attack names, the promise, and the error of answers"
        return write_figure(write_bars(bars, ("within the promise", "beyond it"), end=1.0), caption) if bars else ""

    def __str__(self) -> str:
        """Say in a few lines what it comes to; `df()` has all lines."""
        return write_summary(self.verdict, *([f"suggested: {self.command}"] if self.command else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show it in a notebook; names and values are escaped."""
        return write_card(self.verdict, self.sections())


def _percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None or math.isnan(share) else f"{share:.{digits}%}"
