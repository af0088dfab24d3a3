"""What every template keeps to: no value enters bare, and what is missing is an error."""

import re
from decimal import Decimal

import pytest
from jinja2 import nodes

from sqlanon.errors import TemplateError
from sqlanon.plans import templates
from sqlanon.plans.templates import (
    Sql,
    ident,
    literal,
    template_root,
)
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import connect
from tests.facts import each

FILES = sorted(path.relative_to(template_root()).as_posix() for path in template_root().rglob("*.j2"))


def parsed(file: str) -> nodes.Template:
    return templates.environment().parse((template_root() / file).read_text(encoding="utf-8"))


@each(FILES)
def test_has_no_semicolon(file):
    text = (template_root() / file).read_text(encoding="utf-8")
    # a refusal's words may hold one
    assert ";" not in re.sub(r"\{#.*?#\}|--[^\n]*|\"[^\"]*\"|'[^']*'", "", text, flags=re.DOTALL)


@each(FILES)
def test_filters_quote_and_constants_alone_are_sql(file):
    for node in parsed(file).find_all(nodes.Filter):
        quoting = ("ident", "literal", "sql", "columns", "order", "same", "each", "relation", "message", "ending")
        assert node.name in (*quoting, "word"), f"{node.name} in line {node.lineno}"
        if node.name == "each":
            assert isinstance(node.args[0], nodes.Const | nodes.Concat), f"a value taken for a pattern in {node.lineno}"
        if node.name == "sql" and file != "breach/worlds.sql.j2":  # whose names stand in lists of its own
            choices = [node.node.expr1, node.node.expr2] if isinstance(node.node, nodes.CondExpr) else [node.node]
            assert all(isinstance(one, nodes.Const) for one in choices), f"a value taken for SQL in line {node.lineno}"


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_names_survive_quoting(name):
    con = connect()
    con.execute(f"create table {ident(name)} as select 1 as {ident(name)}")
    assert con.execute(f"select t.{ident(name)} from {ident(name)} as t").description[0][0] == name
    several = templates.each([name, "b"], "t.{} as {}", end=",")
    assert several == f't.{ident(name)} as {ident(name)}, t."b" as "b",'
    pairs = [(name, Sql("a + 1"), 3), ("b", Sql("'{0}'"), 4)]
    assert templates.each(pairs, "{1} as {0}_{2}_{#}") == f"""a + 1 as {ident(name)}_3_1, '{{0}}' as "b"_4_2"""
    assert templates.each([{"shown": name}], "@value_{#} as {shown}") == f"\0value_1\0 as {ident(name)}"
    with pytest.raises(TemplateError, match="not the name of a relation"):
        templates.each([name], "@value_{}")


CONSTANTS = [*NASTY_NAMES, *NASTY_VALUES, "\\'", "'||'", "$$", 0, -7, 2**62, True, None, 0.1, Decimal("1.50")]


@pytest.mark.parametrize("value", CONSTANTS)
def test_values_survive_quoting(value):
    found = connect().execute(f"select {literal(value)} as v").fetchone()[0]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("value", ["a\0b", b"bytes", ["list"], object(), {"a": 1}])
def test_values_that_sql_cannot_hold_are_refused(value):
    with pytest.raises(TemplateError, match="not a constant that SQL can hold"):
        literal(value)


@pytest.mark.parametrize("name", ["", "a\0b", None, 3, ["a"]])
def test_names_that_sql_cannot_hold_are_refused(name):
    with pytest.raises(TemplateError, match="not an identifier"):
        ident(name)
