"""What somebody who knows more than the release infers from it."""
