"""Verify a release of uncertain data: sizes, weights, and that exactly the uncertain values are shown as uncertain."""

from collections.abc import Mapping

from sqlanon.forms.uncertain import UNCERTAIN
from sqlanon.forms.uncertain.source_rows import (
    SourceRows,
    is_single,
    read_sets,
    read_source_rows,
    unfold_marks,
    weigh_groups,
    write_nodes,
    write_true_rows,
)
from sqlanon.methods.uncertain.read_manifest import GENERALIZE, MERGE, described
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import REPORTED, Check, PublishedTables, Report, check_order
from sqlanon.verification.source_comparison import (
    WEIGHT,
    AlignedColumns,
    compare_multisets,
    multiset_check,
    whole_columns,
)

# no name that queries of recipients read: a cast of such a column to a whole number is refused
_VALUE = "sensitive_value"
SORTED = "sorted by the published columns, every set once in a group"
# what is found of lines of ST that are one value each, and all different
NO_FAULTY_LINES = {"faulty_lines": 0, "equal_lines": 0, "uncertain_values": 0}


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: order, sizes, weights, marks, values."""
    parameters = published.manifest["parameters"]
    answers, order, rows = _read_tables(published)
    weights, marks = answers["weights"], answers["alternatives"]
    k, l, threshold, most = (parameters.get(name) for name in ("k", "l", "threshold", "max_group"))
    sound = weights["group_count"] > 0
    sized = sound and not weights["small_groups"] and (most is None or weights["largest_group"] <= most)
    # each figure of these checks counts groups, lines or values that break the promise; all are 0 in a sound release
    sizes = _check_none(
        "cluster_size",
        f"every group >= {k}{'' if most is None else f' and <= {most}'}, as large in QIT as in ST",
        _pick(weights, "unequal_groups", "wrong_counts"),
        sized,
        {name: weights[name] for name in ("smallest_group", "largest_group")},
    )
    unsafe = _pick(weights, "unsafe_groups", "half_suppressed_groups", "unweighted_values")
    unsafe |= _pick(answers["set_lines"], "faulty_lines", "equal_lines")
    safe = f"every group: all weights < {threshold}, or >= {l} different ones and rows that differ, or hidden"
    checks = [order, sizes, _check_none("weights", safe, unsafe, sound)]
    if weights["one_value_groups"]:  # that give away a value, though a harmless one
        one_value = {
            "groups_of_one_value": weights["one_value_groups"],
            "rows_known_for_certain": weights["one_value_rows"],
        }
        checks.insert(0, Check("one_value", REPORTED, one_value, None, certain=True))
    wrong = _pick(marks, "wrong_marks", "became_uncertain", "became_certain")
    checks.append(_check_none("alternatives", "nothing certain became uncertain, nor the reverse", wrong))
    if "generalized" in answers:
        climbed = _pick(answers["generalized"], "generalized_groups", "generalized_rows")
        uneven = _pick(answers["generalized"], "uneven_groups")
        required = "a group that climbed shows the same in every row"
        checks.append(_check_none("generalized", required, uneven, shown=climbed))
    outside = _pick(answers["domains"], "outside_hierarchy", "unreadable")
    checks.append(_check_none("domains", "every value in its hierarchy and of its type", outside))
    figures = {
        "rows": weights["row_count"],
        **rows,
        "groups": weights["group_count"],
        **{name: weights[name] for name in ("smallest_group", "largest_group", "suppressed_groups")},
        **{name: marks[name] for name in ("suppressed_rows", "uncertain_rows")},
        "uncertain_sensitive": answers["set_lines"]["uncertain_values"],
        **{name: weights[name] for name in ("least_weights", "largest_confidence")},
        **answers["held_values"],
    }
    return Report(tuple(checks), figures)


def _read_tables(published: PublishedTables) -> tuple[dict[str, Row], Check, dict[str, int]]:
    """Return what each query of the chapter answers, by its name, the check of the order, and the tables' rows."""
    columns, parameters = published.manifest["columns"], published.manifest["parameters"]
    quasi, climbs = described(published.manifest), parameters["undiverse"] == GENERALIZE
    texts = published.sections(
        "verify/uncertain",
        write_nodes(published, quasi),
        unfolded=unfold_marks(published, quasi),
        set_line=read_sets(published),
        weighed=weigh_groups(published, quasi),
        values=columns["values"],
        **{name: parameters[name] for name in ("k", "l", "threshold")},
        trees=list(quasi.trees),
        ordered=[place for place, _ in quasi.ordered],
        typed=quasi.ordered,
        plain=quasi.plain,
        marked=range(1, len(quasi.quasi) + 1),
        climbs=climbs,
        least=0 if climbs else 1,  # marks of 0 alternatives: a group was generalized
    )
    set_lines = texts.pop("set_lines")
    answers = {name: published.answer(name, sql) for name, sql in texts.items()}
    tables = UNCERTAIN.published_columns(published.manifest)
    # equal marks follow from equal QIIDs; ST has one line per group and set
    lines = {"qit": [name for name in tables["qit"] if name != columns["alternatives"]], "st": tables["st"][:-1]}
    order, rows = check_order(published, lines, SORTED, all_differ=["st"])
    proved = is_single(published) and order.holds and not answers["weights"]["unweighted_values"]
    answers["set_lines"] = NO_FAULTY_LINES if proved else published.answer("set_lines", set_lines)
    return answers, order, rows


def _check_none(
    name: str, required: str, faults: Mapping[str, int], sound: bool = True, shown: Mapping[str, object] = {}
) -> Check:
    """Return the check that there are no faults of these kinds; sound: whether it can hold at all.

    shown: what is told beside them.
    """
    return Check(name, required, {**shown, **faults}, sound and not any(faults.values()))


def _pick(row: Row, *names: str) -> dict[str, int]:
    return {name: int(row[name]) for name in names}


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's alternatives, as multisets, up to dropped and hidden rows."""
    original, dropped = read_source_rows(published, source, types), published.manifest["dropped_rows"]
    hidden = 0
    if published.manifest["parameters"]["undiverse"] != MERGE:
        unfolded = {"unfolded": unfold_marks(published, described(published.manifest))}
        counts = published.answer("hidden", published.query("forms/uncertain/source/hidden", unfolded))
        hidden = counts["suppressed_rows"] + counts["generalized_rows"]
    # a hidden row shows '*' for its quasi values, while ST counts its sensitive value as any other
    sides = {
        "quasi_rows": (_align_quasi(published, original), dropped + hidden),
        "sensitive_counts": (_align_sensitive(published, original), dropped),
    }
    return tuple(
        multiset_check(name, compare_multisets(published, name, aligned), missing)
        for name, (aligned, missing) in sides.items()
    )


def _align_sensitive(published: PublishedTables, original: SourceRows) -> AlignedColumns:
    """Return ST's sets beside the source's, in the type of the source, each with how many rows a line is."""
    ordered = "list_sort({}, 'asc', 'nulls last')"
    shown = Sql(ordered.format(f"cast(chosen as {original.sql_types['sensitive']}[])"))
    selected = [(shown, _VALUE), (Sql("occurrences"), WEIGHT)]
    told = [(Sql(ordered.format("sensitive")), _VALUE), (Sql("1"), WEIGHT)]
    return AlignedColumns(
        published.subquery("source", relation=read_sets(published), selected=selected),
        published.subquery("source", relation=original.rows, selected=told),
        (_VALUE,),
    )


def _align_quasi(published: PublishedTables, original: SourceRows) -> AlignedColumns:
    """Return QIT's rows beside what the source's rows should show."""
    columns = described(published.manifest)
    places = range(1, len(columns.quasi) + 1)
    # QIT shows nodes as texts; other values are compared in the source's type, in which they were written
    sql_types = {n: Sql("varchar") if n in columns.trees else original.sql_types[f"quasi_{n}"] for n in places}
    values = [*(["value_0"] if original.labels else []), *(f"value_{place}" for place in places)]
    counts = [f"alternatives_{place}" for place in places]
    whole = whole_columns({f"value_{place}": sql_type for place, sql_type in sql_types.items()})
    return AlignedColumns(
        published.subquery(
            "forms/uncertain/source/shown_row",
            {"unfolded": unfold_marks(published, columns)},
            places=places,
            sql_types=sql_types.items(),
            labels=original.labels,
        ),
        write_true_rows(published, original, original.labels),
        (*values, *counts),
        {**whole, **dict.fromkeys(counts)},
    )
