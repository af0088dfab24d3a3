"""What an engine runs while it publishes, held against the script that is printed for it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

import sqlanon
from sqlanon.plans.plan import Loop, Statement
from sqlanon.publishing import publish
from sqlanon.sql.shell_script import RUN_OTHERWISE_BY_METHOD
from sqlanon.wording import word_marks
from tests.conftest import METHODS

KEY = "ab" * 32
# texts, and a number beside them: quasi columns of whole numbers alone are packed, which a script cannot ask for
PEOPLE = (
    "select {text} as ssn, case when i % 3 = 0 then 'F' else 'M' end as sex, {zip} as zipcode, {age} as age,"
    " {disease} as disease from {numbers}"
)
ROLES = {"quasi": ["sex", "zipcode", "age"], "sensitive": "disease", "id": "ssn", "unique_quasi": "keep"}
_CREATED = re.compile(r"create (?:temporary )?(?:table|view) (\S+)(?: using parquet)? as\n(.*)\Z", re.DOTALL)
_OF_A_RUN = re.compile(r"sqlanon_[0-9a-f]{8}_")


@dataclass
class Trace:
    """What ran: relations with their SELECTs in the order in which they were made, and the queries of checks.

    turns: the relations that turns of loops make, of which a run may take none.
    """

    relations: dict[str, str] = field(default_factory=dict)
    turns: set[str] = field(default_factory=set)
    queries: list[str] = field(default_factory=list)


def _plain(sql: str) -> str:
    """Return a statement without the prefix of its run's relations, options in words, and with single blanks."""
    return word_marks(" ".join(_OF_A_RUN.sub("sqlanon_", sql).split()).rstrip("; "), "command line")


def _read_created(text: str) -> tuple[str, str] | None:
    match = _CREATED.search(text)
    return None if match is None else (_plain(match[1]).strip('"`').removeprefix("sqlanon_"), _plain(match[2]))


def _is_shown(query: str, script: str) -> bool:
    """Tell whether a script asks this: in FROM of what refuses, before which some dialects write the query's CTEs."""
    before, _, last = query.rpartition(" ) select ")
    return query in script or (bool(before) and before in script and f"select {last}" in script)


@contextmanager
def traced(engine: type) -> Iterator[Trace]:
    """Write down what engines of this class run until a plan's steps are done."""
    trace = Trace()
    steps = {"run": False}
    run_plan, create, rows = publish.run_plan, engine.create, engine.rows

    @contextmanager
    def run(plan: Any, *given: Any) -> Iterator[Any]:
        steps["run"] = True
        with run_plan(plan, *given) as reports:
            steps["run"] = False
            own = given[0]
            loops = [step for step in plan.steps if isinstance(step, Loop)]
            made = [(one.name, one.replaces) for loop in loops for one in loop.body]
            trace.turns |= {f"{name}_next" if replaces else name for name, replaces in made}
            # a script takes every turn that there may be, and asks whether rows are left over where that is refused
            trace.turns |= {_plain(own.text(loop.left)) for loop in loops}
            for output in plan.published(reports).outputs:
                trace.relations[output.name] = _plain(own.text(output).partition(" as\n")[2])
            yield reports

    def make(self: Any, statement: Any, lasting: bool = False) -> None:
        if steps["run"]:
            name, sql = _read_created(self.text(statement))
            trace.relations[name] = sql
        create(self, statement, lasting)

    def ask(self: Any, sql: str) -> Any:
        if steps["run"]:
            trace.queries.append(_plain(self.text(Statement("query", sql, "query"))))
        return rows(self, sql)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "run_plan", run)
        patch.setattr(engine, "create", make)
        patch.setattr(engine, "rows", ask)
        yield trace


def hold_against_script(
    method: str, engine: type, dialect: str, run: Callable[..., object], con: Any, source: str = "patients"
) -> dict[str, Any]:
    """Assert that the script of a method is what an engine runs, statement by statement; return what was asked for.

    run: publishes with the method's options. con: a connection to DuckDB with the source.
    """
    options = {**ROLES, **METHODS[method]}
    with traced(engine) as trace:
        run(**options, key=KEY)
    script = sqlanon.compile(method, source, dialect=dialect, con=con, **options)
    shown: dict[str, str] = {}
    for name, sql in filter(None, map(_read_created, script.split(";\n"))):
        shown.setdefault(name, sql)  # each turn of a loop makes its relations again
    shown.pop("key")
    ran = trace.relations
    listed = [name for name in shown if name in ran or name not in trace.turns]
    assert listed == list(ran), set(listed) ^ set(ran)
    # a table has a name of its own in the engine, and a text there may be told to be compared by bytes
    different = {name for name, sql in ran.items() if sql != shown[name]} - {"source"}
    otherwise = set(RUN_OTHERWISE_BY_METHOD.get(method, {}))
    assert different == otherwise, {name: (ran[name], shown[name]) for name in different ^ otherwise}
    flat = _plain(script)
    unseen = [sql for sql in trace.queries if not _is_shown(sql, flat) and sql not in trace.turns]
    assert not unseen, unseen
    return {**options, "key": KEY}
