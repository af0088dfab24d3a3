"""Answer counts of rows whose cells may hold one of several values: what is certain, possible, expected."""
