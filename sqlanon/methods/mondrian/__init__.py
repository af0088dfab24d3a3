"""Mondrian: rows published in boxes of at least k rows, split level by level."""
