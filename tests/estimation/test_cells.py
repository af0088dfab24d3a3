"""Pieces that read different columns are taken as independent: what alternatives given together as rows make of it."""

from fractions import Fraction
from itertools import product

import pytest

from tests.estimation.test_uncertain import small
from tests.uncertain_release import EDUCATION

DEGREES, AGES = ("Bachelor", "Master", "Ph.D"), (21, 25, 45, 48)
CONDITIONS = {
    "education = 'Master' AND age >= 45": lambda degree, age: degree == "Master" and age >= 45,
    "education = 'Master' OR age < 30": lambda degree, age: degree == "Master" or age < 30,
    "(education = 'Ph.D') = (age = 48)": lambda degree, age: (degree == "Ph.D") == (age == 48),
    "length(education) > age - 40": lambda degree, age: len(degree) > age - 40,
}


def consistent(size):
    """Yield every tuple of `size` different alternative rows of which QIT shows University 48 and 2 of each."""
    for rows in product(product(DEGREES, AGES), repeat=size):
        degrees, ages = {degree for degree, _ in rows}, {age for _, age in rows}
        if len(set(rows)) == size and len(degrees) == len(ages) == 2 and max(ages) == 48:
            yield rows


@pytest.mark.parametrize("size", [2, 3])
def test_columns_of_a_tuple_are_independent_as_far_as_a_release_tells(tmp_path, size):
    """Over all tuples that would be published alike, pairs of values occur as often as if each column chose alone."""
    certain_rows = [({}, ("Bachelor", age)) for age in AGES[:3]]
    people = [*certain_rows, ({"education": 2, "age": 2}, ("University", 48))]
    release = small(tmp_path / "release", {"education": "VARCHAR", "age": "BIGINT"}, people, {"education": EDUCATION})
    tuples = list(consistent(size))
    for sql, holds in CONDITIONS.items():
        certain, possible, expected = release.estimate(f"SELECT COUNT(*) FROM release WHERE {sql}").iloc[0]
        known = sum(holds(*values) for _, values in certain_rows)
        satisfied = [[holds(*row) for row in rows] for rows in tuples]
        assert certain == known + all(map(all, satisfied)) and possible == known + any(map(any, satisfied)), sql
        likely = Fraction(sum(map(sum, satisfied)), size * len(tuples))
        assert expected == pytest.approx(known + float(likely)), sql
