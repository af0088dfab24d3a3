"""Texts beside a release's tables; each can be made again from its manifest and tables."""
