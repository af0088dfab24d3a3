"""What an adversary who knows more than the release infers from it."""
