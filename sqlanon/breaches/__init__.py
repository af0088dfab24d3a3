"""How likely secret associations are to whoever holds published views (breach probability)."""
