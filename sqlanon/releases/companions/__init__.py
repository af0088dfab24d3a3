"""Texts that lie in a release beside its tables, and tell what anybody can read off its manifest and its tables."""
