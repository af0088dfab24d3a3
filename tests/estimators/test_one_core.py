"""BLAS has one thread while systems are solved, and as many as before when the last is."""

import pytest

from sqlanon.estimators.one_core import find_pools, on_one_core


def count_threads():
    return [pool.threads() for pool in find_pools()]


@pytest.fixture
def two_threads():
    before = count_threads()
    for pool in find_pools():
        pool.change(2)
    yield [2] * len(before)
    for pool, count in zip(find_pools(), before, strict=True):
        pool.change(count)


def test_threads_are_restored_when_the_last_system_is_solved(two_threads):
    if not two_threads:
        pytest.skip("another BLAS than OpenBLAS is left as it is")
    with on_one_core():
        assert count_threads() == [1] * len(two_threads)
        with pytest.raises(ZeroDivisionError), on_one_core():
            raise ZeroDivisionError
        assert count_threads() == [1] * len(two_threads)
    assert count_threads() == two_threads


def test_a_decorated_function_solves_on_one_core(two_threads):
    solve = on_one_core()(count_threads)
    assert solve() == solve() == [1] * len(two_threads)
    assert count_threads() == two_threads
