"""Before publishing: what each method and parameter would cost in accuracy, on this table."""
