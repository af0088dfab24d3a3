"""The verbs: each module registers its own with the application when it is imported."""
