"""Engines: what runs the statements, one module and one driver each."""
