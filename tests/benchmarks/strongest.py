"""Is `attack` as sure as it is right? python tests/benchmarks/strongest.py RELEASE SOURCE [ID].

RELEASE: a folder; SOURCE: a Parquet file that the guesses are scored against; ID: what tells its rows apart.
"""

import argparse
import time
from itertools import pairwise

import numpy as np

import sqlanon
from sqlanon.adversary.learned import Adversary, read_truth

LIMITS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


def main() -> None:
    """Print what is reached, whom the adversary is sure of, and how often it is right by how sure it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release")
    parser.add_argument("source")
    parser.add_argument("id", nargs="?")
    asked = parser.parse_args()
    release, identifier = sqlanon.open(asked.release), () if asked.id is None else asked.id
    start, used = time.perf_counter(), time.process_time()
    found = sqlanon.attack(release, against=asked.source, id=identifier)
    seconds = time.perf_counter() - start, time.process_time() - used
    print(found)
    print(f"{seconds[0]:.1f} s, {seconds[1]:.1f} s of the processors")
    view = release.form.view(release.engine, release.tables, release.manifest)
    truth = view.read_source(asked.source, ())
    adversary = Adversary(view)
    adversary.learn()
    known = adversary.name(adversary.learner)
    known = known.of(known.alone)
    right = read_truth(view, truth).right(known)
    for low, high in pairwise(LIMITS):
        some = (known.confidence > low) & (known.confidence <= high) & ~np.isnan(right)
        if some.any():
            print(f"  sure {known.confidence[some].mean():.3f}: right {right[some].mean():.3f} of {some.sum():,}")
    view.close()


if __name__ == "__main__":
    main()
