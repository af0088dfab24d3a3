"""From what was asked to a verified release, by hand, by job file, or as macros."""
