"""Verify a release of groups (QIT and ST): sizes, diversity, confidence, and agreement with a source."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.plans.manifest import Manifest, follows, of_people
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import OWN_GROUP, REPORTED, Check, PublishedTables, Report
from sqlanon.verification.linkage import compare_links
from sqlanon.verification.multisets import SAME_ROWS, WEIGHT, against, align_columns, compare_columns, multiset_check
from sqlanon.verification.row_order import check_order

SORTED = "sorted by the published columns, every value once in a group"
EQUAL = "every group as large in QIT as in ST"
EACH = "everybody of a group with a value of their own there, each value once"
AT_MOST = "no group larger in QIT than in ST, and none without a row: others of it have departed"
QUASI_ROWS = "quasi_rows"


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: order, sizes, diversity, confidence."""
    return prove(published)[0]


def prove(published: PublishedTables, signature: Sequence[str] = ()) -> tuple[Report, dict[str, Row]]:
    """Check a release from its tables alone; return what its groups come to as well.

    signature: the columns that rows of one class share.
    """
    manifest = published.manifest
    columns, parameters = manifest["columns"], manifest["parameters"]
    l, people, least = parameters["l"], of_people(manifest), parameters["l"] + parameters.get("reserve", 0)
    links = published.linked and published.original and compare_links(published, *published.original)
    answers = published.answer_chapter(
        "verify/groups",
        group=columns["group"],
        count=columns["count"],
        l=l,
        least=least,
        follows=follows(manifest),
        people=people,
        # whether the rows of each group in QIT are counted, to be compared with ST
        counts_shown=people or not (links and links.same_sizes),
        signature=signature,
    )
    # ST has one line per group and value: two lines that agree so far are a fault, whatever their counts
    lines = {"qit": [*columns["quasi"], columns["group"]], "st": [columns["group"], *columns["sensitive"]]}
    order, rows = check_order(published, lines, SORTED, all_differ=["st"])
    groups = answers["groups"]
    faults = {name: int(groups[name]) for name in ("unequal_groups", "wrong_counts")}
    sizes = EACH if people else AT_MOST if follows(manifest) else EQUAL
    checks = (
        order,
        Check("sizes", sizes, faults, groups["sizes_hold"]),
        Check("diversity", f">= {least}", groups["least_distinct"], groups["diversity_holds"]),
        Check("confidence", f"<= 1/{l}", groups["largest_confidence"], groups["confidence_holds"]),
    )
    figures = _partition_figures(groups, l, rows)
    if people:  # what a value tells of a row's others is not what it is of
        figures = {name: figure for name, figure in figures.items() if not name.startswith("reconstruction")}
    if follows(manifest):
        figures |= {"rows": rows["qit_rows"], "departed": int(groups["departed"])}
    return Report(checks, figures), answers


def _partition_figures(groups: Mapping[str, Any], l: int, rows: Mapping[str, int]) -> dict[str, Any]:
    # RCE = sum over rows of (1 - c_v/n)^2 + sum over w != v of (c_w/n)^2 >= N (1 - 1/l) for every l-diverse partition
    bound = groups["row_count"] * (l - 1) / l
    return {
        "rows": groups["row_count"],
        **rows,
        "groups": groups["group_count"],
        "smallest_group": groups["smallest_group"],
        "largest_group": groups["largest_group"],
        "reconstruction_error": groups["reconstruction_error"],
        "reconstruction_error_bound": bound,
        "reconstruction_error_ratio": groups["reconstruction_error"] / bound if bound else None,
    }


def _owners(published: PublishedTables, source: Source, types: Mapping[str, str]) -> dict[str, object]:
    """Return what counts the people whose group does not hold their value."""
    columns = published.manifest["columns"]
    quasi, (sensitive,), group = columns["quasi"], columns["sensitive"], ident(columns["group"])
    people = align_columns(published, "qit", quasi, source, types, group)
    values = align_columns(published, "st", [sensitive], source, types, group)
    (value_name,) = values.names
    *spelled, source_column = resolve_names(list(types), [*quasi, sensitive])
    value = "({} + 0)" if types[source_column] in ("DOUBLE", "FLOAT") else "{}"  # -0 and 0 are one value, and two texts
    listed = f"{value.format(value_name)} as sensitive_value, {WEIGHT} as group_number"
    expressions = [f"{source.expression(column)} as {name}" for column, name in zip(spelled, people.names, strict=True)]
    expressions.append(f"{value.format(source.expression(source_column))} as sensitive_value")
    original = source.select(expressions, facts=True)
    return {
        "names": people.names,
        "sensitive": "sensitive_value",
        "group": WEIGHT,
        "published": people.published,
        "original": people.original if source.persons else original,
        "facts": original if source.persons else None,
        "held": Sql(f"(select {listed} from {values.published})"),
    }


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that the published values are the source's, up to the dropped rows, and in the groups of their people."""
    manifest, dropped = published.manifest, published.manifest["dropped_rows"]
    columns, most, checks = manifest["columns"], dropped, list[Check]()
    if dropped and of_people(manifest):  # with everybody who is left out all of their values
        (column,) = resolve_names(list(types), columns["sensitive"])
        (largest,) = published.engine.rows(source.largest(column, dropped))
        most = int(largest["most"])
    links = None if published.linked is None else compare_links(published, source, types)
    for name, table, names, weight in (
        (QUASI_ROWS, "qit", columns["quasi"], Sql("1")),
        ("sensitive_counts", "st", columns["sensitive"], ident(columns["count"])),
    ):
        if links is not None and (links.same_quasi if table == "qit" else links.same_values):
            row: Row = {**SAME_ROWS, "missing_rows": links.withheld}
        else:
            row = compare_columns(published, name, table, names, weight, source, types)
        checks.append(_judge(manifest, name, row, dropped, most))
    if links is None:
        owners = against(published, owners=[_owners(published, source, types)])
        own = _judge_groups(manifest, published.answer(OWN_GROUP, owners[OWN_GROUP]))
    else:
        figures = {"people": links.people, "in_wrong_groups": links.misplaced}
        own = Check(OWN_GROUP, "nobody in a group without their value", figures, not links.misplaced)
    return (*checks, own)


def _judge(manifest: Manifest, name: str, row: Mapping[str, Any], dropped: int, most: int) -> Check:
    if name != QUASI_ROWS and dropped and of_people(manifest):
        holds = row["added_rows"] == 0 and row["missing_rows"] <= most
        return Check(name, {"added_rows": 0, "missing_rows": f"<= {most}"}, dict(row), holds)
    if name == QUASI_ROWS or not follows(manifest):
        return multiset_check(name, row, dropped)
    # ST holds what departed members brought, and under `keep` values that are out of date. The figures would tell of
    # values that are not shown, so that a release says only whether they agree
    if manifest["parameters"].get("changed") == "keep":
        return Check(name, REPORTED, "not run", None)
    holds = row["missing_rows"] <= dropped
    return Check(name, {"missing_rows": f"<= {dropped}"}, "holds" if holds else dict(row), holds)


def _judge_groups(manifest: Manifest, row: Mapping[str, Any]) -> Check:
    required = "nobody, of whom quasi values single out, in a group without their value"
    if follows(manifest) and manifest["parameters"].get("changed") == "keep":
        return Check(OWN_GROUP, required, "not run: some are shown with values that they no longer have", None)
    if not row["people"]:
        return Check(OWN_GROUP, required, "nobody is unique on the quasi columns: cannot be told", None)
    return Check(OWN_GROUP, required, dict(row), not row["in_wrong_groups"])
