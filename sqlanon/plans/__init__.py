"""Plans: what is to run, as pure data; nothing here meets a database."""
