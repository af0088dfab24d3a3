"""The numbered steps of the page, a module for those that belong together; none holds logic that a verb does not."""
