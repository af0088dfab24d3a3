"""The result of a check: measures beside what was required, risks, columns, and what to know before publishing.

Rows of classes that miss a required value are written with the reason, for the publisher alone.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.atomic_files import write_atomically
from sqlanon.engines.runner import ChapterRun
from sqlanon.errors import TargetError
from sqlanon.plain_values import is_ordered, plain
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, literal
from sqlanon.prose import write
from sqlanon.read_places import check_new_file
from sqlanon.risks.question import CheckQuestion, Measure, failing_condition
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Colour, Section, Verdict, write_card, write_summary
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

UNIQUE = "Rows that nobody else equals, by what an adversary knows"
GIVEN_AWAY = "What columns, and pairs of them, give away: how sure it makes of a value in a group"
TOLD = 0.5  # how sure a column makes of another's values, from which on it tells them
LEAST_HIDDEN = 2  # values among which somebody hides, at least
MEASURE = ("measure", "column", "required", "found", "holds")


@dataclass(frozen=True, repr=False)
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
        """Return the measures as a frame: measure, column, required, found, holds; without them, the columns."""
        import pandas as pd

        if not self.measures:
            return pd.DataFrame(self.columns)
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
            (UNIQUE, self.uniqueness),
            (GIVEN_AWAY, self.given_away),
            ("What each sensitive column allows", self.feasible),
            ("Columns", self.columns),
        ):
            if table:
                tables.append(
                    (title, [key.replace("_", " ") for key in table[0]], [list(line.values()) for line in table])
                )
        return tables

    @property
    def verdict(self) -> Verdict:
        """Return whom the table singles out, and how well its sensitive columns can hide, the vital line first.

        Red: what is required is missed, most rows are alone, a column hides nobody, or another tells it (`TOLD`).
        Amber: some rows are alone.
        """
        rows, alone = self.figures["rows"], self.figures.get("unique_rows")
        missed = [f"{each.name}: required {each.required_text}, found {each.found}" for each in self.failed]
        told = max(self.given_away, key=lambda line: line["named"], default={"named": 0.0})
        hidden = [line for line in self.feasible if line["largest_l"] < LEAST_HIDDEN]
        values = {
            "rows": rows, "alone": alone, "missed": missed, "feasible": self.feasible, "columns": len(self.columns),
            "least": LEAST_HIDDEN, "told": told if told["named"] >= TOLD else None,
        }  # fmt: skip
        colour: Colour = "" if alone is None else "amber" if alone else "green"
        if missed or hidden or told["named"] >= TOLD or (alone or 0) > rows / 2:
            colour = "red"
        return Verdict(write("risks/verdict.txt", values), colour)

    def sections(self) -> list[Section]:
        """Return what is shown below the verdict: who is alone and what gives values away, all else folded."""
        (_, _, figures), *others = self.tables()
        vital = {UNIQUE, GIVEN_AWAY}
        return [
            *(Section(title, write_table(heads, lines), title not in vital) for title, heads, lines in others),
            Section("All figures", write_table([], figures)),
            Section("Notes", write_paragraphs(self.notes)),
        ]

    def __str__(self) -> str:
        """Say in a few lines what the table risks; `df()` has the measures."""
        return write_summary(self.verdict, *([f"suggested: {self.command}"] if self.command else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show it in a notebook; names and values are escaped."""
        return write_card(self.verdict, self.sections())


def check_path(path: str | os.PathLike[str], overwrite: bool, read: Iterable[object]) -> Path:
    """Return where failing rows go; raise TargetError for a path that cannot be written.

    read: what the check reads, as it was named: a file of microdata is not replaced by some of its rows.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
    check_new_file(target, (".parquet",), option("failing"), overwrite, read=read)
    return target


def write_failing(
    run: ChapterRun,
    question: CheckQuestion,
    types: Mapping[str, str],
    measured: Mapping[str, Mapping[str, Sql]],
    target: Path,
) -> None:
    """Write a line per row of a failing class: identifiers, quasi values, class_number, class_size, fails.

    measured: by sensitive column the relations that it was measured by. The file is microdata, readable for its owner
    alone; it appears whole or not at all.
    """
    limits, names = question.limits, question.names
    # under which SQL a class misses each required value, and its name
    conditions = [] if limits.k is None else [(Sql(f"class.class_size < {literal(limits.k)}"), "k ")]
    for column in question.sensitive:
        for name, required in limits.of_values.items():
            figure, comparison, bound = failing_condition(name, required)
            by_order = name == "t" and is_ordered(types[column])
            distance = "class_ordered_distance" if by_order else "class_distance"
            relation = measured[column]["class_recursion" if name == "recursive" else distance]
            classes_off = f"select class_number from {relation} where {figure} {comparison} {literal(float(bound))}"
            conditions.append((Sql(f"class.class_number in ({classes_off})"), f"{name}({column}) "))
    values = {
        "conditions": conditions,
        "selected": [(names[name], name) for name in (*question.identifier, *question.quasi)],
        "quasi_names": question.ours(question.quasi),
    }
    run.take([Chapter("check/failing", values)])
    with write_atomically(target, f"cannot write {str(target)!r}") as place:
        new = place.with_name("rows.parquet")
        written = run.engine.write_parquet(f"select * from {run.relations['failing_row']}", new)
        if len(written) != 1:
            raise TargetError("failing rows come in several files here; check with fewer rows, or on DuckDB")
        next(iter(written)).replace(place)
        place.chmod(0o600)
