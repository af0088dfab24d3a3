"""What the published figures of a randomized release tell of the true ones."""
