"""After publishing: what an adversary gets out of a release, beside what it promised, and the page that tells it."""
