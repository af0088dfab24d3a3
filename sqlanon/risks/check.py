"""The result of a check: measures beside what was required, risks, columns, and what to know before publishing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.html_tables import write_paragraphs, write_table
from sqlanon.plain_values import plain
from sqlanon.risks.limits import Measure
from sqlanon.text_tables import show_briefly, write_whole

if TYPE_CHECKING:
    import pandas as pd


MEASURE = ("measure", "column", "required", "found", "holds")


@dataclass(frozen=True)
class Check:
    """What a table risks.

    figures: rows, persons, classes and risks by name. measures: each where it is worst. uniqueness: a line per quasi
    column and pair; given_away: a line per sensitive and quasi column, and per pair that tells more; columns: a line
    per column of the source; feasible: a line per sensitive column with the largest l and gamma. notes: sentences.
    command: what may be typed next, '' where roles are missing.
    """

    figures: dict[str, Any]
    measures: tuple[Measure, ...] = ()
    uniqueness: tuple[dict[str, Any], ...] = ()
    given_away: tuple[dict[str, Any], ...] = ()
    columns: tuple[dict[str, Any], ...] = ()
    feasible: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""

    @property
    def holds(self) -> bool:
        """Tell whether every required value is reached."""
        return all(measure.holds is not False for measure in self.measures)

    @property
    def failed(self) -> list[Measure]:
        """Return the measures that miss what is required."""
        return [measure for measure in self.measures if measure.holds is False]

    def df(self) -> "pd.DataFrame":
        """Return the measures as a frame: measure, column, required, found, holds."""
        import pandas as pd

        return pd.DataFrame(self.measure_lines(), columns=list(MEASURE))

    def measure_lines(self) -> list[list[Any]]:
        """Return the measures as lines of a table."""
        return [[m.name, m.column, m.required_text, m.found, m.holds] for m in self.measures]

    def as_plain(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        measures = [dict(zip(MEASURE, line, strict=True)) for line in self.measure_lines()]
        others = ("uniqueness", "given_away", "feasible", "columns", "notes", "command")
        return {
            "holds": self.holds,
            "figures": plain(self.figures),
            "measures": plain(measures),
            **{name: plain(getattr(self, name)) for name in others},
        }

    def tables(self) -> list[tuple[str, list[str], list[list[Any]]]]:
        """Return what there is to show, in order: title, heads, lines."""
        tables: list[tuple[str, list[str], list[list[Any]]]] = []
        tables.append(("", ["", ""], [[key.replace("_", " "), value] for key, value in self.figures.items()]))
        if self.measures:
            marks = {True: "yes", False: "NO", None: ""}
            lines = [[*line[:4], marks[line[4]]] for line in self.measure_lines()]
            tables.append(("Every class of equal quasi values, at its worst",
                          list(MEASURE), lines))  # fmt: skip
        for title, table in (
            ("Rows that nobody else equals, by what an adversary knows", self.uniqueness),
            ("What columns, and pairs of them, give away: how sure it makes of a value in a group", self.given_away),
            ("What each sensitive column allows", self.feasible),
            ("Columns", self.columns),
        ):
            if table:
                tables.append(
                    (title, [key.replace("_", " ") for key in table[0]], [list(line.values()) for line in table])
                )
        return tables

    __repr__ = show_briefly

    def __str__(self) -> str:
        """Write its tables, notes and command, as a terminal shows them."""
        command = [f"suggested, for you to weigh:\n{self.command}"] if self.command else []
        return write_whole(self.tables(), [*(f"note: {note}" for note in self.notes), *command])

    def _repr_html_(self) -> str:
        """Show it in a notebook; names and values are escaped."""
        return "".join(write_table(heads, lines, title) for title, heads, lines in self.tables()) + write_paragraphs(
            self.notes
        )
