"""Compare published columns with the source's as multisets: how often each combination of values occurs.

A run knows quasi values, value and group of each of its rows to the end. These are compared with the source (quasi
values and value), with QIT (quasi values and group) and with ST (group and value). If all three agree, nobody has
exchanged values or groups with anybody between two steps. Each side is read once: sums of row hashes tell whether two
sides have the same rows, in any order, and only if they differ are rows counted. A run may trust these hashes, because
nobody stands between it and its own tables. Whoever verifies somebody else's release always counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.methods.packing import PACKED, WHOLE
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables

WEIGHT = "line_weight"  # how many rows of the source a published line stands for
SAME_ROWS = {"added_rows": 0, "missing_rows": 0}
# columns of whole numbers, each with a number that it never holds and NULL is hashed as; None where it may hold any
WholeColumns = Mapping[str, int | None]
_VALUE, _GROUP = "sensitive_value", "group_number"
_FRACTIONS = ("DOUBLE", "FLOAT")  # of which -0 and 0 are one value


@dataclass(frozen=True)
class AlignedColumns:
    """Two relations with the same columns `names`: published and original values of one type.

    whole: the columns of whole numbers, where these are known.
    """

    published: Sql
    original: Sql
    names: tuple[str, ...]
    whole: WholeColumns = field(default_factory=dict)


def align_columns(
    published: PublishedTables,
    table: str,
    columns: Sequence[str],
    source: Source,
    types: Mapping[str, str],
    weight: Sql | None = None,
) -> AlignedColumns:
    """Return published columns and the source's of the same names, both under names of our own and of one type.

    types: the source's columns with their types. weight: an expression over a published line, as column WEIGHT.
    """
    original_names = resolve_names(types, columns)
    sql_types = published.columns(table)
    names = tuple(f"value_{number}" for number in range(1, len(columns) + 1))
    original = [f"{source.expression(column)} as {name}" for column, name in zip(original_names, names, strict=True)]
    # read as the source's type: a value that publishing rounded differs from the original then
    values = [
        f"{ident(column)} as {name}"
        if sql_types[column] == types[in_source]
        else f"cast({ident(column)} as {types[in_source]}) as {name}"
        for column, in_source, name in zip(columns, original_names, names, strict=True)
    ]
    weighed = [] if weight is None else [f"{weight} as {WEIGHT}"]
    return AlignedColumns(
        Sql(f"(select {', '.join([*values, *weighed])} from {published.tables[table]})"),
        source.select(original, facts=table != "qit"),
        names,
    )


def compare_columns(
    published: PublishedTables,
    name: str,
    table: str,
    columns: Sequence[str],
    weight: Sql,
    source: Source,
    types: Mapping[str, str],
) -> Row:
    """Return how many rows were added to published columns, and how many are missing there; name: of the check."""
    return count_others(published, name, align_columns(published, table, columns, source, types, weight))


def count_others(published: PublishedTables, name: str, aligned: AlignedColumns) -> Row:
    """Return how many rows the published side, whose lines have a weight, has beside the original, and how many less.

    name: of the check.
    """
    multiset = {"name": "multiset", "names": aligned.names, "weight": ident(WEIGHT)}
    sides = {"published": aligned.published, "original": aligned.original}
    return published.answer(name, against(published, multisets=[{**multiset, **sides}])["multiset"])


def against(published: PublishedTables, **asked: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return the queries that compare a release with its source, by name: multisets, owners, bounds, covers."""
    return published.sections("verify/against", **{"multisets": (), "owners": (), "bounds": (), "covers": (), **asked})


def compare_multisets(published: PublishedTables, name: str, aligned: AlignedColumns) -> Row:
    """Return the same; of a run's own tables rows are counted only where sums of their hashes differ."""
    if published.original is not None:
        sums = add_up(published, aligned.published, [aligned.names], aligned.whole, ident(WEIGHT))
        if sums == add_up(published, aligned.original, [aligned.names], aligned.whole):
            return SAME_ROWS
    return count_others(published, name, aligned)


def whole_columns(types: Mapping[str, str]) -> dict[str, int | None]:
    """Return the columns of whole numbers among those of these types."""
    kinds = {name: sql_type.upper() for name, sql_type in types.items()}
    return {name: None if kind == "BIGINT" else 2**32 for name, kind in kinds.items() if kind in WHOLE}


def add_up(
    published: PublishedTables,
    rows: Sql,
    choices: Sequence[Sequence[str]],
    whole: WholeColumns,
    weight: Sql | None = None,
) -> list[Any]:
    """Return how many rows there are, and what their hashes come to by each choice of columns.

    weight: how many rows a line stands for, where it is not one.
    """
    hashed = [[_hashed_column(name, whole) for name in choice] for choice in choices]
    sql = render_query("verify/rows/fingerprint", {"choices": hashed, "weight": weight}, {"line": rows})
    row = published.answer("fingerprint", sql)
    numbers = range(1, len(choices) + 1)
    return [int(row["row_count"]), *((int(row[f"high_{number}"]), int(row[f"low_{number}"])) for number in numbers)]


def _hashed_column(name: str, whole: WholeColumns) -> Sql:
    if name not in whole:
        return ident(name)
    number, absent = f"cast({ident(name)} as bigint)", whole[name]
    return Sql(number if absent is None else f"coalesce({number}, {absent})")


def multiset_check(name: str, row: Mapping[str, Any], dropped: int) -> Check:
    """Judge a comparison of multisets: nothing was added, and as many rows are missing as were dropped."""
    holds = row["added_rows"] == 0 and row["missing_rows"] == dropped
    return Check(name, {"added_rows": 0, "missing_rows": dropped}, dict(row), holds)


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
class _Rows:
    """The run's own rows and the source's, by the columns `keys` (quasi values, packed where the run packs them).

    withheld: rows that only the source has; departed: lines, of value and group, that only ST has; people: everybody
    once, with the group, where there is a row for each of somebody's values. names: the quasi values as they stand;
    value: how a value is read, by which -0 is 0; whole: the columns of whole numbers.
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
    assert published.linked is not None
    quasi = published.manifest["columns"]["quasi"]
    *spelled, source_column = resolve_names(types, [*quasi, sensitive])
    value = "({} + 0)" if types[source_column] in _FRACTIONS else "{}"
    names = [f"value_{number}" for number in range(1, len(quasi) + 1)]
    expressions = [f"{source.expression(column)} as {name}" for column, name in zip(spelled, names, strict=True)]
    expressions.append(f"{value.format(source.expression(source_column))} as {_VALUE}")
    keys, linked_columns = names, [f"quasi_{number} as {name}" for number, name in enumerate(names, start=1)]
    if published.linked.layout is not None:
        keys, linked_columns = [PACKED], [PACKED]
    value_column, group_column = f"{value.format('sensitive')} as {_VALUE}", f"group_id as {_GROUP}"
    columns = zip([*names, _VALUE], [*spelled, source_column], strict=True)
    return _Rows(
        linked=_read(select, [*linked_columns, value_column, group_column]),
        withheld=_read_any(published.linked.withheld, [*linked_columns, value_column]),
        departed=_read_any(published.linked.departed, [value_column, group_column]),
        people=_read_any(published.linked.people, [*linked_columns, group_column]),
        original=_pack(published, source.select(expressions, facts=True), _VALUE, names),
        names=names, keys=keys, value=value,
        # a run counts groups and packed values from 0 on
        whole={**whole_columns({name: types[column] for name, column in columns}), PACKED: -1, _GROUP: -1},
    )  # fmt: skip


def _read(select: str, columns: Sequence[str]) -> Sql:
    return Sql(f"(select {', '.join(columns)} from (\n{select}\n) as linked_row)")


def _read_any(select: str | None, columns: Sequence[str]) -> Sql | None:
    return None if select is None else _read(select, columns)


def count_misplaced(
    published: PublishedTables, source: Source, types: Mapping[str, str], sensitive: Sequence[str]
) -> dict[str, int]:
    """Return how many rows the run has, and how many of them have another value than in the source, of any column.

    What was made of the values is published in the place of them, so that no table shows them beside groups.
    """
    assert published.linked is not None
    misplaced, people, dropped = 0, 0, published.manifest["dropped_rows"]
    for column, select in zip(sensitive, published.linked.selects, strict=True):
        rows = _read_rows(published, select, column, source, types)
        choice = [*rows.keys, _VALUE]
        sums, others = (add_up(published, side, [choice], rows.whole) for side in (rows.linked, rows.original))
        people = sums[0]
        if sums != others:
            misplaced = max(misplaced, _count_others(published, rows.linked, rows.original, choice, dropped))
    for relation, again in published.linked.remade.items():
        kinds = published.engine.columns(f"select * from {relation}")
        names, whole, now = list(kinds), whole_columns(kinds), Sql(f"(\n{again}\n) as remade")
        if add_up(published, now, [names], whole) != add_up(published, relation, [names], whole):
            misplaced = max(misplaced, _count_others(published, now, relation, names))
    return {"people": people, "in_wrong_groups": misplaced}


def compare_links(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Links:
    """Compare the rows of the run that wrote the tables with the source, QIT and ST."""
    assert published.linked is not None
    columns, dropped = published.manifest["columns"], published.manifest["dropped_rows"]
    (sensitive,), (select,) = columns["sensitive"], published.linked.selects
    rows = _read_rows(published, select, sensitive, source, types)

    def sum_up(relation: Sql, *choices: Sequence[str], weight: Sql | None = None) -> list[Any]:
        return add_up(published, relation, choices, rows.whole, weight)

    withheld = 0 if rows.withheld is None else sum_up(rows.withheld, [_VALUE])[0]
    missing = dropped - withheld
    if rows.people is not None and dropped:  # with each of them all of their values
        missing = int(sum_up(rows.original, [_VALUE])[0] - sum_up(rows.linked, [_VALUE])[0])
    by_person, by_place, by_value = [*rows.keys, _VALUE], [*rows.keys, _GROUP], [_VALUE, _GROUP]
    # ST's values with groups, and how many rows a line is; QIT's quasi values and groups, packed where the run packs
    weight_of_line = Sql(f"{ident(columns['group'])} as {_GROUP}, {ident(columns['count'])}")
    lines = align_columns(published, "st", columns["sensitive"], source, types, weight_of_line)
    value = rows.value.format(lines.names[0])
    values = Sql(f"(select {value} as {_VALUE}, {_GROUP}, {WEIGHT} from {lines.published})")
    placed = align_columns(published, "qit", columns["quasi"], source, types, ident(columns["group"]))
    people = Sql(f"(select {', '.join(placed.names)}, {WEIGHT} as {_GROUP} from {placed.published})")
    quasi = _pack(published, people, _GROUP, placed.names)
    # rows of the run, what they are compared with, by which columns, how many may lack in the run's
    sides = (
        (_add(rows.linked, rows.withheld, by_person), rows.original, by_person, missing),
        (rows.people or rows.linked, quasi, by_place, 0),
        (_add(rows.linked, rows.departed, by_value), values, by_value, 0),
    )
    linked_sums = sum_up(rows.linked, by_person, by_place, by_value)
    misplaced, agree, plain = 0, [], []
    for number, (own, others, choice, lacking) in enumerate(sides, start=1):
        weight = ident(WEIGHT) if others is values else None
        # packing loses values outside the ranges, so quasi values are also compared unpacked
        count, found, *unpacked = sum_up(others, choice, *([] if weight else [rows.names]), weight=weight)
        own_sums = [linked_sums[0], linked_sums[number]] if own is rows.linked else sum_up(own, choice)
        plain += unpacked
        agree.append([count, found] == own_sums)
        if not agree[-1]:
            misplaced = max(misplaced, _count_others(published, own, others, choice, lacking, weight))
    if rows.withheld is not None:
        plain[1] = tuple(map(sum, zip(plain[1], sum_up(rows.withheld, rows.names)[1], strict=True)))
    # the run's rows have the source's values, and ST has the run's
    same_values = dropped == withheld and not misplaced
    return Links(
        int(linked_sums[0]), misplaced, withheld, same_quasi=same_values and not rows.people and plain[0] == plain[1],
        same_values=same_values, same_sizes=all(agree[1:]) and rows.departed is None,
    )  # fmt: skip


def _add(rows: Sql, others: Sql | None, choice: Sequence[str]) -> Sql:
    """Return the columns `choice` of both relations' rows, or the first relation where there is no other."""
    listed = ", ".join(choice)
    return rows if others is None else Sql(f"(select {listed} from {rows} union all select {listed} from {others})")


def _pack(published: PublishedTables, relation: Sql, other: str, names: Sequence[str]) -> Sql:
    """Return rows with their quasi values as one number as well, where the run packs them."""
    if published.linked is None or published.linked.layout is None:
        return relation
    relations = {"population": relation, "layout": published.linked.layout}
    return published.subquery("packing", relations, quasi=names, kept=[*names, other])


def _count_others(
    published: PublishedTables,
    own: Sql,
    others: Sql,
    choice: Sequence[str],
    lacking: int = 0,
    weight: Sql | None = None,
) -> int:
    """Return how many rows one side has and the other has not, beyond those that may lack in the run's own."""
    listed = ", ".join(choice)
    # a row of the other side is subtracted as often as its weight says
    weighed = f"select {listed}, 1 - {weight or 1} as {WEIGHT} from {others}"
    both = Sql(f"(select {listed}, 1 as {WEIGHT} from {own} union all {weighed})")
    others = Sql(f"(select {listed} from {others})")
    row = count_others(published, "own rows", AlignedColumns(both, others, tuple(choice)))
    return max(int(row["added_rows"]), int(row["missing_rows"]) - lacking)
