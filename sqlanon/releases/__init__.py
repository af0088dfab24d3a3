"""A published release: opened, checked, written where it appears whole or not at all."""
