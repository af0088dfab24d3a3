"""Charts of intervals, attacks, groups and errors: the only package that draws; some need altair, an extra."""
