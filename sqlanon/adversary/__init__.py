"""What an adversary infers who learns from a release, or knows more than it; plausible microdata are drawn so, too."""
