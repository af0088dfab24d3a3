"""How many rows that are unique in a sample are unique in the population as well."""

from collections.abc import Mapping

from sqlanon.errors import UsageError


def estimate_population_uniqueness(size_counts: Mapping[int, int], fraction: float) -> float:
    """Return the chance that a row which is unique in a sample is unique in the population.

    Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample (1991):
    P(F = 1 | f = 1) = P(F = 1) P(f = 1 | F = 1) / Σ_i P(F = i) P(f = 1 | F = i), where the sample's own sizes serve as
    P(F = i), and P(f = 1 | F = i) is hypergeometric: one of a class's i persons among the n of N that were drawn.
    size_counts: how many classes of the sample have each size. fraction: n / N. Returns nan where no row is unique.
    Raises UsageError where fraction is no share.
    """
    from scipy.stats import hypergeom

    if not 0 < fraction <= 1:
        raise UsageError(f"a sample of {fraction:g} of the population cannot be; say a share above 0, at most 1")
    drawn = sum(size * count for size, count in size_counts.items())
    whole = round(drawn / fraction)
    weight = {size: count * float(hypergeom.pmf(1, whole, size, drawn)) for size, count in size_counts.items()}
    total = sum(weight.values())
    return weight.get(1, 0.0) / total if size_counts.get(1) and total else float("nan")
