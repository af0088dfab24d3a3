"""What each method becomes on each engine, to the letter; `UPDATE_GOLDEN=1` writes the files anew.

What further dialects write otherwise, one construct in all of them, stands in `sql/test_translate.py`.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot

from sqlanon.methods import METHODS
from sqlanon.plans.following import Following
from sqlanon.plans.plan import Beside, Loop, Plan, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.plans.traits import TRAITS, traits_of
from sqlanon.sql.shell_script import write_script
from sqlanon.sql.spellings import DIALECTS

GOLDEN = Path(__file__).parent / "golden"


PATIENTS = Source(Sql('"patients"'))


def ask(dialect: str, roles: Roles, source: Source = PATIENTS, **further: object) -> Request:
    """Return what a script in this dialect is made for, and what its engine runs under a given key."""
    return Request(source, roles, identity="identifier", traits=traits_of(dialect), **further)


def one_turn(plan: Plan) -> Plan:
    """Return a plan whose loops end after a turn: a script has every turn that there may be; one shows what it is."""
    steps = tuple(replace(step, limit=1) if isinstance(step, Loop) else step for step in plan.steps)
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
FOLLOWINGS = {(method, "leave"): "followed.sql" for method in FOLLOWED} | {
    (method, "move"): "moved.sql" for method in ("anatomy", "robust")
}
# of several sensitive columns: what is asked, and a relation that only they have
SEVERAL = {
    "anatomy": ({"l": 4}, "standing"),
    "mondrian": ({"k": 10, "l": 4}, "diverse_place_2"),
    "robust": ({"r": 2.5, "background_from": [("sex",)]}, "room_last"),
}
PACKED = {"anatomy": {"l": 4}, "robust": {"r": 3, "background_from": [("sex",)]}, "splu": {"gamma": 4}}
SAID = [(method, dialect) for method in PLANS for dialect in TRAITS]
SPOKEN = [(method, dialect) for method in PLANS for dialect in (METHODS[method].dialects or DIALECTS)]


def hold(path: Path, text: str) -> None:
    """Assert that a golden file holds this text."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file {path.name}; write it with UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


def own_statements(method: str, statements: Sequence[Statement]) -> str:
    """Return the statements as they run on DuckDB; of those that the method's script holds, the names."""
    script = write_script(PLANS[method]("duckdb"), "duckdb", METHODS[method].paper)
    return "".join(
        f"-- {one.name}: as in duckdb.sql\n\n" if one.sql in script else f"-- {one.name}\n{one.sql};\n\n"
        for one in statements
    )


@pytest.mark.parametrize(("method", "dialect"), SAID)
def test_the_script_is_the_golden_one(method, dialect):
    hold(GOLDEN / method / f"{dialect}.sql", write_script(PLANS[method](dialect), dialect, METHODS[method].paper))


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "dialect"), SPOKEN)
def test_scripts_can_be_read_back(method, dialect):
    plan = PLANS[method](dialect)
    statements = sqlglot.parse(write_script(plan, dialect, METHODS[method].paper), read=dialect)
    created = [one for one in statements if one is not None and one.key == "create"]
    assert len(created) > len([one for one in plan.steps if isinstance(one, Statement)])


@pytest.mark.parametrize(("method", "changed"), FOLLOWINGS)
def test_a_release_under_a_ledger_is_the_golden_one(method, changed):
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    known = {f"known_{table}": Sql(f"ledger.main.{table}") for table in ("person", "value")}
    following = Following(2, changed, known, reserve=2 if changed == "move" else 0)
    plan = METHODS[method].plan(ask("duckdb", roles, following=following), **FOLLOWED[method])
    hold(GOLDEN / method / FOLLOWINGS[method, changed], own_statements(method, plan.statements))


@pytest.mark.parametrize("method", SEVERAL)
def test_several_sensitive_columns_are_the_golden_statements(method):
    roles = Roles(("age", "sex"), ("disease", "income"), ("ssn",))
    types = {"age": "INTEGER", "sex": "VARCHAR", "disease": "VARCHAR", "income": "INTEGER", "ssn": "BIGINT"}
    given, told = SEVERAL[method]
    plan = METHODS[method].plan(ask("duckdb", roles, types=types), **given)
    hold(GOLDEN / method / "several.sql", own_statements(method, plan.statements))
    for dialect in DIALECTS:
        elsewhere = METHODS[method].plan(ask(dialect, roles, types=types), **given)
        assert write_script(elsewhere, dialect, METHODS[method].paper).count(told)


@pytest.mark.parametrize("method", PACKED)
def test_packed_rows_are_the_golden_statements(method):
    roles, types = Roles(("age", "sex"), ("disease",)), {"age": "INTEGER", "sex": "TINYINT", "disease": "VARCHAR"}
    measured = {
        "row_count": 600,
        "least_1": 18,
        "most_1": 90,
        "known_1": 600,
        "least_2": 0,
        "most_2": 1,
        "known_2": 600,
    }
    source = Source(Sql('"patients"'), numbering=Sql("rowid"))
    request = Request(source, roles, types=types, measured=measured, traits=traits_of("duckdb"))
    plan = METHODS[method].plan(request, **PACKED[method])
    hold(GOLDEN / method / "packed.sql", own_statements(method, plan.statements))


def test_groups_that_climb_are_the_golden_statements():
    plan = uncertain("duckdb", ("education",), undiverse="generalize")
    first = next(n for n, statement in enumerate(plan.statements) if statement.name == "climb_limit")
    hold(GOLDEN / "uncertain" / "climbing.sql", own_statements("uncertain", plan.statements[first:]))


def test_no_golden_file_is_left_over():
    found = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql")}
    assert found == {f"{method}/{dialect}.sql" for method, dialect in SAID} | {
        f"{method}/{name}" for (method, _), name in FOLLOWINGS.items()
    } | {f"{method}/several.sql" for method in SEVERAL} | {f"{method}/packed.sql" for method in PACKED} | {
        "uncertain/climbing.sql"
    }
