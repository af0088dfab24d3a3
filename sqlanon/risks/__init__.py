"""Before publishing: what a table's equivalence classes risk, and what its columns are."""
