"""The result of a breach analysis: associations, which stay in the database, and their summary."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from sqlanon.atomic_files import write_atomically
from sqlanon.charts import Bar, write_bars, write_figure
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, SqlanonError, TargetError, raised_as
from sqlanon.models.fields import verb
from sqlanon.plain_values import cell, plain, records
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Report, Statement, relation_name
from sqlanon.plans.templates import Sql
from sqlanon.read_places import check_new_file
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Section, Verdict, write_card, write_summary
from sqlanon.wording import option

TOP_COUNT = 20
PAGE = 50_000
BINS = 10
ORDER = "probability desc nulls last, cover asc nulls last, id asc nulls last, property asc nulls last"


class Breach:
    """A row per association: id, property, m, n, cover, probability, error_bound, note.

    `summary` holds associations, max_probability, mean_probability, certain; `notes` says in words where the data
    deviates from the model. m and n are texts in the relation (`3, 2`: one size per component), lists everywhere else.
    """

    def __init__(self, engine: Engine, relation: Sql, kept: Sequence[str], notes: Sequence[str] = ()) -> None:
        """Take the relation, all that stands in the database for its sake, and notes."""
        self.engine, self.relation_name, self.kept, self.notes = engine, relation, list(kept), list(notes)
        self._figures = figures = self._summarize(1.0, 1)
        names = ("associations", "max_probability", "mean_probability", "certain")
        self.summary: Mapping[str, Any] = {name: plain(figures[name]) for name in names}
        if not self.summary["associations"]:
            self.notes.insert(0, "the secret names no association: no row of the base satisfies it")
        self.least_cover: int | None = figures["least_cover"]

    @property
    def relation(self) -> Any:
        """Return the associations as the engine's own lazy relation, to store or to join."""
        return self.engine.relation(f"select * from {self.relation_name}")

    def df(self) -> pd.DataFrame:
        """Return all associations, in no order: a row each, held in memory.

        The columns are those of the class; m and n are lists of whole numbers. `pages` holds some at a time.
        """
        return _list_sizes(self.engine.frame(f"select * from {self.relation_name}"))

    def top(self, count: int = TOP_COUNT) -> pd.DataFrame:
        """Return the `count` most probable associations, the most probable first; columns as in `df`."""
        return _list_sizes(self.engine.frame(f"select * from {self.relation_name} order by {ORDER} limit {count}"))

    def histogram(self) -> list[int]:
        """Return how many associations there are by tenths of probability, 11 numbers: the last of the certain ones."""
        return [int(self._figures[f"tenth_{number}"]) for number in range(BINS + 1)]

    @verb
    def require(self, threshold: float | None = None, cover: int | None = None) -> None:
        """Raise DataError where an association is more probable than `threshold`, or its cover below `cover`."""
        count, failures = self.summary["associations"], []
        if threshold is not None and (above := self.above(threshold)):
            largest = self.summary["max_probability"]
            failures.append(
                f"{above:,} of {count:,} associations are above {threshold:g} (the largest is {largest:.6g})"
            )
        if cover is not None and (below := self.below_cover(cover)):
            failures.append(f"{below:,} of {count:,} have a cover below {cover}, the smallest is {self.least_cover}")
        if failures:
            raise DataError(f"these views are not safe as asked: {'; '.join(failures)}")

    @verb
    def above(self, threshold: float) -> int:
        """Return how many associations are above `threshold` (0 to 1), or may be within their error bound."""
        return int(self._summarize(float(threshold), 1)["over_threshold"])

    def below_cover(self, k: int) -> int:
        """Return how many associations have a cover of fewer than `k` properties."""
        return int(self._summarize(1.0, k)["under_cover"])

    @verb
    def pages(self, size: int = PAGE) -> Iterator[pd.DataFrame]:
        """Yield all associations from the most probable on, in frames of `size` rows: memory is bounded."""
        # Ranked once: a page by LIMIT and OFFSET would sort all associations again.
        relation = relation_name(str(self.relation_name)[1:-1], "_ranked")
        if str(relation) not in self.kept:
            self.kept.append(str(relation))
            self.engine.create(Statement("ranked", self._ranked, "table", str(relation)))
        for start in range(0, self.summary["associations"], size):
            page = f"select * from {relation} where position > {start} and position <= {start + size}"
            ordered = f"{page} order by position asc nulls last"
            yield _list_sizes(self.engine.frame(ordered).drop(columns="position"))

    @verb
    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write all associations to a file that its owner alone may read, whole or not at all.

        path: ends in .parquet, .csv or .json. overwrite: whether a file that stands there is replaced. Raises
        TargetError for another ending, for what is there already, and where nothing can be written.
        """
        target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
        check_file(target, overwrite)
        failure = f"cannot write {str(target)!r}"
        with raised_as(TargetError, failure), write_atomically(target, failure) as place:
            if target.suffix.lower() == ".csv":
                with place.open("w", encoding="utf-8") as file:
                    self.write_csv(file)
            elif target.suffix.lower() == ".json":
                with place.open("w", encoding="utf-8") as file:
                    self.write_json(file)
            else:
                new = place.with_name("new.parquet")
                if list(self.engine.write_parquet(self._ranked, new)) != [new]:
                    raise TargetError(f"{self.engine.name} writes several files; use --into, or a .csv or .json file")
                new.replace(place)
                place.chmod(0o600)

    @verb
    def store(self, table: str) -> None:
        """Keep all associations in a table of the database, for good.

        table: NAME or SCHEMA.NAME. Raises TargetError where it exists, or is no such name.
        """
        relation = check_table(self.engine, table)
        self.engine.create(
            Statement("breach", f"select * from {self.relation_name}", "table", str(relation)), lasting=True
        )

    def close(self) -> None:
        """Drop the relations of this analysis."""
        self.engine.drop(self.kept)

    def _summarize(self, threshold: float, cover: int) -> dict[str, Any]:
        values = {"threshold": threshold, "cover": cover, "tenths": range(BINS + 1)}
        (report,) = build([Chapter("breach/summary", values)], "", {"breach": self.relation_name}, self.engine.dialect)
        assert isinstance(report, Report)
        (row,) = self.engine.rows(report.statement.sql)
        return row

    @property
    def _ranked(self) -> str:
        return f"select row_number() over (order by {ORDER}) as position, breach.* from {self.relation_name} as breach"

    def write_csv(self, file: IO[str]) -> None:
        """Write all associations to an open text file as CSV, the most probable first; m and n are texts (`3, 2`)."""
        header = True  # of the first page only; of none where there is no page
        for page in self.pages():
            texts = {side: page[side].map(lambda sizes: ", ".join(map(str, sizes))) for side in ("m", "n")}
            page.assign(**texts).to_csv(file, index=False, header=header)
            header = False
        if header:
            self.top(0).to_csv(file, index=False)

    def write_json(self, file: IO[str]) -> None:
        """Write all associations to an open text file as JSON, the most probable first, one a line.

        `{"associations": [...], "summary": {...}}`; m and n are lists, and what is missing is null.
        """
        file.write('{"associations": [')
        before = "\n"
        for page in self.pages():
            for row in records(page):
                file.write(f"{before}  {json.dumps(row, ensure_ascii=False, allow_nan=False)}")
                before = ",\n"
        summary = json.dumps(dict(self.summary), ensure_ascii=False, allow_nan=False)
        file.write(f'\n], "summary": {summary}}}\n')

    @property
    def verdict(self) -> Verdict:
        """Return how likely secrets are to leak: red where some are certain, green where none is likely at all."""
        count, certain, largest = (self.summary[name] for name in ("associations", "certain", "max_probability"))
        words = f"{certain:,} of {count:,} secret associations are certain"
        if largest is not None:
            words += f", the likeliest has a probability of {largest:.1%}"
        return Verdict(f"{words}.", "red" if certain else "amber" if largest else "green")

    def __repr__(self) -> str:
        """Say in a few lines what the analysis comes to."""
        return write_summary(self.verdict, "the likeliest: .top(); all of them: .df()")

    def _repr_html_(self) -> str:
        """Show summary, notes, how many associations are how probable, and the most probable ones in a notebook."""
        summary = [[name.replace("_", " "), value] for name, value in self.summary.items()]
        top = self.top().drop(columns="error_bound")
        lines = [[cell(value) for value in row.values()] for row in records(top)]
        return write_card(self.verdict, [
            Section("How many associations are how probable", self._draw_histogram(), folded=False),
            Section(f"The {len(lines)} most probable associations", write_table(list(top.columns), lines), False),
            Section("All figures", write_table([], summary)),
            Section("Where the data deviates from the model", write_paragraphs(self.notes)),
        ])  # fmt: skip

    def _draw_histogram(self) -> str:
        bins = [Bar(name_bin(number), count, f"{count:,}") for number, count in enumerate(self.histogram()) if count]
        if not bins:
            return ""
        caption = "How many associations there are, by how probable they are"
        return write_figure(write_bars(bins), caption)


def name_bin(number: int) -> str:
    """Return the probabilities that a bin of the histogram holds."""
    return "1.0" if number == BINS else f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"


def _list_sizes(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn the sizes of components from texts into lists of whole numbers."""
    for column in ("m", "n"):
        # bounds of a chain know no components: an empty text, and an empty list
        sizes = [[int(size) for size in str(text).split(",") if size] for text in frame[column]]
        frame[column] = pd.Series(sizes, index=frame.index, dtype=object)
    return frame


def check_file(target: Path, overwrite: bool) -> None:
    """Raise TargetError for a file that cannot be written."""
    check_new_file(target, (".parquet", ".csv", ".json"), option("out"), overwrite)


def check_table(engine: Engine, table: str) -> Sql:
    """Return the quoted name of a new table, `table` or `schema.table`; refuse one that stands already."""
    parts = table.split(".")
    if len(parts) > 2 or not all(parts):
        raise TargetError(f"{table!r} is no name of a table; say NAME or SCHEMA.NAME")
    relation = engine.full_name(parts)
    try:
        engine.columns(f"select * from {relation}")
    except SqlanonError:
        return relation
    raise TargetError(f"the table {table!r} exists; choose another name for {option('into')}")
