"""r-robust publishing: groups against an adversary who knows distributions."""
