"""Plausible microdata that fit a release: completed tables, dealt by a model that is learned from the release alone."""
