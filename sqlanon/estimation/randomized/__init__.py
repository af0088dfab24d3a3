"""Answer queries from randomized values."""
