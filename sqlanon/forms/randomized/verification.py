"""Verify a release of randomized values (SPLU-Gen): what its one table proves, and what only its source can."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.forms.randomized import RANDOMIZED
from sqlanon.plans.manifest import Manifest, departed, follows, value_lists
from sqlanon.plans.plan import Row, Source
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import OWN_GROUP, Check, PublishedTables, Report, check_order, equal_figures
from sqlanon.verification.source_comparison import align_columns, compare_columns, count_misplaced, multiset_check

LISTED = "values"  # the check of the lists of values
FOREIGN, MISSING = "values that nobody has", "values that are not listed"
FALSE_ALARM = 1e-6  # how often a sound release may fail the check of its published counts, and of parts of its rows
PARTS = 20  # along each quasi column, in which values have to be kept as often as everywhere
LEAST = 20  # people of a part that is looked at
SHOWN_PARTS = 3


def _count_lacking(published: PublishedTables, name: str, column: str, one: Sql, other: Sql) -> int:
    """Return how many values of the one relation the other has not; name: what the query is called."""
    sql = published.query("verify/rows/lacking", {"one": one, "other": other}, column=column)
    return int(published.answer(name, sql)["lacking"])


def verify(published: PublishedTables) -> Report:
    """Check a release from its tables alone: order, that the manifest promises what gamma gives, lists of values."""
    listed, tables = value_lists(published.manifest), published.tables
    columns = RANDOMIZED.published_columns(published.manifest)
    ordered, counted = check_order(published, columns, "sorted by the published columns", all_differ=listed)
    checks = [ordered, _gamma_check(published.manifest, counted["data_rows"])]
    if listed:
        lacking = {
            column: _count_lacking(published, f"{LISTED} of {column}", column, tables["data"], tables[table])
            for table, column in listed.items()
        }
        required = "every published value stands in the list, and none twice"
        checks.append(Check(LISTED, required, {"not listed": lacking}, not any(lacking.values())))
    return Report(tuple(checks), {"rows": counted["data_rows"], **counted})


def _gamma_check(manifest: Manifest, rows: int) -> Check:
    """Compare the promise with what gamma and the number of rows give; it is printed, not proved."""
    gammas = manifest["parameters"]["gamma"]
    ever = rows + departed(manifest)
    whole = manifest["parameters"]["residue"] == "keep" or all(ever % gamma == 0 for gamma in gammas.values())
    feasible = all(ever >= gamma for gamma in gammas.values())
    promise = manifest.get("guarantee")  # a new release has none before it is verified
    agrees = not promise or (feasible and equal_figures(RANDOMIZED.guarantee(manifest, rows), promise))
    return Check(
        "gamma",
        "the promise that gamma gives, and whole decoy groups",
        {"gamma": gammas, "promise": "as gamma gives" if agrees else "another", "whole_groups": whole},
        agrees and whole and feasible,
    )


def _column_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> dict[str, str]:
    """Return the queries of each sensitive column by its number, `retention_1` and `published_counts_1` on."""
    quasi, columns = published.manifest["columns"]["quasi"], []
    for column in published.manifest["columns"]["sensitive"]:
        people = align_columns(published, "data", [*quasi, column], source, types)
        *names, name = people.names
        sides = {"published": people.published, "original": people.original}
        columns.append({"quasi": names, "sensitive": name, **sides})
    return published.sections("verify/randomized", columns=columns, parts=PARTS, least=LEAST)


def verify_against(published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
    """Check that quasi values are the source's, that rows keep their value as often as 1/gamma, and the counts.

    retention: over people unique on their quasi values, within 4 standard errors of 1/gamma, and in each part of them
    (twentieths along each quasi column, people of one value) no further from it than chance.
    published_counts: every count within Binomial(gamma f, 1/gamma) of the source's count f.
    """
    manifest = published.manifest
    gammas, dropped = manifest["parameters"]["gamma"], manifest["dropped_rows"]
    # up to gamma - 1 rows beyond a multiple of gamma were left out; whose values they had, the release does not tell
    drops = manifest["parameters"]["residue"] == "drop"
    quasi_rows = compare_columns(published, "quasi_rows", "data", manifest["columns"]["quasi"], Sql("1"), source, types)
    source, listed = published.without_dropped(source, types), dict[str, int]()
    for table, column in value_lists(manifest).items():
        both = align_columns(published, table, [column], source, types)
        (name,) = both.names
        for words, one, other in ((FOREIGN, both.published, both.original), (MISSING, both.original, both.published)):
            listed[f"{words} of {column}"] = _count_lacking(published, f"{words} of {column}", name, one, other)
    queries, retention, worst = _column_queries(published, source, types), {}, {}
    for number, column in enumerate(gammas, start=1):
        retention[column] = published.ask(f"retention of {column}", queries[f"retention_{number}"])
        rows = published.ask(f"published counts of {column}", queries[f"published_counts_{number}"])
        worst[column] = _least_probability(rows, gammas[column], drops)
    checks = [multiset_check("quasi_rows", quasi_rows, dropped)]
    checks += [_retention_check(retention, gammas, manifest), _counts_check(worst, manifest)]
    if listed:
        # a value that only rows beyond a multiple of gamma had is in no list
        required = f"the source's values, without those that none but the {dropped} rows left out have"
        sound = all(count <= (dropped if name.startswith(MISSING) else 0) for name, count in listed.items())
        checks.append(Check("listed_values", required, listed, sound))
    if published.linked is not None:
        misplaced = count_misplaced(published, source, types, manifest["columns"]["sensitive"])
        required = "nobody in a decoy group with another's value"
        checks.append(Check(OWN_GROUP, required, misplaced, not misplaced["in_wrong_groups"]))
    return tuple(checks)


def _retention_check(retention: Mapping[str, Sequence[Row]], gammas: Mapping[str, int], manifest: Manifest) -> Check:
    required = {
        column: f"1/{gammas[column]} within 4 standard errors, in every part of the rows within chance"
        for column in retention
    }
    if follows(manifest) and manifest["parameters"].get("changed") == "keep":
        return Check("retention", required, "who changed publishes by the value of before: cannot be told", None)
    whole = {column: next(row for row in rows if row["part"] == 0) for column, rows in retention.items()}
    counts = {column: (int(row["person_count"]), int(row["retained_count"])) for column, row in whole.items()}
    if not all(persons for persons, _ in counts.values()):
        return Check("retention", required, "nobody is unique on the quasi columns: cannot be told", None)
    shares = {column: retained / persons for column, (persons, retained) in counts.items()}
    # retained ~ Binomial(n, p) with p = 1/gamma: |retained - n p| <= 4 sqrt(n p (1 - p)), and 1 for small n
    holds = all(
        abs(retained - persons / gammas[column])
        <= 4 * math.sqrt(persons * (1 - 1 / gammas[column]) / gammas[column]) + 1
        for column, (persons, retained) in counts.items()
    )
    uneven = {
        f"{column} {words}": share
        for column, rows in retention.items()
        for words, share in uneven_parts(rows, column, manifest).items()
    }
    return Check("retention", required, shares | uneven if holds else shares, holds and not uneven)


def find_uneven(published: PublishedTables, source: Source, types: Mapping[str, str], column: str) -> dict[str, float]:
    """Return the shares of people who publish their own value of a column, by parts where chance does not explain them.

    Empty where nobody is alone with their quasi values, and where that cannot be told.
    """
    manifest = published.manifest
    if follows(manifest) and manifest["parameters"].get("changed") == "keep":
        return {}
    number = manifest["columns"]["sensitive"].index(column) + 1
    queries = _column_queries(published, published.without_dropped(source, types), types)
    return uneven_parts(published.engine.rows(queries[f"retention_{number}"]), column, manifest)


def uneven_parts(rows: Sequence[Row], column: str, manifest: Manifest) -> dict[str, float]:
    """Return the shares of people who keep their value, by parts in words, where it is beyond chance: the worst ones.

    Bonferroni over all parts: a sound release fails in one of a million.
    """
    from scipy.special import betainc, betaincc

    gamma = manifest["parameters"]["gamma"][column]
    # where rows beyond a multiple of gamma were kept, groups may have a row more
    least, most = 1 / (gamma + (manifest["parameters"]["residue"] == "keep")), 1 / gamma
    uneven = {}
    for row in rows:
        persons, kept = int(row["person_count"]), int(row["retained_count"])
        fewer = betaincc(kept + 1, persons - kept, least) if kept < persons else 1.0
        more = betainc(kept, persons - kept + 1, most) if kept else 1.0
        if 2 * min(fewer, more) * len(rows) < FALSE_ALARM:
            uneven[_name_part(row, column, manifest)] = kept / persons
    return dict(sorted(uneven.items(), key=lambda part: -abs(part[1] - most))[:SHOWN_PARTS])


def _name_part(row: Mapping[str, Any], column: str, manifest: Manifest) -> str:
    part = int(row["part"])
    if not part:
        return "of everybody"
    if part < 0:
        return f"of people with {column} = {row['held_value']}"
    return f"along {manifest['columns']['quasi'][part - 1]}, part {int(row['place']) + 1} of {PARTS}"


def _counts_check(worst: Mapping[str, float], manifest: Manifest) -> Check:
    required = f"every count within its binomial: probability >= {FALSE_ALARM:g}, all values together"
    if follows(manifest):
        return Check("published_counts", required, "decoy groups have lost members: cannot be told", None)
    return Check("published_counts", required, dict(worst), all(least >= FALSE_ALARM for least in worst.values()))


def _least_probability(rows: Sequence[Row], gamma: int, drops: bool) -> float:
    """Return the least two-sided probability of a published count, times the number of values.

    Rows that were dropped, up to gamma - 1, may have had any value: the count before them is taken as near as they
    allow. Where they were kept, some decoy groups have a row more than others, and which of them hold a value is not
    told: the number of those is taken as the count has it likelier, of the fewest and the most that there can be.
    """
    total = sum(int(row["original_count"]) for row in rows)
    group_count = max(1, total // gamma)
    size, larger = (gamma, 0) if drops else divmod(total, group_count)
    least = 1.0
    for row in rows:
        published_count, count = int(row["published_count"]), int(row["original_count"])
        if not count:
            if published_count:  # a value that nobody had
                return 0.0
            continue
        groups = min(max(published_count, count - (gamma - 1 if drops else 0)), count)
        ends = {max(0, groups - (group_count - larger)), min(groups, larger)} if larger else {0}
        least = min(
            least, 2 * max(_tail(published_count, size, groups - number, number) for number in ends) * len(rows)
        )
    return min(1.0, least)


def _tail(published_count: int, size: int, groups: int, larger: int) -> float:
    """Return the smaller of Pr(f' <= published_count) and Pr(f' >= published_count).

    f' is how many rows publish a value that `groups` decoy groups of `size` rows hold, and `larger` ones of a row more:
    each row with the probability 1/n, n the rows of its group.
    """
    import numpy as np
    from scipy.special import betainc, betaincc  # scipy.stats is slow to load

    from sqlanon.methods.splu.binomial import probabilities

    # of the larger groups' rows each number, and what is left for the others
    added = probabilities((size + 1) * larger, size + 1, (size + 1) * larger)
    rest, trials = published_count - np.arange(added.size, dtype=float), float(size * groups)
    inside = np.clip(rest, 0, trials)
    # Pr(x <= k) = 1 - I_p(k + 1, n - k) and Pr(x >= k) = I_p(k, n - k + 1)
    below = np.where(rest >= trials, 1.0, betaincc(inside + 1, np.maximum(trials - inside, 1), 1 / size))
    above = np.where(rest <= 0, 1.0, betainc(np.maximum(inside, 1), trials - inside + 1, 1 / size))
    most = float(np.where(rest < 0, 0.0, below) @ added), float(np.where(rest > trials, 0.0, above) @ added)
    return min(most)
