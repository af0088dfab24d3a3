"""Answer queries from generalized rows: by how far a query and the boxes overlap."""
