"""Prove from published tables what a release promises, and compare it with its source."""
