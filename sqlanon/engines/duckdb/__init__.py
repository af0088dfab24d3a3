"""DuckDB: the engine that is always there. The only importer of `duckdb`."""
