"""What may be asked of methods and verbs: pydantic models, from which every surface is made."""
