"""The mathematics of possible worlds (chapters `worlds`, `weighed`): the paper's numbers, whole numbers as oracle."""

from fractions import Fraction
from itertools import product
from math import comb

import pytest

from sqlanon.breaches import chapters
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident
from tests.databases import insert
from tests.oracles.worlds import count_worlds

COUNTS = {
    (2, 2): (7, 5),
    (2, 3): (25, 17),
    (2, 4): (79, 53),
    (3, 3): (265, 161),
    (3, 4): (2161, 1265),
    (4, 4): (41503, 23045),
}
SHAPE = ("m", "n", "o", "h", "a", "b")
LIMIT = Fraction(1, 10**14)


def table(con, name, names, lines) -> None:
    con.execute(f"create or replace table {name} ({', '.join(f'{one} bigint' for one in names)})")
    insert(con, name, lines)


def run(con, *steps):
    """Run chapters over tables that stand; return their relations by name."""
    given = {name: ident(name) for name in ("meeting", "rival", "answer")}
    made = build(steps, "x_", given)
    for step in made:
        con.execute(f"create or replace temporary table {step.relation} as {step.sql}")
    return {step.name: Sql(step.relation) for step in made}


def chances(con, shapes):
    """Return {shape: (absence, error_bound)} of shapes (m, n, o, h, a, b)."""
    table(con, "meeting", SHAPE, shapes)
    table(con, "rival", SHAPE[:4], [])
    chance = run(con, chapters.worlds(simple=False, weighed=True))["chance"]
    found = {row[:6]: row[6:] for row in con.execute(f"from {chance}").fetchall()}
    return {shape: found[shape] for shape in shapes}


def free(m, a, n, b):
    """Return the shape of a component where all edges are allowed."""
    return (m, n, m, n, a, b)


def exact(shape) -> Fraction:
    worlds = count_worlds(*shape[:4])
    return Fraction(count_worlds(*shape), worlds) if worlds else Fraction(1)


LARGE = {
    free(2, 1, 100_000, 1): 0.666666666666667,
    free(3, 1, 50, 1): 0.571428571428571,
    free(20, 1, 20, 1): 0.500000953657946,
    free(100_000, 1, 5, 1): 0.516129032258065,
    free(12, 1, 100_000, 1): 0.500122100122100,
    free(1000, 3, 40, 4): 0.999755859375010,
    free(100_000, 2, 5000, 3): 0.984375,
}


def test_large_components(con):
    for shape, (absence, error) in chances(con, list(LARGE)).items():
        assert 1 - absence == pytest.approx(LARGE[shape], abs=6e-16), shape
        assert error <= LIMIT


def within_bounds(con, shapes):
    for shape, (absence, error) in chances(con, shapes).items():
        assert abs(Fraction(absence) - exact(shape)) <= Fraction(error) <= LIMIT, shape


def test_every_pair_lies_within_its_bound_and_falls(con):
    pairs = list(product((*range(1, 21), 27, 40), repeat=2))
    found = chances(con, [free(m, 1, n, 1) for m, n in pairs])
    for m, n in pairs:
        absence, error = found[free(m, 1, n, 1)]
        truth = exact(free(min(m, n), 1, max(m, n), 1))
        assert abs(Fraction(absence) - truth) <= Fraction(error) <= LIMIT
        assert absence <= 0.5
    assert all(found[free(m, 1, m, 1)] < found[free(m + 1, 1, m + 1, 1)] for m in range(1, 20))


def test_any_matches_lie_within_the_bound(con):
    sizes = (1, 2, 3, 4, 7, 12)
    few = {m: {1, (m + 1) // 2, m} for m in sizes}
    shapes = [free(m, a, n, b) for m, n in product(sizes, sizes) for a, b in product(few[m], few[n])]
    within_bounds(con, [*shapes, free(40, 3, 35, 30), free(30, 2, 1000, 1), free(9, 8, 9, 7), free(31, 1, 31, 30)])


def test_worlds_of_ids_with_one_property_lie_within_the_bound(con):
    """Whichever of m, n, o, h and their rests is large: other nodes are summed over then."""
    shapes = [
        (m, n, o, h, a, b)
        for m, n in product((1, 2, 3, 5, 18), (1, 2, 4, 16))
        for o, h in product({1, m // 2 or 1, m}, {1, n // 2 or 1, n})
        for a, b in product({1, o}, {1, h})
    ]
    shapes += [(60, 3, 2, 1, 1, 1), (5, 200, 3, 2, 2, 1), (5, 40, 4, 39, 1, 2), (40, 40, 38, 1, 3, 1)]
    within_bounds(con, shapes)


def test_properties_are_as_likely_as_their_worlds_are_many(con):
    """Each id is in one component, with two properties of h nodes; all nodes of the first one match."""
    drawn = [
        (m, n, o, one, other)
        for m, n in product((2, 3, 6, 30), (2, 5, 24))
        for o, one, other in product({1, m // 2, m - 1}, (1, n // 2), (1, n - n // 2))
        if one + other <= n
    ]
    drawn += [(100, 50, 99, 1, 2), (100, 50, 99, 2, 1), (6, 150, 5, 1, 149)]
    rivals, meetings = [], []
    for number, (m, n, o, one, other) in enumerate(drawn):
        rivals += [(number, place, 1, m, n, o, held) for place, held in enumerate((one, other))]
        meetings.append((number, 0, 1, m, n, o, one, 1, one))
    table(con, "rival", ("identifier", "property", "component", *SHAPE[:4]), rivals)
    table(con, "meeting", ("identifier", "property", "component", *SHAPE), meetings)
    con.execute("""create or replace table answer as select identifier as id, property, '' as m, '' as n, 1 as cover,
        .5::double as probability, 0::double as error_bound, null::varchar as note from meeting""")
    reasons = {"alone": "alone", "none_shared": "none", "epsilon": chapters.EPSILON}
    answer = run(con, chapters.worlds(simple=False, weighed=True), Chapter("breach/weighed", reasons))["answer"]
    found = {row[0]: row[1:] for row in con.execute(f"select id, probability, error_bound from {answer}").fetchall()}
    for number, (m, n, o, one, other) in enumerate(drawn):
        worlds, others = count_worlds(m, n, o, one), count_worlds(m, n, o, other)
        truth = Fraction(worlds - count_worlds(m, n, o, one, 1, one), worlds + others)
        probability, error = found[number]
        assert abs(Fraction(probability) - truth) <= Fraction(error) <= 10 * LIMIT, drawn[number]


@pytest.mark.parametrize("sizes", COUNTS)
def test_the_papers_counts(sizes):
    m, n = sizes
    assert (count_worlds(m, n, m, n), count_worlds(m, n, m, n) - count_worlds(m, n, m, n, 1, 1)) == COUNTS[sizes]
    paper = sum(
        comb(m - 1, m - i) * comb(n - 1, n - j) * (-1) ** (m + n - i - j) * 2 ** (i * j - 1)
        for i, j in product(range(2, m + 1), range(2, n + 1))
    ) + (-1) ** (m + 1) + (-1) ** (n + 1) + (-1) ** (m + n + 1)  # fmt: skip
    assert paper == COUNTS[sizes][1]
    # restricted: RIW(m, n) = UPW(m-1, n) + UPW(m-1, n-1)
    others = [count_worlds(m - 1, size, m - 1, size) for size in (n, n - 1)]
    assert count_worlds(m, n, 1, 1) == sum(others)
    assert {2: 4, 3: 96, 4: 9704}[m] == n * sum(others) or m < n
