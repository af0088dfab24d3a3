"""The door to sqlglot: other dialects, scripts, macros, and the reading of SQL that a user wrote."""
