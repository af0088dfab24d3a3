"""Randomized values weighed against what the margins say: the default answers of SPLU-Gen's releases."""
