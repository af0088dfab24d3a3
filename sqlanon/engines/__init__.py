"""Engines: what runs the statements, a package for each database, and the one loop that runs a plan on any of them."""
