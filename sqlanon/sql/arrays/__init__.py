"""Lists of alternatives, which engines call arrays: what templates say of them, and how dialects write it."""
