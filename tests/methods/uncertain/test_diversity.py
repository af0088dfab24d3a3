"""Diverse clusters stay near K, or the request is refused before anything is merged, with numbers that work."""

import random
import re

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import DataError, UsageError
from sqlanon.methods.uncertain.clustering import Clustering
from tests.examples import examples
from tests.methods.uncertain.test_clustering import VALUES, clustered, lined, table
from tests.oracles.k_member import Attribute, diverse

EASY, GRAVE = 0.55, 0.05  # thresholds: z alone is grave, all values are


def judged(con, values, k, l, threshold, **further):
    """Cluster a line of rows; look at what is promised; return the sizes and what the checks found."""
    asked = Clustering(lined(con, values), k, l, threshold, **further)
    clusters, suppressed, found = clustered(con, asked)
    grave = {value for value, weight in VALUES.items() if weight >= threshold}
    assert not suppressed and sorted(row for cluster in clusters for row in cluster) == list(range(len(values)))
    assert all(diverse([frozenset(values[row]) for row in cluster], grave, l) for cluster in clusters)
    sizes = sorted(map(len, clusters))
    assert k <= sizes[0] and sizes[-1] <= asked.most_rows
    return sizes, found


@pytest.mark.parametrize(
    ("values", "k", "l", "threshold", "largest", "turns"),
    [
        ("u" * 500 + "z" + "u" * 498 + "v", 2, 2, EASY, 2, 0),  # one grave value
        ("z" + "u" * 2000 + "vw", 2, 3, EASY, 3, 7),  # what is missing is at the other end
        ("uvwxyz" * 100, 2, 6, GRAVE, 8, 2),  # L above K
        ("zzyy" * 64, 2, 2, GRAVE, 3, 2),  # neighbours make up for each other
        ("z" * 90 + "u" * 30, 3, 2, GRAVE, 10, 5),  # a skewed column: four rows for each of the rare value
        ("zzzzu" * 40, 5, 2, GRAVE, 7, 2),
    ],
)
def test_groups_stay_near_k(con, values, k, l, threshold, largest, turns):
    sizes, found = judged(con, values, k, l, threshold)
    assert sizes[-1] <= largest
    assert found["merges"] == {"left_over": 0, "turns": turns}


def test_what_is_grave_and_rare_does_not_gather_what_is_harmless(con):
    """95 % have a harmless value, 1 % a grave one: its groups hold K rows, and the others go on in groups of theirs."""
    values = random.Random(1).choices("uvz", [95, 4, 1], k=1000)
    sizes, found = judged(con, values, 5, 3, EASY)
    assert sizes[-1] <= 9 and len(sizes) >= 190 and found["merges"]["turns"] > 2


@given(
    values=st.lists(st.sampled_from("uuuuvvwwxyz"), min_size=4, max_size=60),
    k=st.integers(2, 4),
    l=st.integers(2, 5),
    threshold=st.sampled_from([GRAVE, 0.25, EASY]),
)
@pytest.mark.property
@examples(15, HealthCheck.function_scoped_fixture)
def test_what_a_refusal_advises_works(con, values, k, l, threshold):
    try:
        judged(con, values, k, l, threshold)
        return
    except DataError as error:
        told = str(error)
    if found := re.search(r"the largest L that works is (\d+)", told):
        assert int(found[1]) < l
        judged(con, values, k, int(found[1]), threshold)
        if int(found[1]) < len(set(values)):
            with pytest.raises(DataError):
                judged(con, values, k, int(found[1]) + 1, threshold)
    if found := re.search(r"max_group=(\d+)", told):
        assert int(found[1]) > 4 * max(k, l)
        judged(con, values, k, l, threshold, max_group=int(found[1]))


def test_which_of_alike_rows_goes_where_is_drawn(con):
    """Two groups of two from rows 0 to 3, one of each value in each: ST alone tells who has which."""
    seen = set()
    for turn in range(8):
        draws = random.Random(turn).sample(range(1000), 4)
        rows = [((place,), [value]) for place, value in enumerate("zzyy")]
        columns = table(con, rows, [Attribute(1, span=3)], VALUES, draws)
        seen.add(str(sorted(clustered(con, Clustering(columns, 2, 2, GRAVE))[0])))
    assert seen == {"[[0, 2], [1, 3]]", "[[0, 3], [1, 2]]"}


def test_cells_of_several_alternatives_bring_several_weights(con):
    """No group has four values of certain cells, and each has four with its alternatives."""
    rows = [((place,), ["u", "v"] if place % 2 else ["w", "z"]) for place in range(20)]
    columns = table(con, rows, [Attribute(1, span=19)], VALUES)
    clusters, *_ = clustered(con, Clustering(columns, 2, 4, GRAVE))
    assert {len(cluster) for cluster in clusters} == {2}


def test_cells_of_several_alternatives_that_find_no_group_are_refused_in_the_end(con):
    rows = [((place,), ["u", "z"]) for place in range(60)] + [((60,), ["v"])]
    columns = table(con, rows, [Attribute(1, span=60)], VALUES)
    with pytest.raises(DataError, match=r"61 rows find no group of at most 12 rows with 3 different weights; lower l,"):
        clustered(con, Clustering(columns, 2, 3, GRAVE))


@pytest.mark.parametrize(
    ("values", "l", "limit", "message"),
    [
        (
            "z" * 99 + "u",
            2,
            None,
            "L = 2 is not possible in groups of at most 8 rows: 100 of 100 rows have a grave value and belong into"
            " groups with 2 different weights, some of which would have 100; say max_group=100; or give harmless"
            ' values weights below the threshold; or say undiverse="suppress"',
        ),
        (
            "zzzzzzuuuv" * 5,
            3,
            None,
            "",
        ),
        (
            "zzzzzzuuuv" * 5,
            3,
            9,
            "L = 3 is not possible in groups of at most 9 rows: 50 of 50 rows have a grave value and belong into groups"
            " with 3 different weights, some of which would have 10; the largest L that works is 2; or say"
            ' max_group=10; or give harmless values weights below the threshold; or say undiverse="suppress"',
        ),
    ],
)
def test_which_l_is_possible_is_judged_before(con, values, l, limit, message):
    asked = Clustering(lined(con, values), 2, l, GRAVE, max_group=limit)
    if not message:
        clustered(con, asked)
        return
    with pytest.raises(DataError) as caught:
        clustered(con, asked)
    assert str(caught.value) == message
    assert clustered(con, Clustering(lined(con, values), 2, l, GRAVE, "suppress"))[1]


def test_the_limit_of_a_release(patients):
    asked = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "k": 5, "threshold": 0.05}
    asked["influence"] = "learn"
    release = sqlanon.uncertain(patients, "patients", l=8, **asked)
    assert release.manifest["parameters"]["max_group"] == 32
    (sizes,) = [check for check in release.verify().checks if check.name == "cluster_size"]
    assert sizes.required == "every group >= 5 and <= 32, as large in QIT as in ST" and sizes.holds
    assert sizes.found["largest_group"] <= 32
    with pytest.raises(UsageError, match="max_group=8 leaves no room for rows that make no group of 5 by themselves"):
        sqlanon.uncertain(patients, "patients", l=3, max_group=8, **asked)


def test_a_group_above_the_limit_is_found(patients):
    asked = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "k": 5, "l": 3, "threshold": 0.05}
    release = sqlanon.uncertain(patients, "patients", influence="learn", **asked)
    largest = release.manifest["verified"]["largest_group"]
    release.manifest["parameters"]["max_group"] = largest - 1
    assert [check.name for check in release.verify().checks if check.holds is False] == ["cluster_size"]
