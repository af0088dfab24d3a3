"""A local page on which a table becomes a verified release; every step calls the verbs, and shows what to type."""
