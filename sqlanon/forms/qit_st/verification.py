"""Verify a release of groups (QIT and ST): sizes, diversity, confidence, and agreement with a source."""

from collections.abc import Mapping, Sequence

from sqlanon.plans.manifest import Manifest, follows, of_people
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import OWN_GROUP, REPORTED, Check, PublishedTables, Report, check_order
from sqlanon.verification.source_comparison import (
    SAME_ROWS,
    WEIGHT,
    against,
    align_columns,
    compare_columns,
    compare_links,
    multiset_check,
)

SORTED = "sorted by the published columns, every value once in a group"
EQUAL = "every group as large in QIT as in ST"
EACH = "everybody of a group with a value of their own there, each value once"
AT_MOST = "no group larger in QIT than in ST, and none without a row: others of it have departed"
QUASI_ROWS, VALUES = "quasi_rows", "sensitive_counts"  # the checks beside the source


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
    figures = {"rows": rows["qit_rows"] if follows(manifest) else groups["row_count"], **rows}
    figures |= {"groups": groups["group_count"], **{name: groups[name] for name in ("smallest_group", "largest_group")}}
    if not people:  # what a value tells of a row's others is not what it is of
        # RCE = sum over rows of (1 - c_v/n)^2 + sum over w != v of (c_w/n)^2 >= N (1 - 1/l) for every l-diverse one
        error, bound = groups["reconstruction_error"], groups["row_count"] * (l - 1) / l
        figures |= {"reconstruction_error": error, "reconstruction_error_bound": bound}
        figures["reconstruction_error_ratio"] = error / bound if bound else None
    if follows(manifest):
        figures["departed"] = int(groups["departed"])
    return Report(checks, figures), answers


def _owners(published: PublishedTables, source: Source, types: Mapping[str, str]) -> dict[str, object]:
    """Return what counts the people whose group does not hold their value."""
    columns = published.manifest["columns"]
    quasi, (sensitive,), group = columns["quasi"], columns["sensitive"], ident(columns["group"])
    people = align_columns(published, "qit", quasi, source, types, group)
    values = align_columns(published, "st", [sensitive], source, types, group)
    (value_name,) = values.names
    *spelled, source_column = resolve_names(types, [*quasi, sensitive])
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
    columns, most = manifest["columns"], dropped
    if dropped and of_people(manifest):  # with everybody who is left out all of their values
        (column,) = resolve_names(types, columns["sensitive"])
        (largest,) = published.engine.rows(source.largest(column, dropped))
        most = int(largest["most"])
    links = None if published.linked is None else compare_links(published, source, types)

    def compare(name: str, table: str, names: Sequence[str], weight: Sql, same: bool) -> Row:
        if links is not None and same:
            return {**SAME_ROWS, "missing_rows": links.withheld}
        return compare_columns(published, name, table, names, weight, source, types)

    same_quasi, same_values = (False, False) if links is None else (links.same_quasi, links.same_values)
    rows = compare(QUASI_ROWS, "qit", columns["quasi"], Sql("1"), same_quasi)
    # under `keep` values of before are shown, which the source has no more
    outdated = follows(manifest) and manifest["parameters"].get("changed") == "keep"
    if outdated:
        values = Check(VALUES, REPORTED, "not run", None)
    else:
        lines = compare(VALUES, "st", columns["sensitive"], ident(columns["count"]), same_values)
        values = _check_values(manifest, lines, dropped, most)
    if links is not None:
        figures = {"people": links.people, "in_wrong_groups": links.misplaced}
        own = Check(OWN_GROUP, "nobody in a group without their value", figures, not links.misplaced)
    else:
        owners = against(published, owners=[_owners(published, source, types)])
        own = _check_owners(published.answer(OWN_GROUP, owners[OWN_GROUP]), outdated)
    return multiset_check(QUASI_ROWS, rows, dropped), values, own


def _check_values(manifest: Manifest, row: Row, dropped: int, most: int) -> Check:
    """Judge the comparison of ST with the source; most: how many values those of the dropped people are at most."""
    if follows(manifest):  # ST holds what departed members brought
        holds = row["missing_rows"] <= dropped
        # the figures would tell of values that are not shown, so that a release says only whether they agree
        return Check(VALUES, {"missing_rows": f"<= {dropped}"}, "holds" if holds else dict(row), holds)
    if dropped and of_people(manifest):
        holds = row["added_rows"] == 0 and row["missing_rows"] <= most
        return Check(VALUES, {"added_rows": 0, "missing_rows": f"<= {most}"}, dict(row), holds)
    return multiset_check(VALUES, row, dropped)


def _check_owners(row: Row, outdated: bool) -> Check:
    required = "nobody, of whom quasi values single out, in a group without their value"
    if outdated:
        return Check(OWN_GROUP, required, "not run: some are shown with values that they no longer have", None)
    if not row["people"]:
        return Check(OWN_GROUP, required, "nobody is unique on the quasi columns: cannot be told", None)
    return Check(OWN_GROUP, required, dict(row), not row["in_wrong_groups"])
