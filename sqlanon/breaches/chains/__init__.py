"""Views that form a chain: bounds of every probability, and exact counts of small pieces."""
