"""Write a plan as one script that an engine's own shell runs as it is: no Python, no driver."""

from dataclasses import dataclass
from textwrap import indent

from sqlanon.errors import TemplateError
from sqlanon.plans.plan import Guard, Loop, Plan, Report
from sqlanon.plans.statement import Kind, Statement
from sqlanon.plans.templates import header, literal
from sqlanon.sql.translate import relation_name, translate
from sqlanon.wording import spoken


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
_ONLY_TABLES: dict[Kind, str] = {"table": _TABLE, "view": _TABLE}
_ERROR = "select case when refusal is not null then {error}(refusal) end as checked\nfrom (\n{query}\n) as checked"
# where no function fails, a cast of the refusal to a number does, and the engine's message quotes it
_CAST = "select {error}(refusal) as checked\nfrom (\n{query}\n) as checked"
_SHORT_DECIMALS = "The release is another engine's where the identifier is no decimal: here 1.50 is the text 1.5."

SHELLS = {
    "duckdb": Shell(
        hand_over="set variable sqlanon_key = '…'",
        key="cast(getvariable('sqlanon_key') as varchar)",
        keeping=_TEMPORARY,
        stop=_ERROR.replace("{error}", "error"),
        before="begin transaction;",
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
        before="set prefer_column_name_to_alias = 1;",  # row_count is a column before it is an alias
    ),
}
SHELLS["databricks"] = Shell(
    hand_over=SHELLS["spark"].hand_over,
    key=SHELLS["spark"].key,
    key_kind="view",
    keeping={"table": "create table {name} as", "view": _VIEW},
    stop=SHELLS["spark"].stop,
    note=SHELLS["spark"].note,
)


def script(plan: Plan, dialect: str, paper: str = "") -> str:
    """Return the script that publishes `plan` in `dialect`: the key, relations, checks, published tables.

    The script holds no key: it reads one from the session and fails where there is none.
    Raises TemplateError where the plan's SQL cannot be said in `dialect`.
    """
    if dialect not in SHELLS:
        raise TemplateError(f"no dialect {dialect!r}; there are {', '.join(SHELLS)}")
    shell = SHELLS[dialect]
    parts = [_head(plan, dialect, paper), shell.before, *_key(plan, dialect)]
    for step in plan.steps:
        parts += _said(step, dialect)
    for output in plan.outputs:
        parts += _made(output, shell.output, dialect)
    parts += [_forgotten(plan, dialect), shell.after]
    text = "\n\n".join(part for part in parts if part) + "\n"
    if text.count("${") > shell.key.count("${"):
        raise TemplateError("a name holds ${, where some shells put a variable")
    return text


def _head(plan: Plan, dialect: str, paper: str) -> str:
    parameters = ", ".join(f"{key} = {value}" for key, value in plan.parameters.items())
    outputs = ", ".join(relation_name(output.relation, dialect) for output in plan.outputs)
    hand_over = SHELLS[dialect].hand_over.replace("{key}", relation_name(str(plan.key), dialect))
    lines = [
        f"sqlanon {plan.method} for {dialect}: {parameters}",
        *([paper] if paper else []),
        f"It makes {outputs}, and nothing else that it makes may be handed on.",
        "It needs a key of 64 hex digits, and who has the key can undo the release.",
        "Make one with: openssl rand -hex 32",
        f"Hand it over before the script runs: {hand_over}",
        *([SHELLS[dialect].note] if SHELLS[dialect].note else []),
    ]
    return "\n".join(_comment(line) for line in lines)


def _key(plan: Plan, dialect: str) -> list[str]:
    """Keep the session's key as a relation, and stop where it is none."""
    shell, relation = SHELLS[dialect], relation_name(str(plan.key), dialect)
    made = f"-- key: what the session was given\n{shell.keeping[shell.key_kind].format(name=relation)}"
    read = f"select lower({shell.key}) as {relation_name('secret', dialect)};"
    wanted = Guard("key_count <> 1 or key_length <> 64", "the key is missing: hand over 64 hex digits")
    lengths = f"select count(*) as key_count, coalesce(max(length(secret)), 0) as key_length from {plan.key}"
    return [f"{made}\n{read}" if shell.key else "", _stop(lengths, (wanted,), dialect)]


def _said(step: Statement | Report | Loop, dialect: str) -> list[str]:
    if isinstance(step, Loop):
        return _unrolled(step, dialect)
    if isinstance(step, Report):
        return _checked(step, dialect)
    return _made(step, SHELLS[dialect].keeping[step.kind], dialect)


def _unrolled(loop: Loop, dialect: str) -> list[str]:
    """Write every turn that there may be: a turn that finds nothing to do changes nothing."""
    kept = SHELLS[dialect].keeping["table"]
    after = Statement(loop.name, f"select * from {loop.body[-1].relation}", "table", loop.state)
    parts = []
    for turn in range(1, loop.limit + 1):
        parts.append(_comment(f"{loop.name}: turn {turn} of {loop.limit}"))
        parts += [part for statement in loop.body for part in _made(statement, kept, dialect)]
        parts.append(_drop(loop.state, "table", dialect))
        parts += _made(after, kept, dialect)
        parts += [_drop(statement.relation, "table", dialect) for statement in reversed(loop.body)]
    return parts + (_checked(loop.left, dialect) if loop.left.guards else [])


def _drop(relation: str, word: str, dialect: str) -> str:
    return f"drop {word} {relation_name(relation, dialect)};"


def _made(statement: Statement, keeping: str, dialect: str) -> list[str]:
    relation = relation_name(statement.relation, dialect)
    create = f"{_told(statement)}\n{keeping.format(name=relation)}\n{translate(statement.sql, dialect)};"
    if statement.kind == "table" and SHELLS[dialect].after_table:
        create += "\n" + SHELLS[dialect].after_table.format(name=relation)
    return [create]


def _checked(check: Report, dialect: str) -> list[str]:
    """Stop where a guard says so; without guards, show the row to whoever runs the script."""
    if check.guards:
        return [f"{_told(check.statement)}\n{_stop(check.statement.sql, check.guards, dialect)}"]
    look = "-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself"
    return [f"{_told(check.statement)}\n{look}\n{translate(check.statement.sql, dialect)};"]


def _stop(sql: str, guards: tuple[Guard, ...], dialect: str) -> str:
    cases = "\n".join(
        f"        when {guard.condition} then {literal(spoken(guard.message, 'command line'))}" for guard in guards
    )
    question = f"select\n    case\n{cases}\n    end as refusal\nfrom (\n{indent(sql, '    ')}\n) as looked_at"
    text = translate(question, dialect)
    if "$sqlanon$" in text:
        raise TemplateError("a name holds $sqlanon$, which a script cannot quote")
    return SHELLS[dialect].stop.replace("{query}", indent(text, "    ")) + ";"


def _forgotten(plan: Plan, dialect: str) -> str:
    """Drop what is microdata or the key, the last first."""
    shell = SHELLS[dialect]
    made = [(shell.key_kind, str(plan.key))]
    made += [(step.kind, step.relation) for step in plan.steps if isinstance(step, Statement) and step.relation]
    lines = []
    for kind, relation in reversed(made):
        word = "view" if " view " in shell.keeping[kind] else "table"
        lines.append(_drop(relation, word, dialect))
    return "-- the rest is microdata and the key: forget it\n" + "\n".join(lines)


def _told(statement: Statement) -> str:
    sentence = header(statement.template).sentence if statement.template else ""
    first = sentence.partition(". ")[0].removesuffix(".")
    return _comment(f"{statement.name}: {first}" if first else statement.name)


def _comment(line: str) -> str:
    """Write a comment without what a naive shell would take for the end of a statement."""
    return f"-- {' '.join(line.split()).replace(';', ',')}"
