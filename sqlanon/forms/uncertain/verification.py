"""Verify a release of uncertain data: sizes, weights, and that exactly the uncertain values are shown as uncertain."""

from collections.abc import Mapping
from typing import Any

from sqlanon.forms.uncertain import UNCERTAIN
from sqlanon.forms.uncertain.release_relations import (
    is_single,
    read_sets,
    unfold_marks,
    weigh_groups,
    write_nodes,
)
from sqlanon.forms.uncertain.source_rows import SourceRows, read_source_rows, write_true_rows
from sqlanon.methods.uncertain.read_manifest import GENERALIZE, MERGE, described
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import REPORTED, Check, PublishedTables, Report
from sqlanon.verification.multisets import (
    WEIGHT,
    AlignedColumns,
    compare_multisets,
    multiset_check,
    whole_columns,
)
from sqlanon.verification.row_order import check_order

# no name that queries of recipients read: a cast of such a column to a whole number is refused
_VALUE = "sensitive_value"


def _align_columns(published: PublishedTables, source: Source, types: Mapping[str, str]) -> dict[str, AlignedColumns]:
    """Return what is compared with the source, by the names of the checks."""
    original = read_source_rows(published, source, types)
    return {
        "quasi_rows": _align_quasi(published, original),
        "sensitive_counts": _align_sensitive(published, original),
    }


def _align_sensitive(published: PublishedTables, original: SourceRows) -> AlignedColumns:
    """Return ST's sets beside the source's."""
    sql_type = original.sql_types["sensitive"]
    ordered = "list_sort({}, 'asc', 'nulls last')"
    shown = Sql(ordered.format(f"cast(chosen as {sql_type}[])"))
    return AlignedColumns(
        _weigh(published, read_sets(published), shown, Sql("occurrences")),
        _weigh(published, original.rows, Sql(ordered.format("sensitive")), Sql("1")),
        (_VALUE,),
    )


def _weigh(published: PublishedTables, relation: Sql, sensitive: Sql, weight: Sql) -> Sql:
    """Return sensitive values, or sets of alternatives, in the type of the source, with how many rows a line is."""
    return published.subquery("source", relation=relation, selected=[(sensitive, _VALUE), (weight, WEIGHT)])


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


def _count_hidden(published: PublishedTables) -> Mapping[str, int]:
    """Return how many rows show other quasi values than their own."""
    if published.manifest["parameters"]["undiverse"] == MERGE:
        return {"suppressed_rows": 0, "generalized_rows": 0}
    unfolded = {"unfolded": unfold_marks(published, described(published.manifest))}
    return published.answer("hidden", published.query("forms/uncertain/source/hidden", unfolded))


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's alternatives, as multisets, up to dropped and hidden rows."""
    aligned = _align_columns(published, source, types)
    balances = {name: compare_multisets(published, name, rows) for name, rows in aligned.items()}
    hidden = _count_hidden(published)
    dropped = published.manifest["dropped_rows"]
    # a hidden row shows '*' for its quasi values, while ST counts its sensitive value as any other
    missing = {
        "quasi_rows": dropped + hidden["suppressed_rows"] + hidden["generalized_rows"],
        "sensitive_counts": dropped,
    }
    return tuple(multiset_check(name, row, missing[name]) for name, row in balances.items())


SORTED = "sorted by the published columns, every set once in a group"
ONE_VALUE = "one_value"  # groups that give away a value, though a harmless one
# what is found of lines of ST that are one value each, and all different
NO_FAULTY_LINES = {"faulty_lines": 0, "equal_lines": 0, "uncertain_values": 0}


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: order, sizes, weights, marks, values."""
    columns, parameters = published.manifest["columns"], published.manifest["parameters"]
    quasi = described(published.manifest)
    climbs = parameters["undiverse"] == GENERALIZE
    table_columns = UNCERTAIN.published_columns(published.manifest)
    # equal marks follow from equal QIIDs; ST has one line per group and set
    marks = columns["alternatives"]
    lines = {"qit": [name for name in table_columns["qit"] if name != marks], "st": table_columns["st"][:-1]}
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
    lines_text = texts.pop("set_lines")
    answers = {name: published.answer(name, sql) for name, sql in texts.items()}
    order, rows = check_order(published, lines, SORTED, all_differ=["st"])
    proved = is_single(published) and order.holds and not answers["weights"]["unweighted_values"]
    answers["set_lines"] = NO_FAULTY_LINES if proved else published.answer("set_lines", lines_text)
    weights, marks = answers["weights"], answers["alternatives"]
    # each figure counts groups, lines or values that break the promise; all are 0 in a sound release
    sizes = {
        "smallest_group": weights["smallest_group"],
        "largest_group": weights["largest_group"],
        **_pick_counts(weights, "unequal_groups", "wrong_counts"),
    }
    unsafe = _pick_counts(weights, "unsafe_groups", "half_suppressed_groups", "unweighted_values")
    unsafe |= _pick_counts(answers["set_lines"], "faulty_lines", "equal_lines")
    wrong = _pick_counts(marks, "wrong_marks", "became_uncertain", "became_certain")
    certain = {"groups_of_one_value": weights["one_value_groups"], "rows_known_for_certain": weights["one_value_rows"]}
    outside = _pick_counts(answers["domains"], "outside_hierarchy", "unreadable")
    generalized: list[Check] = []
    if "generalized" in answers:
        counts = _pick_counts(answers["generalized"], "generalized_groups", "generalized_rows", "uneven_groups")
        required = "a group that climbed shows the same in every row"
        generalized = [Check("generalized", required, counts, not counts["uneven_groups"])]
    safe = (
        f"every group: all weights < {parameters['threshold']}, or >= {parameters['l']} different ones and rows that"
        " differ, or hidden"
    )
    checks = (
        *([Check(ONE_VALUE, REPORTED, certain, None, certain=True)] if weights["one_value_groups"] else []),
        order,
        Check(
            "cluster_size",
            f"every group >= {parameters['k']}{_limit(parameters)}, as large in QIT as in ST",
            sizes,
            weights["group_count"] > 0
            and weights["largest_group"] <= parameters.get("max_group", weights["largest_group"])
            and not (weights["small_groups"] or sizes["unequal_groups"] or sizes["wrong_counts"]),
        ),
        _check_none("weights", safe, unsafe, weights["group_count"] > 0),
        _check_none("alternatives", "nothing certain became uncertain, nor the reverse", wrong),
        *generalized,
        _check_none("domains", "every value in its hierarchy and of its type", outside),
    )
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
    return Report(checks, figures)


def _check_none(name: str, required: str, faults: Mapping[str, int], sound: bool = True) -> Check:
    """Return the check that there are no faults of these kinds; sound: whether it can hold at all."""
    return Check(name, required, faults, sound and not any(faults.values()))


def _limit(parameters: Mapping[str, Any]) -> str:
    return f" and <= {parameters['max_group']}" if "max_group" in parameters else ""


def _pick_counts(row: Mapping[str, Any], *names: str) -> dict[str, int]:
    return {name: int(row[name]) for name in names}
