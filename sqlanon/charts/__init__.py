"""Charts of intervals, attacks, groups and errors: the only package that draws; altair is an optional extra."""
