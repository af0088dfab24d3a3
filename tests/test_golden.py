"""What each method becomes in every dialect, to the letter; `UPDATE_GOLDEN=1` writes the files anew."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sqlanon.methods import METHODS
from sqlanon.plans.following import Following
from sqlanon.plans.plan import Beside, Loop, Plan, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.templates import Sql
from sqlanon.plans.traits import Traits
from sqlanon.sql.shell_script import write_script
from sqlanon.sql.spellings import DIALECTS

GOLDEN = Path(__file__).parent / "golden"


def anatomy() -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    return METHODS["anatomy"].plan(Request(Source(Sql('"patients"')), roles, identity="identifier"), l=4)


def splu() -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    return METHODS["splu"].plan(Request(Source(Sql('"patients"')), roles, identity="identifier"), gamma=5)


def robust() -> Plan:
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    request = Request(Source(Sql('"patients"')), roles, identity="identifier")
    return METHODS["robust"].plan(request, r=2.5, background_from=[("sex",), ("sex,zipcode",)])


def uncertain(quasi: tuple[str, ...] = ("education", "age", "sex"), **further: str) -> Plan:
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
    return METHODS["uncertain"].plan(
        Request(source, roles, identity="identifier", types=types),
        k=5,
        l=3,
        threshold=0.3,
        influence=Beside("influence.csv", rows=tuple(lines)),
        hierarchy={"education": tree},
        max_alternatives=2,
        **further,
    )


def mondrian() -> Plan:
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
    request = Request(Source(Sql('"patients"')), roles, identity="identifier", types=types)
    plan = METHODS["mondrian"].plan(request, k=10, l=4, partition="relaxed", hierarchy={"education": tree})
    # a script has every turn that there may be; one of each loop shows what it is
    steps = tuple(replace(step, limit=1) if isinstance(step, Loop) else step for step in plan.steps)
    return replace(plan, steps=steps)


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
SAID = [(method, dialect) for method in PLANS for dialect in (METHODS[method].dialects or DIALECTS)]


@pytest.mark.parametrize(("method", "dialect"), SAID)
def test_the_script_is_the_golden_one(method, dialect):
    path = GOLDEN / method / f"{dialect}.sql"
    text = write_script(PLANS[method](), dialect, METHODS[method].paper)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file {path.name}; write it with UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


@pytest.mark.parametrize(("method", "changed"), FOLLOWINGS)
def test_a_release_under_a_ledger_is_the_golden_one(method, changed):
    roles = Roles(("age", "sex", "zipcode"), ("disease",), ("ssn",))
    known = {f"known_{table}": Sql(f"ledger.main.{table}") for table in ("person", "value")}
    following = Following(2, changed, known, reserve=2 if changed == "move" else 0)
    request = Request(Source(Sql('"patients"')), roles, identity="identifier", following=following)
    plan = METHODS[method].plan(request, **FOLLOWED[method])
    text = "".join(f"-- {one.name}\n{one.sql};\n\n" for one in plan.statements)
    path = GOLDEN / method / FOLLOWINGS[method, changed]
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


@pytest.mark.parametrize("method", SEVERAL)
def test_several_sensitive_columns_are_the_golden_statements(method):
    roles = Roles(("age", "sex"), ("disease", "income"), ("ssn",))
    types = {"age": "INTEGER", "sex": "VARCHAR", "disease": "VARCHAR", "income": "INTEGER", "ssn": "BIGINT"}
    request = Request(Source(Sql('"patients"')), roles, identity="identifier", types=types)
    given, told = SEVERAL[method]
    plan = METHODS[method].plan(request, **given)
    text = "".join(f"-- {one.name}\n{one.sql};\n\n" for one in plan.statements)
    path = GOLDEN / method / "several.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"
    for dialect in DIALECTS:
        assert write_script(plan, dialect, METHODS[method].paper).count(told)


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
    # as DuckDB runs it
    traits = Traits(few_tables=True, numbers_rows=True, own_draws=True, packs_rows=True)
    request = Request(
        Source(Sql('"patients"'), numbering=Sql("rowid")), roles, types=types, measured=measured, traits=traits
    )
    plan = METHODS[method].plan(request, **PACKED[method])
    text = "".join(f"-- {one.name}\n{one.sql};\n\n" for one in plan.statements)
    path = GOLDEN / method / "packed.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


def test_groups_that_climb_are_the_golden_statements():
    plan = uncertain(("education",), undiverse="generalize")
    first = next(n for n, one in enumerate(plan.statements) if one.name == "climb_limit")
    text = "".join(f"-- {one.name}\n{one.sql};\n\n" for one in plan.statements[first:])
    path = GOLDEN / "uncertain" / "climbing.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


def test_no_golden_file_is_left_over():
    found = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql")}
    assert found == {f"{method}/{dialect}.sql" for method, dialect in SAID} | {
        f"{method}/{name}" for (method, _), name in FOLLOWINGS.items()
    } | {f"{method}/several.sql" for method in SEVERAL} | {f"{method}/packed.sql" for method in PACKED} | {
        "uncertain/climbing.sql"
    }
