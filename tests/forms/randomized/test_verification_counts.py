"""The probability of published counts: both tails, as scipy's own distributions have them, and honest rare values."""

import math

import duckdb
import numpy as np
from scipy.stats import binom

import sqlanon
from sqlanon.forms.randomized.verification import _least_probability, _tail
from tests.facts import each

COUNTS = (1, 2, 7, 100, 50_000, 50_000_000)


@each([(count, gamma) for count in COUNTS for gamma in (2, 3, 10)])
def test_the_tails_are_those_of_the_binomial(given):
    count, gamma = given
    spread = math.sqrt(count * (1 - 1 / gamma))
    for off in (-6, -3, -1, 0, 1, 3, 6):
        seen = min(max(0, round(count + off * spread)), count * gamma)
        law = binom(count * gamma, 1 / gamma)
        assert math.isclose(_tail(seen, gamma, count, 0), min(law.cdf(seen), law.sf(seen - 1)), rel_tol=1e-9)


@each([(size, groups, larger) for size in (2, 3, 7) for groups in (0, 1, 5) for larger in (0, 1, 4)])
def test_groups_of_two_sizes_add_up(given):
    size, groups, larger = given
    most = size * groups + (size + 1) * larger
    law = np.convolve(
        binom(size * groups, 1 / size).pmf(range(size * groups + 1)),
        binom((size + 1) * larger, 1 / (size + 1)).pmf(range((size + 1) * larger + 1)),
    )
    for seen in range(most + 3):
        wanted = min(law[: seen + 1].sum(), law[seen:].sum())
        assert math.isclose(_tail(seen, size, groups, larger), wanted, rel_tol=1e-9, abs_tol=1e-12)


@each([((10, 1), 2e-10 * 10), ((11, 1), 0.0), ((1, 0), 0.0), ((0, 0), 1.0)])
def test_a_count_that_cannot_be_has_no_probability(given):
    (seen, count), wanted = given
    rows = [{"published_count": 1, "original_count": 1}] * 9 + [{"published_count": seen, "original_count": count}]
    if count == 0:  # as many rows in all
        rows.append({"published_count": 1, "original_count": 1})
        wanted = min(1.0, wanted)
    assert math.isclose(_least_probability(rows, 10, drops=False), wanted, rel_tol=1e-9)


def test_rows_that_are_kept_beyond_a_multiple_of_gamma_are_no_fault(tmp_path):
    """A value of one row may be published gamma + 1 times: its group may have so many rows."""
    con, most = duckdb.connect(), 0
    con.execute(
        "create table t as select i as person, i % 9 as age, case when i < 60 then 0 else i end d from range(257) r(i)"
    )
    keys = iter(range(100))
    while most < 3:  # until the case is met
        key = f"{next(keys):064x}"
        given = {"quasi": "age", "sensitive": "d", "id": "person", "gamma": 2, "residue": "keep", "key": key}
        sqlanon.splu(con, "t", out=tmp_path / key, unique_sensitive="keep", **given)
        counted = f"select count(*) as n from '{tmp_path / key / 'data.parquet'}' where d > 0 group by d"
        (most,) = con.execute(f"select max(n) from ({counted})").fetchone()
