"""What each engine's own shell needs of a script: how it takes a key, keeps relations, and stops."""

from dataclasses import dataclass

from sqlanon.plans.statement import Kind


@dataclass(frozen=True)
class Shell:
    """How one engine's shell takes a key, keeps relations, and stops.

    hand_over: what the user does before the script runs; key: the expression that reads the key, empty
    where the user makes the relation. keeping: how a statement of each kind is kept; output: how a
    published table is. stop: a SELECT, or a block, over a query that yields one text, `refusal`, or NULL;
    it fails with that text. after_table: what a new table needs. before, after: what encloses the whole.
    key_kind: how the key is kept, which is never a table on disk. note: what else the user should know.
    """

    hand_over: str
    key: str
    keeping: dict[Kind, str]
    stop: str
    output: str = "create table {name} as"
    key_kind: Kind = "table"
    before: str = ""
    after: str = ""
    after_table: str = ""
    note: str = ""


_TABLE, _VIEW = "create temporary table {name} as", "create temporary view {name} as"
_TEMPORARY: dict[Kind, str] = {"table": _TABLE, "view": _VIEW}
# views here are not temporary: they would outlive the session, and tell the source's name
_ONLY_TABLES: dict[Kind, str] = {"table": _TABLE, "view": _TABLE}
# the call's result is selected, so that no optimizer leaves the call out
_ERROR = "select case when refusal is not null then {error}(refusal) end as checked\nfrom (\n{query}\n) as checked"
# where no function fails, a cast of the refusal to a number does, and the engine's message quotes it
_CAST = "select {error}(refusal) as checked\nfrom (\n{query}\n) as checked"
_SHORT_DECIMALS = "The release is another engine's where the identifier is no decimal: here 1.50 is the text 1.5."

# whoever owns a database may have given a macro the name of a function that the script calls
_NO_FALSE_FUNCTION = """\
-- no macro may have the name of a function that this script calls
select
    system.main.error(
        system.main.concat('the macro ', planted.function_name, ' has the name of a function of DuckDB: drop it')
    ) as refusal
from system.main.duckdb_functions() as planted
where not planted.internal
    and system.main.lower(planted.function_name) in (
        select system.main.lower(own.function_name) from system.main.duckdb_functions() as own where own.internal
    );"""

SHELLS = {
    "duckdb": Shell(
        hand_over="set variable sqlanon_key = '…'",
        key="cast(getvariable('sqlanon_key') as varchar)",
        keeping=_TEMPORARY,
        stop=_ERROR.replace("{error}", "system.main.error"),
        before=f"{_NO_FALSE_FUNCTION}\n\nbegin transaction;",
        after="commit;",
    ),
    "spark": Shell(
        hand_over="set sqlanon.key=…",
        note="The engine puts the key into the text of the queries that it logs.",
        key="'${sqlanon.key}'",
        key_kind="view",
        keeping={"table": "create table {name} using parquet as", "view": _VIEW},
        output="create table {name} using parquet as",
        stop=_ERROR.replace("{error}", "raise_error"),
    ),
    "postgres": Shell(
        hand_over="set sqlanon.key = '…'",
        key="current_setting('sqlanon.key', true)",
        keeping=_TEMPORARY,
        stop=(
            "do $sqlanon$\ndeclare refusal text := (\n{query}\n);\nbegin\n"
            "    if refusal is not null then raise exception using message = refusal; end if;\nend\n$sqlanon$"
        ),
        after_table="analyze {name};",
        before="begin;\nset local datestyle = 'ISO';",  # dates of identifiers become text
        after="commit;",
    ),
    "snowflake": Shell(
        hand_over="set sqlanon_key = '…'",
        note="Names are quoted, so their letters count as Snowflake keeps them: mostly in upper case.",
        key="$sqlanon_key",
        keeping=_TEMPORARY,
        stop=_CAST.replace("{error}", "to_number"),
        before="alter session set date_output_format = 'YYYY-MM-DD';",
    ),
    "bigquery": Shell(
        hand_over="bq query --use_legacy_sql=false --parameter=sqlanon_key::… < script.sql",
        note=_SHORT_DECIMALS,
        key="@sqlanon_key",
        keeping=_ONLY_TABLES,
        stop=_ERROR.replace("{error}", "error"),
    ),
    # Trino's sessions hold no values: the user makes the key's relation
    "trino": Shell(
        hand_over="create table {key} as select '…' as \"secret\"",
        note="Trino has no temporary tables: where the script stops, drop what it made, and the key.",
        key="",
        keeping={"table": "create table {name} as", "view": "create view {name} as"},
        stop=_ERROR.replace("{error}", "fail"),
    ),
    "clickhouse": Shell(
        hand_over="clickhouse-client --param_sqlanon_key=… --queries-file script.sql",
        note=_SHORT_DECIMALS,
        key="{sqlanon_key:String}",
        keeping=_ONLY_TABLES,
        output="create table {name} engine = MergeTree order by tuple() as",
        stop=_CAST.replace("{error}(refusal)", "toInt64(coalesce(refusal, '0'))"),
        # row_count is a column before it is an alias; what an outer join does not find is NULL
        before="set prefer_column_name_to_alias = 1;\nset join_use_nulls = 1;",
    ),
}
# as Spark, without its choice of a file format: tables are Delta's, which the platform keeps
SHELLS["databricks"] = Shell(
    hand_over=SHELLS["spark"].hand_over,
    key=SHELLS["spark"].key,
    key_kind="view",
    keeping={"table": "create table {name} as", "view": _VIEW},
    stop=SHELLS["spark"].stop,
    note=SHELLS["spark"].note,
)
