"""Is everybody in a group with their own value? Checked for all rows while the run still knows them.

A run knows quasi values, value and group of each of its rows to the end. These are compared with the source (quasi
values and value), with QIT (quasi values and group) and with ST (group and value). If all three agree, nobody has
exchanged values or groups with anybody between two steps. Each side is read once, as sums of row hashes, and only if
these differ are rows counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.methods.packing import PACKED
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import PublishedTables
from sqlanon.verification.multisets import (
    WEIGHT,
    AlignedColumns,
    WholeColumns,
    add_up,
    align_columns,
    count_others,
    whole_columns,
)

_VALUE, _GROUP = "sensitive_value", "group_number"
_FRACTIONS = ("DOUBLE", "FLOAT")  # of which -0 and 0 are one value


@dataclass(frozen=True)
class Links:
    """How many rows there are, and how many of them have another value or group than they should.

    same_quasi, same_values: whether QIT has the quasi values, and ST the sensitive ones, of the rows of the source and
    no others, but for `withheld` ones. same_sizes: whether groups have the run's sizes in both.
    """

    people: int
    misplaced: int
    withheld: int
    same_quasi: bool
    same_values: bool
    same_sizes: bool


@dataclass(frozen=True)
class _Side:
    """Rows that a run's own are compared with, by the columns of `choice`; missing: as many may lack in the run's.

    others: rows that the run knows only these to have beside its own. people: what they are compared with in the
    place of the run's rows.
    """

    rows: Sql
    choice: Sequence[str]
    missing: int = 0
    weight: Sql | None = None
    others: Sql | None = None
    people: Sql | None = None


@dataclass(frozen=True)
class _Rows:
    """The run's own rows, and the source's beside them, with the columns `keys` (quasi values), and the value.

    withheld: rows that only the source has; departed: lines, of value and group, that only ST has; people: everybody
    once, with the group, where there is a row for each of somebody's values. names: the quasi
    values as they stand; value: how a value is read, by which -0 is 0; whole: the columns of whole numbers.
    """

    linked: Sql
    withheld: Sql | None
    departed: Sql | None
    people: Sql | None
    original: Sql
    names: Sequence[str]
    keys: Sequence[str]
    value: str
    whole: WholeColumns


def _read_rows(
    published: PublishedTables, select: str, sensitive: str, source: Source, types: Mapping[str, str]
) -> _Rows:
    quasi = published.manifest["columns"]["quasi"]
    *spelled, source_column = resolve_names(list(types), [*quasi, sensitive])
    value = "({} + 0)" if types[source_column] in _FRACTIONS else "{}"
    names = [f"value_{number}" for number in range(1, len(quasi) + 1)]
    expressions = [f"{source.expression(column)} as {name}" for column, name in zip(spelled, names, strict=True)]
    expressions.append(f"{value.format(source.expression(source_column))} as {_VALUE}")
    assert published.linked is not None
    original = _pack(published, source.select(expressions, facts=True), _VALUE, names)
    keys, linked_columns = names, [f"quasi_{number} as {name}" for number, name in enumerate(names, start=1)]
    if published.linked.layout is not None:
        keys, linked_columns = [PACKED], [PACKED]
    value_column, group_column = f"{value.format('sensitive')} as {_VALUE}", f"group_id as {_GROUP}"
    linked = _read(select, [*linked_columns, value_column, group_column])
    withheld = _read(published.linked.withheld, [*linked_columns, value_column])
    departed = _read(published.linked.departed, [value_column, group_column])
    people = _read(published.linked.people, [*linked_columns, group_column])
    columns = zip([*names, _VALUE], [*spelled, source_column], strict=True)
    # a run counts groups and packed values from 0 on
    whole = {**whole_columns({name: types[column] for name, column in columns}), PACKED: -1, _GROUP: -1}
    assert linked is not None
    return _Rows(
        linked=linked, withheld=withheld, departed=departed, people=people, original=original, names=names,
        keys=keys, value=value, whole=whole,
    )  # fmt: skip


def _read(select: str | None, columns: Sequence[str]) -> Sql | None:
    return None if select is None else Sql(f"(select {', '.join(columns)} from (\n{select}\n) as linked_row)")


def count_misplaced(
    published: PublishedTables, source: Source, types: Mapping[str, str], sensitive: Sequence[str]
) -> dict[str, int]:
    """Return how many rows the run has, and how many of them have another value than in the source, of any column.

    What was made of the values is published in the place of them, so that no table shows them beside groups.
    """
    assert published.linked is not None
    misplaced, people = 0, 0
    for column, select in zip(sensitive, published.linked.selects, strict=True):
        rows = _read_rows(published, select, column, source, types)
        side = _Side(rows.original, [*rows.keys, _VALUE], published.manifest["dropped_rows"])
        sums, source_sums = (
            add_up(published, relation, [side.choice], rows.whole) for relation in (rows.linked, rows.original)
        )
        misplaced, people = (
            max(misplaced, 0 if sums == source_sums else _count_others(published, rows.linked, side)),
            sums[0],
        )
    for relation, again in published.linked.remade.items():
        kinds = published.engine.columns(f"select * from {relation}")
        names, whole = list(kinds), whole_columns(kinds)
        now, side = Sql(f"(\n{again}\n)"), _Side(relation, names)
        if add_up(published, now, [names], whole) != add_up(published, relation, [names], whole):
            misplaced = max(misplaced, _count_others(published, Sql(f"{now} as remade"), side))
    return {"people": people, "in_wrong_groups": misplaced}


def compare_links(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Links:
    """Compare the rows of the run that wrote the tables with the source, QIT and ST."""
    assert published.linked is not None
    columns, dropped = published.manifest["columns"], published.manifest["dropped_rows"]
    (sensitive,), (select,) = columns["sensitive"], published.linked.selects
    rows = _read_rows(published, select, sensitive, source, types)
    group, count = ident(columns["group"]), ident(columns["count"])
    values = align_columns(published, "st", [sensitive], source, types, Sql(f"{group} as {_GROUP}, {count}"))
    (value,) = values.names
    value_rows = Sql(f"(select {rows.value.format(value)} as {_VALUE}, {_GROUP}, {WEIGHT} from {values.published})")
    withheld = 0 if rows.withheld is None else add_up(published, rows.withheld, [[_VALUE]], rows.whole)[0]
    missing = dropped - withheld
    if rows.people is not None and dropped:  # with each of them all of their values
        counted = [add_up(published, rows_of, [[_VALUE]], rows.whole)[0] for rows_of in (rows.original, rows.linked)]
        missing = int(counted[0] - counted[1])
    sides = (
        _Side(rows.original, [*rows.keys, _VALUE], missing, others=rows.withheld),
        _Side(_read_quasi(published, source, types), [*rows.keys, _GROUP], people=rows.people),
        _Side(value_rows, [_VALUE, _GROUP], weight=ident(WEIGHT), others=rows.departed),
    )
    linked_sums = add_up(published, rows.linked, [side.choice for side in sides], rows.whole)
    misplaced, departed, sums, agree = 0, 0, [], []
    for number, side in enumerate(sides, start=1):
        # packing loses values outside the ranges, so quasi values are also compared unpacked
        choices, linked = [side.choice, *([rows.names] if side.weight is None else [])], side.people or rows.linked
        added = add_up(published, side.rows, choices, rows.whole, side.weight)
        if side.others is not None:
            others = add_up(published, side.others, choices, rows.whole)
            added = [added[0] - others[0], *map(_subtract, added[1:], others[1:])]
            departed = others[0]  # the last side's are the lines of ST
            listed = ", ".join(side.choice)
            linked = Sql(f"(select {listed} from {linked} union all select {listed} from {side.others})")
        sums.append(added[1:])
        own = [linked_sums[0], linked_sums[number]]
        if side.people is not None:
            own = add_up(published, side.people, [side.choice], rows.whole)
        agree.append(added[:2] == own)
        if not agree[-1]:
            misplaced = max(misplaced, _count_others(published, linked, side))
    # the run's rows have the source's values, and ST has the run's
    same_values = dropped == withheld and not misplaced
    same_quasi = same_values and rows.people is None and sums[0][1] == sums[1][1]
    return Links(
        int(linked_sums[0]), misplaced, withheld, same_quasi=same_quasi, same_values=same_values,
        same_sizes=all(agree[1:]) and not departed,
    )  # fmt: skip


def _subtract(sums: tuple[int, int], others: tuple[int, int]) -> tuple[int, int]:
    return sums[0] - others[0], sums[1] - others[1]


def _read_quasi(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Sql:
    """Return QIT's quasi values, packed as well where the run packs them, and groups."""
    columns = published.manifest["columns"]
    people = align_columns(published, "qit", columns["quasi"], source, types, ident(columns["group"]))
    quasi_rows = Sql(f"(select {', '.join(people.names)}, {WEIGHT} as {_GROUP} from {people.published})")
    return _pack(published, quasi_rows, _GROUP, people.names)


def _pack(published: PublishedTables, relation: Sql, other: str, names: Sequence[str]) -> Sql:
    """Return rows with their quasi values as one number as well, where the run packs them."""
    if published.linked is None or published.linked.layout is None:
        return relation
    relations = {"population": relation, "layout": published.linked.layout}
    return published.subquery("packing", relations, quasi=names, kept=[*names, other])


def _count_others(published: PublishedTables, linked: Sql, side: _Side) -> int:
    """Return how many rows one side has and the other has not, beyond those that may be missing."""
    listed = ", ".join(side.choice)
    # a row of the other side is subtracted as often as its weight says
    weighed = f"select {listed}, 1 - {side.weight or 1} as {WEIGHT} from {side.rows}"
    both = Sql(f"(select {listed}, 1 as {WEIGHT} from {linked} union all {weighed})")
    others = Sql(f"(select {listed} from {side.rows})")
    row = count_others(published, "own rows", AlignedColumns(both, others, tuple(side.choice)))
    return max(int(row["added_rows"]), int(row["missing_rows"]) - side.missing)
