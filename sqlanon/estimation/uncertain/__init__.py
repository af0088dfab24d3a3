"""Answer queries from uncertain data: what is certain, possible, expected."""
