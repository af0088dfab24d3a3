"""Find what quasi columns, and pairs of them, give away of a sensitive column.

A group of l different values does not protect against somebody who knows which values go with a person's year: the
values of other years are unlikely. An adversary learns this from the release itself, where quasi values are exact
(`sqlanon.adversary.model`); here it is told before anything is published.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import ChapterRun
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import Coarsening, example_rule
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.wording import option

USUAL_SIZE = 5  # people in a group, where none is asked for
MOST_ROWS = 50_000  # that are looked at, drawn of more
MOST_COLUMNS = 12  # that are looked at in pairs
NOTABLE = 0.25  # of the way from what chance names to all, from which on it is said
NEWS = 0.05  # by how much more than its columns alone a pair names, to be said beside them


@dataclass(frozen=True)
class GivenAway:
    """How much of a sensitive column a quasi column, or a pair, gives away.

    named: the mean confidence in somebody's true value, in a group of `size` people with different values, of whoever
    knows how values go with the columns; 1 / size by chance. rule: one that makes the column so coarse that it gives
    little away, `then`; empty where none was found, and of a pair.
    """

    columns: tuple[str, ...]
    sensitive: str
    named: float
    size: int
    rule: str = ""
    then: float = 0.0

    @property
    def known(self) -> str:
        """Say which columns these are."""
        return " with ".join(self.columns)

    @property
    def is_notable(self) -> bool:
        """Tell whether that is worth a word."""
        return self.named >= 1 / self.size + NOTABLE * (1 - 1 / self.size)

    @property
    def note(self) -> str:
        """Say it; empty where it is little."""
        if not self.is_notable:
            return ""
        way = option("coarsen", f"{self.known}={self.rule}")
        coarser = f", or publish it coarser: {self.then:.0%} with {way}" if self.rule else ""
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
    names = list(quasi)
    (row,) = engine.rows(f"select count(*) as row_count from {relation} as looked_at where {published}")

    def measure(columns: Sequence[Sql], features: Sequence[tuple[int, ...]]) -> list[float]:
        """Return how sure each feature makes; features: the places of their columns, from 0."""
        values = {
            "columns": columns,
            "features": [[place + 1 for place in places] for places in features],
            "published": Sql(published),
            "share": MOST_ROWS / max(row["row_count"], MOST_ROWS),
            "others": size - 1,
        }
        run = ChapterRun(engine, {"counted_rows": relation})
        try:
            run.take([Chapter("check/given_away", values)])
            # threads sum in an order of their own, which shows in the last digits
            sure = {line["feature_number"]: round(float(line["named"]), 9) for line in run.rows("given_away")}
        finally:
            run.drop()
        return [sure.get(number, 0.0) for number, _ in enumerate(features, start=1)]

    def advise(found: GivenAway) -> GivenAway:
        """Add a rule that helps enough, where there is one."""
        column, sql_type = quasi[found.known]
        rule = find_rule(engine, relation, column, sql_type)
        if not rule:
            return found
        (then,) = measure([Coarsening.read(column, rule).write(ident(column), sql_type)], [(0,)])
        return found if replace(found, named=then).is_notable else replace(found, rule=rule, then=then)

    pairs = list(combinations(range(len(names)), 2)) if len(names) <= MOST_COLUMNS else []
    features: list[tuple[int, ...]] = [*((place,) for place in range(len(names))), *pairs]
    found = dict(zip(features, measure([ident(ours) for ours, _ in quasi.values()], features), strict=True))
    findings = [GivenAway((name,), sensitive, found[place,], size) for place, name in enumerate(names)]
    told = [advise(each) if each.is_notable and each.known not in coarse else each for each in findings]
    for one, other in pairs:
        pair = GivenAway((names[one], names[other]), sensitive, found[one, other], size)
        alone = max(findings[one].named, findings[other].named)
        told += [pair] if pair.is_notable and pair.named >= alone + NEWS else []
    return told


def find_rule(engine: Engine, relation: Sql, column: str, sql_type: str) -> str:
    """Return a rule that makes a column of a relation coarser, to begin with; empty where none leaves fewer values."""
    rule = example_rule(sql_type)
    if not rule:
        return ""
    coarse = Coarsening.read(column, rule).write(ident(column), sql_type)
    counts = f"count(distinct {ident(column)}) as fine, count(distinct {coarse}) as coarse"
    (row,) = engine.rows(f"select {counts} from {relation} as looked_at")
    return rule if row["coarse"] < row["fine"] else ""


def look_at_source(
    engine: Engine,
    source: Source,
    types: Mapping[str, str],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    drop: bool,
    size: int = USUAL_SIZE,
) -> list[GivenAway]:
    """Find what quasi columns of a source give away of its sensitive ones; drop: rows without a value are left out.

    Columns of alternatives are not looked at: none of their values is published by itself.
    """
    single = [name for name in quasi if types[name] != "NESTED"]
    names = {name: f"quasi_{number}" for number, name in enumerate(single, start=1)}
    found = []
    for column in sensitive:
        if types[column] != "NESTED":
            rows = select_columns(source, {**names, column: "value"})
            columns = {name: (ours, types[name]) for name, ours in names.items()}
            published = "value is not null" if drop else "true"
            found += find_given_away(engine, rows, columns, column, size, published, source.coarse)
    return found


def select_columns(source: Source, names: Mapping[str, str]) -> Sql:
    """Return a subquery over a source with some of its columns under names of ours."""
    selected = ", ".join(f"{source.expression(name)} as {ident(ours)}" for name, ours in names.items())
    return Sql(f"(select {selected} from {source.relation})")
