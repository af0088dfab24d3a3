"""One page of HTML about a release: what was promised, what attacks reach, what is lost."""
