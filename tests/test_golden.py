"""What each method becomes on each engine, to the letter; `UPDATE_GOLDEN=1` writes the files anew.

Anatomy's three scripts are shown whole. What stands in them already, or in a method's own file, letter for letter, is
named in the files that are read after these, and not written again.
"""

import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from pathlib import Path

import pytest
import sqlglot

from sqlanon.methods import METHODS
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.following import Following
from sqlanon.plans.plan import Beside, Loop, Plan, Request, Source
from sqlanon.plans.roles import Roles
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.sql.shell_script import write_script
from sqlanon.sql.translate import quote_relation

GOLDEN = Path(__file__).parent / "golden"


PATIENTS = Source(Sql('"patients"'))


def ask(dialect: str, roles: Roles, source: Source = PATIENTS, **further: object) -> Request:
    """Return what a script in this dialect is made for, and what its engine runs under a given key."""
    return Request(source, roles, identity="identifier", traits=ENGINES[dialect].traits, engine=dialect, **further)


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
    request = Request(source, roles, types=types, ranges=figures, traits=ENGINES["duckdb"].traits)
    return METHODS[method].plan(request, **PACKED[method])


def climbing() -> Plan:
    return uncertain("duckdb", ("education",), undiverse="generalize")


ASPECTS: Mapping[tuple[str, str], Callable[[], Plan]] = {
    **{(method, "followed"): partial(follow, method) for method in FOLLOWED},
    **{(method, "several"): partial(several, method) for method in SEVERAL},
    **{(method, "packed"): partial(packed, method) for method in PACKED},
    ("uncertain", "climbing"): climbing,
}


def write(method: str, name: str) -> str:
    """Return the script that a golden file shows."""
    if name in ENGINES:
        return write_script(PLANS[method](name), name, METHODS[method].paper)
    return write_script(one_turn(ASPECTS[method, name]()), "duckdb")


@functools.cache
def parts(method: str, name: str) -> tuple[str, ...]:
    """Return what stands in a script between blank lines: its head, its statements."""
    return tuple(write(method, name).rstrip("\n").split("\n\n"))


def read_before(method: str, name: str) -> list[tuple[str, str]]:
    """Return the files that whoever reads this one has read before: Anatomy's, the method's own, the aspect before."""
    if method == "anatomy" and name in ENGINES:
        return []  # the first that a reader opens is whole
    before = [("anatomy", name)] if name in ENGINES else [(method, "duckdb")]
    before += [(method, "postgres")] if name == "spark" else []
    before += [("anatomy", name)] if method != "anatomy" and ("anatomy", name) in ASPECTS else []
    return before


def sql_of(part: str) -> str:
    """Return a statement without its comments, as it reads where names are quoted as PostgreSQL quotes them."""
    lines = [line for line in part.replace("`", '"').splitlines() if not line.startswith(("--", "analyze "))]
    return "\n".join(lines).replace("create table", "create temporary table").replace(" using parquet as", " as")


def file_name(method: str, name: str, beside: str) -> str:
    return f"{name}.sql" if method == beside else f"{method}/{name}.sql"


def shorten(method: str, name: str) -> str:
    """Return a script without what stands already in a file that is read before it; the place is named.

    Of a statement that stands there with few differences, only these: `-` is what is gone, `+` what came.
    """
    near = [(file_name(*other, method), part) for other in read_before(method, name) for part in parts(*other)]
    if not near:
        return write(method, name)
    shown = parts(method, name)
    if name == "climbing":  # what stands before is of one column alone, and of no interest here
        shown = shown[next(n for n, part in enumerate(shown) if part.startswith("-- climb_limit")) :]
    return "\n\n".join(shorten_part(part, near, name in ("duckdb", "postgres")) for part in shown) + "\n"


def shorten_part(part: str, near: Sequence[tuple[str, str]], whole: bool) -> str:
    head, _, rest = part.partition("\n")
    if not head.startswith("-- ") or not sql_of(part):
        return part
    if head.startswith("-- the rest"):
        return f"{head}\n-- {rest.count('drop ')} relations, the last first"
    equal = [file for file, other in near if sql_of(other) == sql_of(part)]
    label = head.partition(":")[0]
    if equal:
        return f"{label}: as in {equal[0]}"
    alike = [
        (file, list(unified_diff(sql_of(other).splitlines(), sql_of(part).splitlines(), n=0))[2:])
        for file, other in near
        if other.partition(":")[0] == label and not whole
    ]
    file, lines = min(alike, key=lambda pair: len(pair[1]), default=("", []))
    if file and 2 * len(lines) < part.count("\n"):
        shown = [f"-- {line}" for line in lines if not line.startswith("@@")]
        return "\n".join([f"{label}: as in {file}, but for", *shown])
    return part


def hold(method: str, name: str) -> None:
    """Assert that a golden file shows this script."""
    path, text = GOLDEN / method / f"{name}.sql", shorten(method, name)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file {path.name}; write it with UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), "read the difference; if it is meant, UPDATE_GOLDEN=1"


@pytest.mark.parametrize(("method", "name"), [*SAID, *ASPECTS])
def test_the_script_is_the_golden_one(method, name):
    hold(method, name)


@pytest.mark.parametrize(("method", "dialect"), SAID)
def test_scripts_forget_what_they_make(method, dialect):
    made = re.findall(r"^create (?:temporary )?(?:table|view) (\S+)", write(method, dialect), re.MULTILINE)
    rest = re.findall(
        r"^drop (?:table|view) (\S+);", write(method, dialect).partition("-- the rest is")[2], re.MULTILINE
    )
    published = {quote_relation(output.relation, dialect) for output in PLANS[method](dialect).outputs}
    body = {
        quote_relation(statement.relation, dialect)
        for step in PLANS[method](dialect).steps
        if isinstance(step, Loop)
        for statement in step.body
    }
    lasting = [name for name in dict.fromkeys(made) if name not in published | body]
    assert rest == lasting[::-1]


@pytest.mark.parametrize("method", SEVERAL)
def test_several_sensitive_columns_can_be_said_everywhere(method):
    for dialect in ENGINES:
        script = write_script(several(method, dialect), dialect, METHODS[method].paper)
        assert script.count(SEVERAL[method][1])


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "dialect"), SAID)
def test_scripts_can_be_read_back(method, dialect):
    plan = PLANS[method](dialect)
    statements = sqlglot.parse(write_script(plan, dialect, METHODS[method].paper), read=dialect)
    created = [statement for statement in statements if statement is not None and statement.key == "create"]
    assert len(created) > len([step for step in plan.steps if isinstance(step, Statement)])


def test_no_golden_file_is_left_over():
    files = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql")}
    assert files == {f"{method}/{name}.sql" for method, name in [*SAID, *ASPECTS]}
