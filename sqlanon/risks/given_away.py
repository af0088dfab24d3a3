"""Find what quasi columns, and pairs of them, give away of a sensitive column.

A group of l different values does not protect against somebody who knows which values go with a person's year: the
values of other years are unlikely. An adversary learns this from the release itself, where quasi values are exact
(`sqlanon.adversary.model`); here it is told before anything is published.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.ordered_types import is_ordered
from sqlanon.plans.coarsening import Coarsening, example_rule
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.risks.relations import select_columns
from sqlanon.wording import option

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

MOST_ROWS = 50_000  # that are looked at, drawn of more
MOST_COLUMNS = 12  # that are looked at in pairs
USUAL_SIZE = 5  # people in a group, where none is asked for
NOTABLE = 0.25  # of the way from what chance names to all, from which on it is said
NEWS = 0.05  # by how much more than its columns alone a pair names, to be said beside them


@dataclass(frozen=True)
class GivenAway:
    """How much of a sensitive column a quasi column, or a pair, gives away.

    named: the mean confidence in somebody's true value, in a group of `size` people with different values, of whoever
    knows how values go with the columns; 1 / size by chance. rule: one that makes the column coarser, to begin with;
    empty where none does, and of a pair.
    """

    columns: tuple[str, ...]
    sensitive: str
    named: float
    size: int
    rule: str = ""

    @property
    def known(self) -> str:
        """Say which columns these are."""
        return " with ".join(self.columns)

    @property
    def is_notable(self) -> bool:
        """Tell whether that is worth a word."""
        return self.named >= 1 / self.size + NOTABLE * (1 - 1 / self.size)

    def as_line(self) -> dict[str, object]:
        """Return it as a line of a table."""
        return {"sensitive": self.sensitive, "known": self.known, "named": self.named, "by_chance": 1 / self.size}

    @property
    def note(self) -> str:
        """Say it; empty where it is little."""
        if not self.is_notable:
            return ""
        way = option("coarsen", f"{self.known}={self.rule}")
        coarser = f", or publish it coarser, as {way} does" if self.rule else ""
        out = "leave one of them out" if len(self.columns) > 1 else "leave it out"
        return (
            f"{self.known} gives {self.sensitive} away: in a group of {self.size} people with different values, who"
            f" knows how values go with it is {self.named:.0%} sure of somebody's in the mean, {1 / self.size:.0%} by"
            f" chance: {out}{coarser}"
        )


def find_given_away(
    engine: Engine,
    relation: Sql,
    quasi: Mapping[str, tuple[str, str]],
    sensitive: str,
    size: int = USUAL_SIZE,
    published: str = "true",
    coarse: Collection[str] = (),
) -> list[GivenAway]:
    """Find what each quasi column gives away of the column `value` of a relation, and each pair that tells more.

    quasi: a published column's name → its name in the relation, and its type. size: of the groups. published: the
    condition of a row that is published. coarse: columns that have a rule.
    """
    if not quasi:
        return []
    import pandas as pd

    from sqlanon.adversary.features import find_features  # numpy is slow to import

    (row,) = engine.rows(f"select count(*) as row_count from {relation} as looked_at where {published}")
    share = MOST_ROWS / max(row["row_count"], 1)
    drawn = published if share >= 1 else f"{published} and random() < {share}"
    columns = ", ".join(ident(ours) for ours, _ in quasi.values())
    frame = engine.frame(f"select {columns}, value from {relation} as looked_at where {drawn}")
    value = pd.factorize(frame["value"], use_na_sentinel=False)[0]
    ordered = [is_ordered(sql_type) for _, sql_type in quasi.values()]
    ranks = pd.DataFrame(
        {ours: _rank(frame[ours], by) for (ours, _), by in zip(quasi.values(), ordered, strict=True)}
    ).to_numpy()
    names, found = list(quasi), dict[tuple[int, ...], float]()
    for feature in find_features(ranks, ordered, (value * 0 + 1).astype(float), pairs=len(quasi) <= MOST_COLUMNS):
        told = _confidence(feature.levels, value, size)
        found[feature.columns] = max(told, found.get(feature.columns, 0.0))
    findings = [GivenAway((name,), sensitive, found.get((place,), 1 / size), size) for place, name in enumerate(names)]
    for (one, other), told in ((pair, told) for pair, told in found.items() if len(pair) > 1):
        pair = GivenAway((names[one], names[other]), sensitive, told, size)
        alone = max(findings[one].named, findings[other].named)
        findings += [pair] if pair.is_notable and told >= alone + NEWS else []
    return [
        replace(each, rule=find_rule(engine, relation, *quasi[each.columns[0]]))
        if each.is_notable and len(each.columns) == 1 and each.columns[0] not in coarse
        else each
        for each in findings
    ]


def _rank(column: "pd.Series[Any]", by_order: bool) -> "np.ndarray":
    import pandas as pd

    if by_order:
        return (column.rank(method="dense", na_option="bottom") - 1).to_numpy().astype("int64")
    return pd.factorize(column, use_na_sentinel=False)[0].astype("int64")


def _confidence(levels: "np.ndarray", value: "np.ndarray", size: int) -> float:
    """Return the mean of r / (r + size - 1), r how much likelier somebody's value is by their level than overall.

    Nobody's own row is counted: a level of one person tells nothing.
    """
    import numpy as np

    cell = levels * (int(value.max(initial=0)) + 1) + value
    _, kind, held = np.unique(cell, return_inverse=True, return_counts=True)
    alike = held[kind.ravel()] - 1.0
    level, whole = np.bincount(levels)[levels] - 1.0, np.bincount(value)[value] - 1.0
    odds = alike * (len(value) - 1) / np.maximum(level * whole, 1)
    return float(np.mean(odds / (odds + size - 1))) if len(value) else 0.0


def find_rule(engine: Engine, relation: Sql, column: str, sql_type: str) -> str:
    """Return a rule that makes a column of a relation coarser, to begin with; empty where none leaves fewer values."""
    rule = example_rule(sql_type)
    if not rule:
        return ""
    coarse = Coarsening.read(column, rule).write(ident(column), sql_type)
    counts = f"count(distinct {ident(column)}) as fine, count(distinct {coarse}) as coarse"
    (row,) = engine.rows(f"select {counts} from {relation} as looked_at")
    return rule if row["coarse"] < row["fine"] else ""


def note_given_away(
    engine: Engine,
    source: Source,
    types: Mapping[str, str],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    drop: bool,
    size: int,
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
            published = "value is not null" if drop else "true"
            findings = find_given_away(engine, rows, columns, column, size, published, source.coarse)
            notes += [each.note for each in findings if each.note]
    return notes
