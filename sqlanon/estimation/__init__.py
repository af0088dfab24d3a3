"""A recipient's query on its way through a release, from SQL to an answer with its error."""
