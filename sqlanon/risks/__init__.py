"""Before publishing: what a table risks (check), and what each method would cost in accuracy (compare)."""
