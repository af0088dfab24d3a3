"""What each chapter becomes on each engine, to the letter; `UPDATE_GOLDEN=1` writes the files anew.

A chapter is shown as its first method runs it: whole for DuckDB, and where other engines are told otherwise.
"""

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from pathlib import Path

import pytest
import sqlglot

from sqlanon.methods import METHODS
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Beside, Following, Loop, Plan, Report, Request, Source, Statement
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_script
from sqlanon.sql.translate import quote_relation, translate, write_tree

GOLDEN = Path(__file__).parent / "golden"


PATIENTS = Source(Sql('"patients"'))


def ask(dialect: str, roles: Roles, source: Source = PATIENTS, **further: object) -> Request:
    """Return what a script in this dialect is made for, and what its engine runs under a given key."""
    return Request(source, roles, identity="identifier", engine=dialect, **further)


def one_turn(plan: Plan, turns: int = 1) -> Plan:
    """Return a plan whose loops end after a turn: a script has every turn that there may be; one shows what it is."""
    steps = tuple(replace(step, limit=turns) if isinstance(step, Loop) else step for step in plan.steps)
    return replace(plan, steps=steps)


def anatomy(dialect: str) -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    return METHODS["anatomy"].plan(ask(dialect, roles), l=4)


def splu(dialect: str) -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    return METHODS["splu"].plan(ask(dialect, roles), gamma=5)


def robust(dialect: str) -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    backgrounds = [("sex",), ("sex,zipcode",)]
    return METHODS["robust"].plan(ask(dialect, roles), r=2.5, background_from=backgrounds)


def uncertain(dialect: str, quasi: tuple[str, ...] = ("education", "age", "sex"), **further: str) -> Plan:
    roles = Roles(quasi, ("disease",), ("ssn",))
    types = {"education": "NESTED", "age": "INTEGER", "sex": "VARCHAR", "disease": "NESTED", "ssn": "BIGINT"}
    source = Source(Sql('"patients"'), lists={"education": "VARCHAR", "disease": "VARCHAR"})
    edges = (("Bachelor", "University"), ("Master", "University"), ("University", "Any"), ("School", "Any"))
    tree = Beside("education.csv", rows=tuple({"child": child, "parent": parent} for child, parent in edges))
    weighed = (("flu", "0.11"), ("obesity", "0.12"), ("AIDS", "0.93"))
    lines = [
        {"disease": value, **dict(zip(quasi, ("0.1", "0.4", "1"), strict=False)), "weight": weight}
        for value, weight in weighed
    ]
    plan = METHODS["uncertain"].plan(
        ask(dialect, roles, source, types=types),
        k=5,
        l=3,
        threshold=0.3,
        influence=Beside("influence.csv", rows=tuple(lines)),
        hierarchy={"education": tree},
        max_alternatives=2,
        **further,
    )
    return one_turn(plan)


def mondrian(dialect: str) -> Plan:
    roles = Roles(("education", "age", "seen", "sex"), ("disease",), ("ssn",))
    types = {
        "education": "VARCHAR",
        "age": "INTEGER",
        "seen": "DATE",
        "sex": "VARCHAR",
        "disease": "VARCHAR",
        "ssn": "BIGINT",
    }
    edges = (("Bachelor", "University"), ("Master", "University"), ("University", "Any"), ("School", "Any"))
    tree = Beside("education.csv", rows=tuple({"child": child, "parent": parent} for child, parent in edges))
    request = ask(dialect, roles, types=types)
    return one_turn(METHODS["mondrian"].plan(request, k=10, l=4, partition="relaxed", hierarchy={"education": tree}))


PLANS = {"anatomy": anatomy, "splu": splu, "robust": robust, "uncertain": uncertain, "mondrian": mondrian}
FOLLOWED = {"anatomy": {"l": 4}, "splu": {"gamma": 4}, "robust": {"r": 2.5, "background_from": [("sex",)]}}
# of several sensitive columns: what is asked, and a relation that only they have
SEVERAL = {
    "anatomy": ({"l": 4}, "clash"),
    "mondrian": ({"k": 10, "l": 4}, "allowed_2"),
    "robust": ({"r": 2.5, "background_from": [("sex",)]}, "thinning"),
}
PACKED = {"anatomy": {"l": 4}, "robust": {"r": 3, "background_from": [("sex",)]}, "splu": {"gamma": 4}}
SAID = [(method, dialect) for method in PLANS for dialect in ENGINES]


def follow(method: str) -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    known = {f"known_{table}": Sql(f"ledger.main.{table}") for table in ("person", "value")}
    following = Following(2, "leave", known)
    return METHODS[method].plan(ask("duckdb", roles, following=following), **FOLLOWED[method])


def several(method: str, dialect: str = "duckdb") -> Plan:
    roles = Roles(("age", "sex"), ("disease", "income"), ("ssn",))
    types = {"age": "INTEGER", "sex": "VARCHAR", "disease": "VARCHAR", "income": "INTEGER", "ssn": "BIGINT"}
    return METHODS[method].plan(ask(dialect, roles, types=types), **SEVERAL[method][0])


def packed(method: str) -> Plan:
    roles, types = Roles(("age", "sex"), ("disease",)), {"age": "INTEGER", "sex": "TINYINT", "disease": "VARCHAR"}
    figures = {
        "row_count": 600,
        "different_rows": 600,
        "least_1": 18,
        "most_1": 90,
        "known_1": 600,
        "least_2": 0,
        "most_2": 1,
        "known_2": 600,
    }
    source = Source(Sql('"patients"'), numbering=Sql("rowid"))
    request = Request(source, roles, types=types, ranges=figures)
    return METHODS[method].plan(request, **PACKED[method])


def climbing() -> Plan:
    return uncertain("duckdb", ("education",), undiverse="generalize")


ASPECTS: Mapping[tuple[str, str], Callable[[], Plan]] = {
    **{(method, "followed"): partial(follow, method) for method in FOLLOWED},
    **{(method, "several"): partial(several, method) for method in SEVERAL},
    **{(method, "packed"): partial(packed, method) for method in PACKED},
    ("uncertain", "climbing"): climbing,
}


@functools.cache
def write(method: str, dialect: str) -> str:
    return write_script(PLANS[method](dialect), dialect, METHODS[method].paper)


def statements_of(plan: Plan) -> Iterator[Statement]:
    """Yield what a plan runs, one turn of its loops."""
    for step in (*plan.steps, *plan.outputs):
        if isinstance(step, Loop):
            yield from (*step.body, step.left)
        else:
            yield step.statement if isinstance(step, Report) else step


@functools.cache
def chapters() -> dict[str, dict[str, list[Statement]]]:
    """Return by chapter and engine the statements of the first plan that has it."""
    plans = {(method, dialect): PLANS[method](dialect) for method in PLANS for dialect in ENGINES}
    plans |= {aspect: plan() for aspect, plan in ASPECTS.items()}
    found: dict[str, dict[str, list[Statement]]] = {}
    owners: dict[tuple[str, str], tuple[str, str]] = {}
    for owner, plan in plans.items():
        engine = owner[1] if owner[1] in ENGINES else "duckdb"
        for statement in statements_of(plan):
            if statement.template and owners.setdefault((statement.template, engine), owner) == owner:
                found.setdefault(statement.template, {}).setdefault(engine, []).append(statement)
    return found


def show(statements: Mapping[str, Sequence[Statement]]) -> str:
    """Write a chapter as DuckDB runs it, and where others are told otherwise: `-` what is gone, `+` what came."""
    parts = [f"-- {one.name}: {one.sentence}\n{one.sql}" for one in statements["duckdb"]]
    for engine in (one for one in ENGINES if one != "duckdb" and one in statements):
        # NULLs go last everywhere: where an engine has to be told so is no difference
        nulls = sqlglot.Dialect.get_or_raise(engine).NULL_ORDERING
        told = type(f"DuckDB_{nulls}", (sqlglot.dialects.DuckDB,), {"NULL_ORDERING": nulls})
        read = {
            one.name: write_tree(sqlglot.parse_one(one.sql, read="duckdb"), told).splitlines()
            for one in statements["duckdb"]
        }
        for one in statements[engine]:
            said = translate(one.sql, engine).replace("`", '"').splitlines()
            lines = list(unified_diff(read.get(one.name, []), said, n=0, lineterm=""))[2:]
            shown = [f"-- {line}" for line in lines if not line.startswith("@@")]
            if shown:
                parts.append("\n".join([f"-- {engine}, {one.name}:", *shown]))
    return "\n\n".join(parts) + "\n"


def golden_chapters() -> list[str]:
    """Return the chapters that have a file: to collect tests, no plan has to be made."""
    names = [path.relative_to(GOLDEN).with_suffix("").as_posix() for path in sorted(GOLDEN.rglob("*.sql"))]
    return [name for name in names if not name.startswith("scripts/")]


@pytest.mark.parametrize("chapter", chapters() if os.environ.get("UPDATE_GOLDEN") else golden_chapters())
def test_a_chapter_is_the_golden_one(chapter):
    path, text = GOLDEN / f"{chapter}.sql", show(chapters()[chapter])
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_script_is_the_golden_one(dialect):
    """Anatomy's, without the statements of its chapters: what stands around them."""
    parts = write("anatomy", dialect).split("\n\n")
    # a comment of a script has no end of a statement
    heads = [f"-- {one.name}: {one.sentence}" for one in statements_of(PLANS["anatomy"](dialect)) if one.template]
    named = {head.replace(";", ",") for head in heads}
    text = "\n\n".join(part if part.partition("\n")[0] not in named else part.partition("\n")[0] for part in parts)
    path = GOLDEN / "scripts" / f"{dialect}.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


@pytest.mark.parametrize(("method", "dialect"), SAID)
def test_scripts_forget_what_they_make(method, dialect):
    plan = PLANS[method](dialect)
    made = re.findall(r"^create (?:temporary )?(?:table|view) (\S+)", write(method, dialect), re.MULTILINE)
    rest = re.findall(
        r"^drop (?:table|view) (\S+);", write(method, dialect).partition("-- the rest is")[2], re.MULTILINE
    )
    published = {quote_relation(output.relation, dialect) for output in plan.outputs}
    body = {
        quote_relation(statement.relation, dialect)
        for step in plan.steps
        if isinstance(step, Loop)
        for statement in step.body
    }
    lasting = [name for name in dict.fromkeys(made) if name not in published | body]
    assert rest == lasting[::-1]


@pytest.mark.parametrize("method", SEVERAL)
def test_several_sensitive_columns_can_be_said_everywhere(method):
    for dialect in ENGINES:
        script = write_script(one_turn(several(method, dialect), 2), dialect, METHODS[method].paper)
        assert script.count(SEVERAL[method][1])


def test_every_chapter_has_a_golden_file_and_none_is_left_over():
    files = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql")}
    assert files == {f"{chapter}.sql" for chapter in chapters()} | {f"scripts/{dialect}.sql" for dialect in ENGINES}, (
        "UPDATE_GOLDEN=1 writes one that lacks"
    )
