"""Arrays (lists of alternatives): what templates may do with them, and how each dialect writes it."""
