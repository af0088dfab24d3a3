"""Verify releases of uncertain data."""
