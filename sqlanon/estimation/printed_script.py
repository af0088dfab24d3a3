"""Print the statements behind an answer as a script that an engine's own shell runs as it is."""

import re
from collections.abc import Sequence

from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.plans.plan import Statement, relation_name

HEAD = "-- as it is, for the shell of {}:"
SOUNDNESS = "soundness"
FILLED = "-- (not for the shell: it reads what Python fills)"
ANSWER = "the script ends in the answer"
MOMENTS = "the script ends in what {estimator} is computed from: its arithmetic is no SQL, and sqlanon estimate does it"
# a cast of words to a number fails, and the engine's message quotes them
_SOUND = """\
select case
    when line_count > 0 and unequal_groups = 0 and faulty_lines = 0 then 0
    else cast('the release is damaged: groups that differ: ' || cast(unequal_groups as varchar) as integer)
end as damaged_groups
from (
{query}
) as soundness"""


def write_exact_script(space: Workspace, sql: str) -> str:
    """Return the script of a query that the release answers exactly: the query itself over its files."""
    return f"{HEAD.format(space.engine.dialect)} {ANSWER}\n\n{space.engine.text(Statement('answer', sql, 'query'))};\n"


def write_script(space: Workspace, statements: Sequence[tuple[str, str]], estimator: str) -> str:
    """Return a script: what later statements read is made a temporary table; what cannot run is a comment.

    statements: names and texts, in order; one reads another as the workspace's relation of that name.
    estimator: what is computed of its last lines.
    """
    tables: set[str] = set()
    parts = [f"{HEAD.format(space.engine.dialect)} {MOMENTS.format(estimator=estimator)}"]
    reads = re.compile(f'"{re.escape(space.prefix)}(?:[^"]|"")*"')
    for number, (name, sql) in enumerate(statements):
        relation = str(relation_name(space.prefix, name))
        if relation in tables:
            continue
        if set(reads.findall(sql)) - tables:
            parts.append("\n".join([f"-- {name}", FILLED, *(f"-- {line}" for line in sql.splitlines())]))
            continue
        is_read = any(relation in later for _, later in statements[number + 1 :])
        statement = Statement(name, _SOUND.format(query=sql) if name == SOUNDNESS else sql, "query")
        if is_read:
            statement = Statement(name, sql, "table", relation)
            tables.add(relation)
        parts.append(f"-- {name}\n{space.engine.text(statement)};")
    return "\n\n".join(parts) + "\n"
