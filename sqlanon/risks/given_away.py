"""Find what quasi columns give away: sensitive values that occur with only one value of such a column.

A group of l different values does not protect against somebody who knows which values go with a person's year: the
values of other years are ruled out. An adversary learns this from the release itself, where quasi values are exact.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.chapter_run import ChapterRun
from sqlanon.ordered_types import is_ordered
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import Coarsening, example_rule
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.risks.relations import select_columns
from sqlanon.wording import option

_NOTHING_TIED = {"tied_values": 0, "tied_rows": 0, "agreeing": 1.0, "expected": 0.0}
NOTABLE = 0.1  # share of a group's other values that a column rules out, from which on it is said


@dataclass(frozen=True)
class GivenAway:
    """How much of a sensitive column one quasi column gives away.

    values: sensitive values of several rows; values_with_one: those of them that occur with one value of the quasi
    column alone; share_of_rows: of all rows, in these; by_chance: what that share would be at most if the columns had
    nothing to do with each other; ruled_out: the share of other people's values that whoever knows somebody's quasi
    value rules out, beyond chance. rule: one that makes the quasi column coarser, to begin with; empty where none does.
    """

    column: str
    sensitive: str
    values: int
    values_with_one: int
    share_of_rows: float
    by_chance: float
    ruled_out: float
    rule: str = ""

    def as_line(self) -> dict[str, object]:
        """Return it as a line of a table."""
        return {
            "sensitive": self.sensitive,
            "known": self.column,
            "values": self.values,
            "with_one_value": self.values_with_one,
            "share_of_rows": self.share_of_rows,
            "by_chance": self.by_chance,
            "ruled_out": self.ruled_out,
        }

    @property
    def note(self) -> str:
        """Say it, in counts; empty where it is little."""
        if self.ruled_out < NOTABLE:
            return ""
        way = option("coarsen", f"{self.column}={self.rule}")
        coarser = f", or publish it coarser, as {way} does" if self.rule else ""
        chance = f", {self.by_chance:.1%} by chance" if self.by_chance >= 0.001 else ""
        return (
            f"{self.column} gives {self.sensitive} away: {self.values_with_one:,} of {self.values:,} values of"
            f" {self.sensitive} that several rows have ({self.share_of_rows:.1%} of the rows{chance}) occur with one"
            f" value of {self.column} alone; whoever knows somebody's {self.column} rules out {self.ruled_out:.0%} of"
            f" the other values in their group, whatever is promised: leave it out{coarser}"
        )


def count_given_away(
    engine: Engine,
    counted_rows: Sql,
    quasi: Mapping[str, tuple[str, str]],
    sensitive: str,
    row_count: str = "count(*)",
    published: str = "true",
    coarse: Collection[str] = (),
) -> list[GivenAway]:
    """Count what each quasi column gives away of the column `value` of a relation.

    quasi: a published column's name → its name in the relation, and its type. row_count: how many rows a group of the
    relation's lines stands for. published: the condition of a line that is published. coarse: columns that have a
    rule.
    """
    if not quasi:
        return []
    columns = {name: _comparable(*column) for name, column in quasi.items()}

    run = ChapterRun(engine, {"counted_rows": counted_rows})
    values = {"row_count": Sql(row_count), "published": Sql(published)}
    every = Chapter("check/given_away", {**values, "columns": [*columns.values()], "counted": True})
    counts = run.take([every])["tied_values"]
    tied = [name for number, name in enumerate(columns, start=1) if counts[f"tied_{number}"]]
    lines: dict[str, dict[str, Any]] = {}
    if tied:
        some = Chapter("check/given_away", {**values, "columns": [columns[name] for name in tied], "counted": False})
        try:
            run.take([some])
            lines = {tied[line["column_number"] - 1]: line for line in run.rows("given_away")}
        finally:
            run.drop()
    findings = []
    for name, (ours, sql_type) in quasi.items():
        found = _read(counts, lines.get(name, _NOTHING_TIED), name, sensitive)
        advised = found.ruled_out >= NOTABLE and name not in coarse
        findings.append(replace(found, rule=find_rule(engine, counted_rows, ours, sql_type) if advised else ""))
    return findings


def find_rule(engine: Engine, relation: Sql, column: str, sql_type: str) -> str:
    """Return a rule that makes a column of a relation coarser, to begin with; empty where none leaves fewer values."""
    rule = example_rule(sql_type)
    if not rule:
        return ""
    coarse = Coarsening.read(column, rule).write(ident(column), sql_type)
    (row,) = engine.rows(
        f"select count(distinct {ident(column)}) as fine, count(distinct {coarse}) as coarse from {relation}"
    )
    return rule if row["coarse"] < row["fine"] else ""


def note_given_away(
    engine: Engine, source: Source, types: Mapping[str, str], quasi: Sequence[str], sensitive: Sequence[str], drop: bool
) -> list[str]:
    """Say which quasi columns of a source give a sensitive column away; drop: rows without a value are left out.

    Columns of alternatives are not looked at: none of their values is published by itself.
    """
    single = [name for name in quasi if types[name] != "NESTED"]
    names = {name: f"quasi_{number}" for number, name in enumerate(single, start=1)}
    notes = []
    for column in sensitive:
        if types[column] != "NESTED":
            rows = select_columns(source, {**names, column: "value"})
            columns = {name: (ours, types[name]) for name, ours in names.items()}
            findings = count_given_away(
                engine, rows, columns, column, published="value is not null" if drop else "true", coarse=source.coarse
            )
            notes += [each.note for each in findings if each.note]
    return notes


def _comparable(name: str, sql_type: str) -> Sql:
    """Return a column as min and max take it on every engine; PostgreSQL has none of truth values."""
    plain = is_ordered(sql_type) or sql_type == "VARCHAR"
    return ident(name) if plain else Sql(f"cast({ident(name)} as varchar)")


def _read(counts: Mapping[str, int], line: Mapping[str, float], name: str, sensitive: str) -> GivenAway:
    rows, tied = max(counts["row_count"], 1), line["tied_rows"]
    beyond = max(0.0, tied - line["expected"])
    return GivenAway(
        column=name,
        sensitive=sensitive,
        values=int(counts["value_count"]),
        values_with_one=int(line["tied_values"]),
        share_of_rows=tied / rows,
        by_chance=round(min(1.0, line["expected"] / rows), 6) if tied else 0.0,
        ruled_out=beyond / rows * (1 - line["agreeing"]),
    )
