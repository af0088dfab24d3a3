"""What each method becomes in every dialect, to the letter; `UPDATE_GOLDEN=1` writes the files anew."""

import os
from pathlib import Path

import pytest

from sqlanon.dialects import DIALECTS
from sqlanon.methods import METHODS
from sqlanon.plan import Plan, Request, Source
from sqlanon.roles import Roles
from sqlanon.script import script
from sqlanon.templates import Sql

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


PLANS = {"anatomy": anatomy, "splu": splu, "robust": robust}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("method", PLANS)
def test_the_script_is_the_golden_one(method, dialect):
    path = GOLDEN / method / f"{dialect}.sql"
    text = script(PLANS[method](), dialect, METHODS[method].PAPER)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file {path.name}; write it with UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


def test_no_golden_file_is_left_over():
    found = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql")}
    assert found == {f"{method}/{dialect}.sql" for method in PLANS for dialect in DIALECTS}
