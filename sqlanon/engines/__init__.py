"""Engines: what runs the statements. A package for each database, and the one loop that runs a plan on any of them."""
