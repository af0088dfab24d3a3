"""The answer to a query: a frame that draws itself."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from sqlanon.charts.drawing import require
from sqlanon.charts.intervals import draw_intervals
from sqlanon.charts.picture import Picture
from sqlanon.errors import UsageError
from sqlanon.estimation.answered import Answered
from sqlanon.plain_values import plain

MOST_DRAWN = 60  # lines of one chart
# value, low, high: of estimates; of uncertain rows, which may have no bounds
_SIDES = (("", "_low", "_high"), ("_expected",) * 3, ("_expected", "_certain", "_possible"))


class Answer(pd.DataFrame):
    """A row per answer; `attrs` holds what is said of it. What is selected from it is a plain frame."""

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def plot(self) -> Picture:  # type: ignore[override]
        """Return a picture of the intervals, a line for each row; its `chart` is altair's, `save` writes a file.

        Raises UsageError where altair is not installed, or an answer has no rows, or too many for a chart.
        """
        require()
        figures = self._figures()
        if not figures or not 1 <= len(self) <= MOST_DRAWN:
            raise UsageError(
                f"an answer of {len(self):,} rows and {len(figures)} figures is no chart: ask for 1 to {MOST_DRAWN}"
                " rows, for example with LIMIT"
            )
        side_columns = {column for sides in figures.values() for column in sides} | {
            f"{name}_std_error" for name in figures
        }
        keys = [column for column in self.columns if column not in side_columns]
        by = f" by {', '.join(map(str, keys))}" if keys else ""
        return Picture({
            f"{name}{by}, as the release tells it": draw_intervals(self._lines(keys, sides), name)
            for name, sides in figures.items()
        })  # fmt: skip

    def _figures(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of value, low and high of every figure that is a number."""
        names = set(self.columns)
        figures: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            for value, low, high in _SIDES:
                name = column.removesuffix(value)
                sides = f"{name}{value}", f"{name}{low}", f"{name}{high}"
                if column == sides[0] and set(sides) <= names and self[column].dtype.kind != "M":
                    figures[name] = sides
        return figures

    def _lines(self, keys: list[str], sides: tuple[str, ...]) -> list[dict[str, Any]]:
        rows = zip(*([*self[column]] for column in (*sides, *keys)), strict=True)
        names = ("value", "low", "high")
        return [
            {"name": " · ".join("NULL" if plain(key) is None else str(plain(key)) for key in row[3:]) or sides[0]}
            | {name: _number(figure) for name, figure in zip(names, row[:3], strict=True)}
            for row in rows
        ]


def as_answer(found: Answered) -> Answer:
    """Return figures as a frame, with all that is said of them."""
    frame = found.df()
    answer = Answer(frame)
    answer.attrs = frame.attrs
    return answer


def _number(figure: object) -> float | None:
    number = plain(figure)
    return None if number is None or not math.isfinite(float(number)) else float(number)
