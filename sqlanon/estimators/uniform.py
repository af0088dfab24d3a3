"""Uniform: inside a group every row is as likely as any other to own each value (the paper's estimate).

The answer is the sum over groups of n_g s_g(S)/|g|. It pulls every answer towards independence; its error
is bias, so it has no interval.
"""

from sqlanon.estimators.evidence import Estimate, Evidence, answer_plain


def estimate(evidence: Evidence) -> Estimate:
    """Return the paper's estimate; std_error, low and high are NULL (NaN) except where the evidence is exact."""
    return answer_plain(evidence)
