"""Verify a release of generalized rows: k and l of every class of equal boxes, and that boxes are what they say."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from sqlanon.adversary.knowledge import boxes_query, name_answers, read_voters
from sqlanon.methods.mondrian.attributes import Attribute, described, held_table
from sqlanon.plans.manifest import Manifest, sensitive_tables
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import OWN_GROUP, Check, PublishedTables, Report, check_order
from sqlanon.verification.source_comparison import (
    WEIGHT,
    AlignedColumns,
    against,
    compare_columns,
    count_misplaced,
    count_others,
    multiset_check,
)


def shapes_of(
    attributes: Iterable[Attribute], shown: Mapping[str, str], covered: Callable[[Attribute], Sql]
) -> dict[str, object]:
    """Return what boxes show by bounds, and what by a node or a set.

    shown: what the columns of boxes are called, by their published names. covered: returns the relation of what an
    attribute's nodes or sets stand for. Returns of bounds (low, high, the condition under which a box may hold a NULL,
    attribute), of nodes and sets (column, relation, attribute).
    """
    shapes: dict[str, list[object]] = {"bounds": [], "node": [], "set": []}
    for attribute in attributes:
        first, *others = [shown[name] for name in attribute.names.values()]
        if attribute.shape == "bounds":  # without a column for it no box holds a NULL
            unknown = Sql(f"box.{ident(others[1])}" if others[1:] else "false")
            shapes["bounds"].append((first, others[0], unknown, attribute))
        else:
            shapes[attribute.shape].append((first, covered(attribute), attribute))
    return {"bounds": shapes["bounds"], "nodes": shapes["node"], "sets": shapes["set"]}


def held_nodes(published: PublishedTables, attribute: Attribute) -> Sql:
    """Return the nodes of an attribute's hierarchy with the values at or below each, to stand where a relation does."""
    assert attribute.hierarchy is not None
    return published.subquery("constants", {}, table=held_table(attribute.hierarchy))


def verify(published: PublishedTables) -> Report:
    """Check a release from its table alone: order, class sizes, different sensitive values, boxes."""
    (sensitive,) = published.manifest["columns"]["sensitive"]
    attributes = described(published.manifest)
    boxed = [name for attribute in attributes for name in attribute.names.values()]
    shapes = shapes_of(attributes, dict(zip(boxed, boxed, strict=True)), partial(covered_values, published))
    parameters = published.manifest["parameters"]
    limits = {"k": parameters["k"], "l": parameters["l"], "frequent": is_frequent(published.manifest)}
    answers = published.answer_chapter("verify/boxes", boxed=boxed, sensitive=sensitive, **shapes, **limits)
    order, rows = check_order(published, {"data": [*boxed, sensitive]}, "sorted by the published columns")
    classes, boxes = answers["classes"], answers["boxes"]
    faults = {name: int(boxes[name]) for name in ("wrong_bounds", "wrong_nodes", "wrong_sets")}
    l = parameters["l"]
    required = f">= {l}, each in at most 1/{l} of a box" if is_frequent(published.manifest) else f">= {l}"
    checks = (
        order,
        Check("k", f">= {parameters['k']}", classes["smallest_class"], classes["k_holds"]),
        Check("l", required, classes["least_values"], classes["l_holds"]),
        Check("boxes", "bounds, nodes and sets as they are declared", faults, not any(faults.values())),
    )
    figures = {
        "rows": classes["row_count"],
        **rows,
        "groups": classes["class_count"],
        "largest_class": classes["largest_class"],
        "largest_confidence": classes["largest_confidence"],
    }
    return Report(checks, figures)


def is_frequent(manifest: Manifest) -> bool:
    """Tell whether no value may stand in more than 1/l of a box; version 0.2.0 promised l different values."""
    parameters = manifest["parameters"]
    return bool(parameters.get("diversity") == "frequent" and parameters["l"] > 1)


def _room(
    published: PublishedTables, attribute: Attribute, source: Source, types: Mapping[str, str]
) -> dict[str, object]:
    """Return what counts the values of one source column for which the published boxes have no room."""
    (column,) = resolve_names(types, [attribute.name])
    original = Sql(f"(select {source.expression(column)} as value from {source.relation})")
    if attribute.shape != "bounds":
        return {
            "published": _shown(published, attribute),
            "original": original,
            "covered": covered_values(published, attribute),
        }
    low, high = ident(attribute.names["low"]), ident(attribute.names["high"])
    unknown = ident(attribute.names["unknown"]) if "unknown" in attribute.names else "false"
    ends = f"{low} as low, {high} as high, {unknown} as unknown"
    return {"published": Sql(f"(select {ends} from {published.tables['data']})"), "original": original}


def covered_values(published: PublishedTables, attribute: Attribute) -> Sql:
    """Return what each published node or set of an attribute stands for, to stand where a relation does."""
    if attribute.hierarchy is None:
        relations = {"published": _shown(published, attribute)}
        return published.subquery("verify/covered", relations, nodes=False, roots=[])
    relations = {"held": held_nodes(published, attribute)}
    roots = [attribute.hierarchy.root] * attribute.has_unknown
    return published.subquery("verify/covered", relations, nodes=True, roots=roots)


def _shown(published: PublishedTables, attribute: Attribute) -> Sql:
    return Sql(f"(select {ident(attribute.names[attribute.shape])} as shown from {published.tables['data']})")


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the sensitive values are the source's, and that the boxes have room for each column's values."""
    manifest, name = published.manifest, "sensitive_counts"
    sensitive = manifest["columns"]["sensitive"]
    balance = compare_columns(published, name, "data", sensitive, Sql("1"), source, types)
    counts, source = multiset_check(name, balance, manifest["dropped_rows"]), published.without_dropped(source, types)
    uncovered = {}
    for attribute in described(manifest):
        asked = {"name": "room", **_room(published, attribute, source, types)}
        shape = "covers" if "covered" in asked else "bounds"
        values = f"values of {attribute.name}"
        row = published.answer(values, against(published, **{shape: [asked]})["room"])
        if row["uncovered_values"]:
            uncovered[values] = int(row["uncovered_values"])
    room = Check(
        "quasi_values", "room in the boxes for every value of each column", uncovered or "holds", not uncovered
    )
    if published.linked is None:
        return counts, room
    misplaced = count_misplaced(published, source, types, sensitive)
    required = "nobody in another's box, or with another's value"
    return counts, room, Check(OWN_GROUP, required, misplaced, not misplaced["in_wrong_groups"])


def compare_boxes(published: PublishedTables) -> Check:
    """Check that the tables of all sensitive columns have the same boxes."""
    first, *others = sensitive_tables(published.manifest).values()
    boxed = [name for attribute in described(published.manifest) for name in attribute.names.values()]
    names = tuple(f"value_{number}" for number, _ in enumerate(boxed, start=1))
    listed = ", ".join(f"{ident(column)} as {name}" for column, name in zip(boxed, names, strict=True))
    unequal = 0
    for other in others:  # the boxes of each further table, and those of the first
        one, two = (Sql(f"(select {listed}, 1 as {WEIGHT} from {published.tables[table]})") for table in (first, other))
        row = count_others(published, f"boxes of {other}", AlignedColumns(one, two, names))
        unequal += int(row["added_rows"] + row["missing_rows"])
    return Check(
        "same_boxes", "every box as often in the table of each column", {"unequal_boxes": unequal}, not unequal
    )


def box_presence_query(published: PublishedTables, voters: object) -> str:
    """Return the query that looks for the boxes in which voters lie.

    It answers a row for all voters alike: the quasi columns, how many voters lie in the same boxes, those of ANSWERS.
    """
    attributes = described(published.manifest)
    relation, quasi = read_voters(published, voters, {attribute.name: attribute.type for attribute in attributes})
    boxed = [name for attribute in attributes for name in attribute.names.values()]
    aliases = {name: f"shown_{number}" for number, name in enumerate(boxed, start=1)}
    (sensitive,) = published.manifest["columns"]["sensitive"]
    box = Sql(f"(\n{boxes_query(published, boxed, sensitive)}\n)")
    voter = published.subquery("adversary/voter_list/voter", {"voters": relation}, voter_quasi=quasi)
    return published.query(
        "adversary/voter_list/box_presence",
        {"voter": voter, "box": box},
        people={attribute.name: f"quasi_{attribute.number}" for attribute in attributes},
        **shapes_of(attributes, aliases, partial(covered_values, published)),
        **name_answers([attribute.name for attribute in attributes], "voters_in_box"),
    )
