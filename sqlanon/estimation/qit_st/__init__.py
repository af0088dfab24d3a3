"""Answer queries from groups: QIT and ST."""
