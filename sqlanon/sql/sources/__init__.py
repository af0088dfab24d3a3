"""SELECTs over sources: a recipient's query for its true answer, and a query as a source."""
