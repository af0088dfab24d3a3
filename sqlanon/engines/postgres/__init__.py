"""PostgreSQL: the server runs every statement and keeps every row. The only importer of `psycopg`."""
