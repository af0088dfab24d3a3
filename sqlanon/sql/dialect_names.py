"""The dialects of scripts, as names: the command line lists them without loading what writes them."""

DIALECTS = ("duckdb", "spark", "postgres", "snowflake", "bigquery", "trino", "clickhouse", "databricks")
