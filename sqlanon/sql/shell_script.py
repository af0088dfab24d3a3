"""Write a plan as one script that an engine's own shell runs as it is: no Python, no driver.

What each engine's own shell needs of a script: how it takes a key, keeps relations, and stops.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import indent

from sqlanon.errors import TemplateError
from sqlanon.plans.chapters import TURN
from sqlanon.plans.plan import Kind, Loop, Plan, Report, Statement
from sqlanon.sql.translate import quote_relation, translate
from sqlanon.wording import word_marks

# What an engine runs otherwise than its script says, with the reason: it can ask the source first. A test traces
# publications, and finds that everything else is the same.
RUN_OTHERWISE = (
    "under a key of its own it draws by the numbers of rows, which a script does not have",
    "quasi columns that all hold whole numbers are packed into one number, by their least and greatest values",
)
RUN_OTHERWISE_BY_METHOD = {
    "mondrian": {"data": "the table has a column for unknown values only where a quasi column holds some"},
}


@dataclass(frozen=True)
class Shell:
    """How one engine's shell takes a key, keeps relations, and stops.

    hand_over: what the user does before the script runs; key: the expression that reads the key. keeping: how a
    statement of each kind is kept; output: how a published table is. stop: a SELECT, or a block, over a query that
    yields one text, `refusal`, or NULL; it fails with that text. after_table: what a new table needs. before, after:
    what encloses the whole. key_kind: how the key is kept, which is never a table on disk. note: what else the user
    should know.
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
# the call's result is selected, so that no optimizer leaves the call out
_ERROR = "select case when refusal is not null then {error}(refusal) end as checked\nfrom (\n{query}\n) as checked"

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
}


def write_script(plan: Plan, dialect: str, paper: str = "") -> str:
    """Return the script that publishes `plan` in `dialect`: the key, relations, checks, published tables.

    The script holds no key: it reads one from the session and fails where there is none.
    Raises TemplateError where the plan's SQL cannot be said in `dialect`.
    """
    shell = _shell(dialect)
    parts = [_write_head(plan, dialect, paper), shell.before, *_write_key(plan, dialect)]
    for step in plan.steps:
        if isinstance(step, Loop):
            parts += _unroll(step, dialect)
        elif isinstance(step, Report):
            parts.append(_write_check(step, dialect))
        else:
            parts.append(_create(step, shell.keeping[step.kind], dialect))
    parts += [_create(output, shell.output, dialect) for output in plan.outputs]
    relations = [(shell.key_kind, str(plan.key))]
    relations += [(step.kind, step.relation) for step in plan.steps if isinstance(step, Statement) and step.relation]
    parts += ["-- the rest is microdata and the key: forget it\n" + _drop_made(relations, dialect), shell.after]
    return _join_parts(parts, shell.key.count("${"))


def write_statements(statements: Sequence[Statement], head: Sequence[str], dialect: str) -> str:
    """Return a script that makes what the last statement yields, without a key and without checks.

    head: lines of comment; none may hold what a user said. Raises TemplateError as `write_script` does.
    """
    shell, (*steps, output) = _shell(dialect), statements
    parts = ["\n".join(map(_comment, head)), shell.before]
    parts += [_create(step, shell.keeping[step.kind], dialect) for step in steps]
    parts.append(_create(output, shell.output, dialect))
    relations = [(step.kind, step.relation) for step in steps]
    return _join_parts([*parts, "-- the rest goes\n" + _drop_made(relations, dialect), shell.after], 0)


def _shell(dialect: str) -> Shell:
    if dialect not in SHELLS:
        raise TemplateError(f"no dialect {dialect!r}; there are {', '.join(SHELLS)}")
    return SHELLS[dialect]


def _join_parts(parts: Sequence[str], variables: int) -> str:
    """Join the parts of a script, in which so many variables are ours; a shell does not need what is empty."""
    text = "\n\n".join(part for part in parts if part) + "\n"
    # Spark's shell substitutes ${…} wherever it stands, in names and literals as well
    if text.count("${") > variables:
        raise TemplateError("a name holds ${, where some shells put a variable")
    return text


def _write_head(plan: Plan, dialect: str, paper: str) -> str:
    parameters = ", ".join(f"{key} = {value}" for key, value in plan.parameters.items())
    outputs = ", ".join(quote_relation(output.relation, dialect) for output in plan.outputs)
    lines = [
        f"sqlanon {plan.method} for {dialect}: {parameters}",
        *([paper] if paper else []),
        f"It makes {outputs}, and nothing else that it makes may be handed on.",
        "It needs a key of 64 hex digits, and who has the key can undo the release.",
        "Make one with: openssl rand -hex 32",
        f"Hand it over before the script runs: {SHELLS[dialect].hand_over}",
        *([SHELLS[dialect].note] if SHELLS[dialect].note else []),
        f"publish runs these statements on {dialect}, but:",
        *(f"* {reason}" for reason in (*RUN_OTHERWISE, *RUN_OTHERWISE_BY_METHOD.get(plan.method, {}).values())),
    ]
    return "\n".join(_comment(line) for line in lines)


def _write_key(plan: Plan, dialect: str) -> list[str]:
    """Keep the session's key as a relation, and stop where it is none."""
    shell, relation = SHELLS[dialect], quote_relation(str(plan.key), dialect)
    creation = f"-- key: what the session was given\n{shell.keeping[shell.key_kind].format(name=relation)}"
    selection = f"select lower({shell.key}) as {quote_relation('secret', dialect)};"
    # only the key's length is read, because an error message that quotes a value must not quote the key
    missing = (
        "select case when count(*) <> 1 or coalesce(max(length(secret)), 0) <> 64"
        f" then 'the key is missing: hand over 64 hex digits' end as refusal from {plan.key}"
    )
    return [f"{creation}\n{selection}", _stop(missing, dialect)]


def _unroll(loop: Loop, dialect: str) -> list[str]:
    """Write every turn that there may be: a turn that finds nothing to do changes nothing."""
    keeping = SHELLS[dialect].keeping
    parts = []
    for turn in range(loop.limit):
        parts.append(_comment(f"{loop.name}: turn {turn + 1} of {loop.limit}"))
        made: list[Statement] = []
        for statement in loop.body:
            turned = replace(statement, sql=statement.sql.replace(TURN, str(turn)))
            parts.append(_create(turned, keeping[statement.kind], dialect))
            if statement.replaces:
                after = Statement(loop.name, f"select * from {statement.relation}", "table", statement.replaces)
                parts.append(_drop(statement.replaces, "table", dialect))
                parts.append(_create(after, keeping["table"], dialect))
            made.append(statement)
        # the next turn makes relations of the same names
        parts += [_drop(statement.relation, statement.kind, dialect) for statement in reversed(made)]
    return parts


def _drop(relation: str, word: str, dialect: str) -> str:
    return f"drop {word} {quote_relation(relation, dialect)};"


def _create(statement: Statement, keeping: str, dialect: str) -> str:
    relation = quote_relation(statement.relation, dialect)
    create = f"{_describe(statement)}\n{keeping.format(name=relation)}\n{translate(statement.sql, dialect)};"
    if statement.kind == "table" and SHELLS[dialect].after_table:
        create += "\n" + SHELLS[dialect].after_table.format(name=relation)
    return create


def _write_check(check: Report, dialect: str) -> str:
    """Stop where a check refuses; show the row of any other report to whoever runs the script."""
    if check.check:
        said = f"select refusal from (\n{indent(check.statement.sql, '    ')}\n) as looked_at"
        return f"{_describe(check.statement)}\n{_stop(said, dialect)}"
    warning = "-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself"
    return f"{_describe(check.statement)}\n{warning}\n{translate(check.statement.sql, dialect)};"


def _stop(refusal_query: str, dialect: str) -> str:
    """Stop with the text that a query of one row yields, go on where it is NULL."""
    text = translate(word_marks(refusal_query, "command line"), dialect)
    # PostgreSQL's block is quoted by this word: a name that holds it would end the block
    if "$sqlanon$" in text:
        raise TemplateError("a name holds $sqlanon$, which a script cannot quote")
    return SHELLS[dialect].stop.replace("{query}", indent(text, "    ")) + ";"


def _drop_made(relations: Sequence[tuple[Kind, str]], dialect: str) -> str:
    return "\n".join(_drop(relation, kind, dialect) for kind, relation in reversed(relations))


def _describe(statement: Statement) -> str:
    return _comment(f"{statement.name}: {statement.sentence}" if statement.sentence else statement.name)


def _comment(line: str) -> str:
    """Write a comment without what a naive shell would take for the end of a statement."""
    return f"-- {' '.join(line.split()).replace(';', ',')}"
