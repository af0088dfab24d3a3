"""UDAK-anonymity: groups of uncertain rows that are alike."""
