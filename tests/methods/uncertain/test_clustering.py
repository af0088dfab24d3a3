"""Clusters of uncertain rows: the paper's, then any table judged by slow oracles, then refusals and hostile shapes."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.errors import DataError
from sqlanon.key import Key
from sqlanon.methods.uncertain.clustering import Clustering
from sqlanon.methods.uncertain.columns import Column
from sqlanon.methods.uncertain.hierarchy import Hierarchy
from sqlanon.plans.build import build
from sqlanon.plans.plan import Plan, Publication
from sqlanon.plans.templates import Sql
from tests.benchmarks.clustering import ratios
from tests.conftest import real_data
from tests.databases import insert
from tests.examples import examples
from tests.oracles.k_member import Attribute, distances, diverse, objective
from tests.oracles.serpentine import order

UNIVERSITY = {
    **dict.fromkeys(("Bachelor", "Master", "Ph.D"), "University"),
    **dict.fromkeys(("Primary School", "Second School"), "School"),
    **dict.fromkeys(("University", "School"), "Education"),
}
UNEVEN = {"a": "A", "b": "A", "A": "all", "c": "all", "d": "D", "D": "E", "E": "all", "e": "E", "f": "D"}
WEIGHTS = {"insomnia": 0.13, "flu": 0.11, "obesity": 0.12, "short breath": 0.31, "lung cancer": 0.91}
WEIGHTS |= {"mammary cancer": 0.92, "AIDS": 0.93}
TABLE_7 = [
    (("University", 25, "M"), ["insomnia"]),
    (("Bachelor", 21, "M"), ["obesity", "flu"]),
    (("Ph.D", 35, "F"), ["mammary cancer"]),
    (("University", 48, "M"), ["short breath", "obesity"]),
    (("Master", 45, "M"), ["lung cancer"]),
    (("Ph.D", 36, "F"), ["mammary cancer"]),
]
PAPER = [Attribute(0, parents=UNIVERSITY), Attribute(0.4, span=27), Attribute(1)]


def table(con, rows, attributes, weights, draws=None):
    """Make what the clusters are made from; return the columns."""
    cells = [tuple(held) for _, held in rows]
    codes = {cell: code for code, cell in enumerate(dict.fromkeys(cells), start=1)}
    draws = draws or [((row + 1) * 2654435761) % 2**32 for row in range(len(rows))]
    columns, types = [], []
    for place, attribute in enumerate(attributes, start=1):
        tree = None
        if attribute.parents is not None:
            height = max(attribute.heights.values())
            levels = [f"level_{number}" for number in range(1, height + 1)]
            named = ", ".join(f"{name} varchar" for name in levels)
            con.execute(f"create or replace table hierarchy_{place} (node varchar, {named}, height int)").fetchall()
            lines = []
            for node, own in attribute.heights.items():
                path = attribute.ancestors(node)[-2::-1]
                lines.append([node, *path, *[None] * (height - len(path)), own])
            insert(con, f"hierarchy_{place}", lines)
            (root,) = set(attribute.parents.values()) - set(attribute.parents)
            tree = Hierarchy(f"quasi_{place}", attribute.parents, root)
        sql_type = "varchar" if attribute.span is None else "double"
        types.append(f"quasi_{place} {sql_type}")
        columns.append(Column(f"quasi_{place}", f"quasi_{place}", place, sql_type.upper(), False, tree))
    con.execute(
        f"create or replace table determined ({', '.join(types)}, row_number bigint, draw bigint, cell_code int,"
        " sensitive_count int)"
    ).fetchall()
    lines = [
        [*quasi, number, draws[number], codes[tuple(held)], len(held)] for number, (quasi, held) in enumerate(rows)
    ]
    insert(con, "determined", lines)
    con.execute(
        "create or replace table cell_count as select cell_code, min(sensitive_count) as sensitive_count,"
        " count(*) as row_count from determined group by cell_code"
    ).fetchall()
    con.execute("create or replace table alternative (cell_code int, text varchar)").fetchall()
    insert(con, "alternative", [[code, text] for cell, code in codes.items() for text in cell])
    named = ", ".join(f"influence_{place} double" for place, _ in enumerate(attributes, start=1))
    con.execute(f"create or replace table influence (sensitive varchar, {named}, weight double)").fetchall()
    influences = [attribute.importance for attribute in attributes]
    held = {text for cell in cells for text in cell}
    lines = [[value, *influences, weight] for value, weight in weights.items() if value in held]
    insert(con, "influence", lines)
    return columns


def plan(asked, engine="duckdb"):
    """Return the plan of clusters alone."""
    trees = {
        f"hierarchy_{one.number}": Sql(f'"hierarchy_{one.number}"')
        for one in asked.columns
        if one.hierarchy is not None
    }
    given = {name: Sql(f'"{name}"') for name in ("determined", "cell_count", "alternative", "influence")}
    return Plan(
        "uncertain", build(asked.chapters, "t_", {**given, **trees}, engine), Publication(()), key=Sql('"t_key"')
    )


def clustered(con, asked):
    """Return the clusters as sorted lists of rows, those that are suppressed, and what the checks found."""
    with run_plan(plan(asked), DuckDBEngine(con), Key.fresh()) as found:
        rows = con.execute("select cluster, row_number, suppressed from t_clustered order by all").fetchall()
    members, suppressed = {}, set()
    for cluster, row, hidden in rows:
        members.setdefault(cluster, []).append(row)
        if hidden:
            suppressed.add(cluster)
    return list(members.values()), [members[cluster] for cluster in sorted(suppressed)], found


# -- the paper -----------------------------------------------------------------------------------------


def test_the_papers_clusters_and_their_objective(con):
    columns = table(con, TABLE_7, PAPER, WEIGHTS)
    clusters, suppressed, found = clustered(con, Clustering(columns, 2, 2, 0.3, "suppress"))
    assert sorted(clusters) == [[0, 1], [2, 5], [3, 4]] and suppressed == [[2, 5]]
    quality = {"cluster_count": 3, "row_count": 6, "largest_cluster": 2, "suppressed_rows": 2}
    assert found["quality"] == quality
    assert objective(distances([row for row, _ in TABLE_7], PAPER), clusters) == pytest.approx(0.0564, abs=5e-5)


@pytest.mark.parametrize(("threshold", "failing"), [(0.92, 1), (0.93, 0)])
def test_a_weight_at_the_threshold_is_grave(con, threshold, failing):
    columns = table(con, TABLE_7, PAPER, WEIGHTS)
    assert len(clustered(con, Clustering(columns, 2, 2, threshold, "suppress"))[1]) == failing


# -- any table, judged slowly ----------------------------------------------------------------------------

VALUES = {"u": 0.1, "v": 0.2, "w": 0.3, "x": 0.4, "y": 0.5, "z": 0.6}
quasi = st.tuples(
    st.one_of(st.none(), st.integers(-3, 40)),
    st.one_of(st.none(), st.sampled_from(["", "b", "c", "'d'"])),
    st.one_of(st.none(), st.sampled_from(sorted({*UNEVEN, *UNEVEN.values()}))),
)
held = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3, unique=True)
importance = st.sampled_from([0, 0.1, 0.4, 0.8, 1])


def attributes_of(rows, importances):
    """Return the attributes that hypothesis' rows have."""
    numbers = [row[0] for row, _ in rows if row[0] is not None]
    span = float(max(numbers) - min(numbers)) if numbers else 0.0
    counts = importances if any(importances) else (1, 1, 1)
    return [Attribute(counts[0], span=span), Attribute(counts[1]), Attribute(counts[2], parents=UNEVEN)]


def impossible(rows, k, l, threshold, undiverse):
    """Return whether there can be no clusters."""
    values = {value for _, sets in rows for value in sets}
    grave = {value for value in values if VALUES[value] >= threshold}
    alike = undiverse == "merge" and grave and all(set(sets) == values for _, sets in rows)
    return len(rows) < k or len(values) < l or bool(alike)


def dealt_out(cells, k, l, threshold, most_rows):
    """Return whether cells of one value can be dealt out into groups, tried for every number of groups, row by row."""
    if max(map(len, cells)) > 1:
        return False
    values = sorted((value for (value,) in cells), key=lambda value: (VALUES[value] < threshold, value))
    grave = sum(VALUES[value] >= threshold for value in values)
    for count in range(1, len(cells) // k + 1):
        groups = [[] for _ in range(count)]
        for value in values:  # each to the smallest group of those that lack its value most
            fitting = min(groups, key=lambda group: (group.count(value), len(set(group)) >= l, len(group)))
            if VALUES[value] >= threshold or len(set(fitting)) < l or len(fitting) < k:
                fitting.append(value)
        if grave and all(l <= len(set(group)) and k <= len(group) <= most_rows - k + 1 for group in groups):
            return True
    return False


@given(
    rows=st.lists(st.tuples(quasi, held), min_size=2, max_size=40),
    importances=st.tuples(importance, importance, importance),
    k=st.integers(2, 4),
    l=st.integers(2, 4),
    threshold=st.sampled_from([0.05, 0.25, 0.55, 1.0]),
    undiverse=st.sampled_from(["merge", "suppress"]),
)
@examples(20, HealthCheck.function_scoped_fixture)
def test_every_table_is_clustered_or_refused(con, rows, importances, k, l, threshold, undiverse):
    attributes = attributes_of(rows, importances)
    draws = random.Random(len(rows)).sample(range(10**6), len(rows))
    columns = table(
        con,
        rows,
        [Attribute(i, a.span, a.parents) for i, a in zip(importances, attributes, strict=True)],
        VALUES,
        draws,
    )
    asked = Clustering(columns, k, l, threshold, undiverse)
    if impossible(rows, k, l, threshold, undiverse):
        with pytest.raises(DataError):
            clustered(con, asked)
        return
    try:
        clusters, suppressed, found = clustered(con, asked)
    except DataError as error:
        assert undiverse == "merge" and ("rows find no group" in str(error) or "is not possible" in str(error))
        assert not dealt_out([sets for _, sets in rows], k, l, threshold, asked.most_rows)
        return
    assert max(map(len, clusters)) <= asked.most_rows
    assert sorted(row for cluster in clusters for row in cluster) == list(range(len(rows)))
    assert min(map(len, clusters)) >= k
    grave = {value for value, weight in VALUES.items() if weight >= threshold}
    failing = [one for one in clusters if not diverse([frozenset(rows[row][1]) for row in one], grave, l)]
    assert failing == suppressed and (undiverse == "suppress" or not failing)
    if undiverse == "suppress":
        assert max(map(len, clusters)) < 2 * k and len(clusters) == len(rows) // k
    assert found["quality"]["suppressed_rows"] == sum(map(len, suppressed))
    if undiverse == "suppress":
        places = order([row for row, _ in rows], attributes, draws)
        ends = [*range(k, len(rows) - k + 1, k), len(rows)]
        cut = [places[start:end] for start, end in itertools.pairwise([0, *ends])]
        assert clusters == [sorted(cluster) for cluster in cut]


def test_the_importance_is_the_mean_influence(con):
    attributes = [Attribute(1, span=10), Attribute(1)]
    columns = table(con, [((place, "a"), ["x" if place % 2 else "y"]) for place in range(11)], attributes, {})
    con.execute("insert into influence values ('x', 0.1, 0.25, 0.5), ('y', 0.4, 0, 0.6)").fetchall()
    with run_plan(plan(Clustering(columns, 2, 2, 0.1)), DuckDBEngine(con), Key.fresh()):
        assert con.execute("from t_importance").fetchall() == [(500_000, 250_000)]
        assert con.execute("select sensitive, held, grave from t_value order by held").fetchall() == [
            ("x", 1, 1),
            ("y", 2, 1),
        ]


def test_of_many_attributes_the_dearest_levels_are_sorted_by(con):
    draw = random.Random(7)
    attributes = [Attribute(1 + place / 100, parents=UNEVEN) for place in range(6)]
    attributes += [Attribute(0.5 + place / 100) for place in range(6)]
    nodes = sorted({*UNEVEN, *UNEVEN.values()})
    rows = [
        (tuple([draw.choice(nodes) for _ in range(6)] + [draw.choice("abc") for _ in range(6)]), [draw.choice("uvw")])
        for _ in range(200)
    ]
    columns = table(con, rows, attributes, VALUES)
    asked = Clustering(columns, 2, 2, 0.05, "suppress")
    places = order([row for row, _ in rows], attributes, [((row + 1) * 2654435761) % 2**32 for row in range(200)])
    assert clustered(con, asked)[0] == [sorted(places[first : first + 2]) for first in range(0, 200, 2)]


# -- numbers that are none, values by the thousand ---------------------------------------------------------


def test_numbers_without_end_are_alike_and_unlike_all_others(con):
    attributes = [Attribute(1, span=1.0)]
    numbers = [float("nan"), float("inf"), None, -1e308, 0.0, 0.25, 0.5, 1.0]
    columns = table(
        con, [((number,), ["u" if place % 2 else "v"]) for place, number in enumerate(numbers)], attributes, VALUES
    )
    assert clustered(con, Clustering(columns, 4, 2, 0.05, "suppress"))[0] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_more_values_than_a_sort_tells_apart_share_branches(con, monkeypatch):
    monkeypatch.setattr("sqlanon.methods.uncertain.clustering.MOST_BRANCHES", 3)
    rows = [((str(place // 2),), ["u" if place % 2 else "v"]) for place in range(20)]
    columns = table(con, rows, [Attribute(1)], VALUES)
    with run_plan(plan(Clustering(columns, 2, 2, 0.05)), DuckDBEngine(con), Key.fresh()):
        found = con.execute("select node, branch_0 from t_category_1 order by node").fetchall()
    assert found == [(str(place), 1 + place * 3 // 10) for place in range(10)]


# -- diversity that is hard to have --------------------------------------------------------------------------


def lined(con, values):
    """Make rows in a line, each with one sensitive value; return the columns."""
    return table(
        con, [((place,), [value]) for place, value in enumerate(values)], [Attribute(1, span=len(values) - 1)], VALUES
    )


# -- what is refused -----------------------------------------------------------------------------------


def test_rows_that_all_hold_the_same_set_are_refused_or_suppressed(con):
    columns = table(con, [((place,), ["u", "z"]) for place in range(5)], [Attribute(1, span=4)], VALUES)
    with pytest.raises(DataError, match="every row holds the same 2 sensitive values, and one of them weighs no less"):
        clustered(con, Clustering(columns, 2, 2, 0.55))
    assert clustered(con, Clustering(columns, 2, 2, 0.7))[0] == [[0, 1], [2, 3, 4]]
    assert clustered(con, Clustering(columns, 2, 2, 0.55, "suppress"))[1] == [[0, 1], [2, 3, 4]]


# -- quality ---------------------------------------------------------------------------------------------


def test_clusters_of_adult_are_as_good_as_greedy_k_member_clustering(con):
    adult, folder = real_data("adult_arx.parquet"), real_data("hierarchies/adult__race.csv").parent
    found = ratios(con, adult, folder, 6, 500)
    assert found["cut"] <= 1.2 and found["merged"] <= 1.2


def test_the_papers_failing_cluster_is_merged_with_a_neighbour_and_dealt_out_anew(con):
    columns = table(con, TABLE_7, PAPER, WEIGHTS)
    clusters, suppressed, found = clustered(con, Clustering(columns, 2, 2, 0.3, "merge"))
    assert sorted(map(len, clusters)) == [2, 2, 2] and not suppressed
    assert not any({2, 5} <= set(cluster) for cluster in clusters), "mammary cancer twice"
    assert found["merges"] == {"left_over": 0, "turns": 1}
