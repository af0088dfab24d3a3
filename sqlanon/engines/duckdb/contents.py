"""What a schema of DuckDB's holds: tables, and whatever else can carry a text."""

_KINDS = {  # kind: the catalog's function, the name there, and what tells the kind from others
    "table": ("duckdb_tables()", "table_name", "true"),
    "view": ("duckdb_views()", "view_name", "true"),
    "macro": ("duckdb_functions()", "function_name", "not internal"),
    "sequence": ("duckdb_sequences()", "sequence_name", "true"),
    "type": ("duckdb_types()", "type_name", "not internal"),
    "index": ("duckdb_indexes()", "index_name", "true"),
    "constraint of": ("duckdb_constraints()", "table_name", "true"),
    "tags of": ("duckdb_tables()", "table_name", "cardinality(tags) > 0"),
    "comment on schema": ("duckdb_schemas()", "schema_name", "comment is not null or cardinality(tags) > 0"),
    "default of": ("duckdb_columns()", "table_name || '.' || column_name", "column_default is not null"),
}

# a release's tables are made of a SELECT and have nothing of this; what comments say is looked at apart
# parameters: the database, the schema
FIND_CONTENTS = " union ".join(
    f"select '{kind}', {name} from {listing}"
    f" where database_name = $1 and lower(schema_name) = lower($2) and ({condition})"
    for kind, (listing, name, condition) in _KINDS.items()
)

FIND_COMMENTS = """
select table_name, '', comment from duckdb_tables()
where database_name = $1 and lower(schema_name) = lower($2) and comment is not null
union all
select table_name, column_name, comment from duckdb_columns()
where database_name = $1 and lower(schema_name) = lower($2) and comment is not null
"""
