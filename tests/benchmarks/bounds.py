"""Count how often bounds of posteriors are right, and what they and the paper's condition accept.

    python tests/benchmarks/bounds.py [--groups 8000]

Random groups of 3 to 6 rows of nine shapes (signatures and values that repeat among them), priors from even to
concentrated, with 0, 15 % and 40 % of the priors 0; exact posteriors beside the bounds. Accepted: at most 1/2.
"""

import argparse

import numpy as np

from sqlanon.adversary import posterior
from sqlanon.adversary.posterior import posteriors

ONES = {size: (1,) * size for size in (3, 4, 5, 6)}
SHAPES = [
    *((ones, ones) for ones in ONES.values()),
    ((2, 1, 1), ONES[4]),
    (ONES[5], (2, 2, 1)),
    ((3, 2), (2, 1, 1, 1)),
    (ONES[6], (3, 2, 1)),
    ((2, 2, 2), (2, 2, 2)),
]


def main() -> None:
    """Draw, compare, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=8000, help="of each shape and kind of priors")
    groups, random = parser.parse_args().groups, np.random.default_rng(1)
    pairs = {"all": 0, "in groups with zeros": 0}
    accepted = dict.fromkeys(("groups", "exact", "bound", "ranges", "delta", "delta, above 1/2"), 0)
    above = -np.inf
    for rows, counts in SHAPES:
        for even in (0.3, 1, 10, 100):
            for zeros in (0, 0.15, 0.4):
                priors = random.dirichlet(np.full(len(counts) + 2, even), (groups, len(rows)))[..., : len(counts)]
                priors[random.random(priors.shape) < zeros] = 0
                exact = posteriors(priors, counts, rows)
                bound = posterior.bounds(priors, counts, rows)
                assert (exact.contradicted == bound.contradicted).all()
                above = max(above, float((exact.probability - bound.probability).max()))
                pairs["all"] += priors.size
                if zeros:
                    pairs["in groups with zeros"] += priors.size
                    continue
                each = [np.broadcast_to(many, (groups, len(many))).astype(np.int64) for many in (counts, rows)]
                delta = posterior.meets_delta(priors, 2, counts, rows)
                kept = exact.probability.max(axis=(1, 2)) <= 0.5 + 1e-12
                accepted["groups"] += groups
                accepted["exact"] += int(kept.sum())
                accepted["bound"] += int((bound.probability.max(axis=(1, 2)) <= 0.5).sum())
                accepted["ranges"] += int((posterior._ranges(priors, *each).max(axis=(1, 2)) <= 0.5).sum())
                accepted["delta"] += int(delta.sum())
                accepted["delta, above 1/2"] += int((delta & ~kept).sum())
    print(f"pairs of signature and value: {pairs}; exact above bound by at most {above:.1e}; accepted: {accepted}")


if __name__ == "__main__":
    main()
