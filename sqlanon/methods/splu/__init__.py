"""SPLU-Gen: randomized decoys; small sums private, large sums useful."""
