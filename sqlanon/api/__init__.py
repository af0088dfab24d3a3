"""The verbs of the command line as functions; `sqlanon` itself shows them under their names."""
