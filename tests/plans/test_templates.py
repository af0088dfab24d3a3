"""What every template keeps to: a header, declared names, one SELECT, and no value that enters bare."""

import re
from decimal import Decimal
from types import SimpleNamespace

import jinja2
import jinja2.meta
import pytest
import sqlglot
from jinja2 import nodes

from sqlanon.errors import TemplateError
from sqlanon.plans import templates
from sqlanon.plans.templates import (
    Sql,
    ident,
    literal,
    render,
    template_header,
    template_names,
    template_root,
    template_variables,
)
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import connect
from tests.facts import each
from tests.other_templates import read_templates_of

NAMES = template_names()
MACROS = sorted(path.relative_to(template_root()).as_posix() for path in template_root().glob("_macros/*.j2"))
FILES = [f"{name}.sql.j2" for name in NAMES] + MACROS


def parsed(file: str) -> nodes.Template:
    return templates._environment().parse((template_root() / file).read_text(encoding="utf-8"))


RELATION, SQL, NAME, CONSTANT = Sql('"relation"'), Sql('"a"'), 'b "c"', 3
WANTED = {"ident": NAME, "literal": CONSTANT}


def dummies(name: str) -> dict[str, object]:
    """Return values of the shapes that the template's text asks for: SQL, names, constants, lists of them."""
    tree, head = parsed(f"{name}.sql.j2"), template_header(name)
    found: dict[str, object] = {"limit": [CONSTANT]}  # at most one
    loops = [*tree.find_all(nodes.For), *loops_of_macros(tree)]
    for listed in {loop.iter.name for loop in loops if isinstance(loop.iter, nodes.Name)}:
        turns = [loop for loop in loops if isinstance(loop.iter, nodes.Name) and loop.iter.name == listed]
        element = dummy_element(turns, calls(tree))
        found.setdefault(listed, [SQL if element is None else element] * 2)
    for use in tree.find_all(nodes.Filter):
        if isinstance(use.node, nodes.Name):
            found.setdefault(use.node.name, WANTED[use.name])
    found = {name: value for name, value in found.items() if name in head.parameters}
    for macro, given in calls(tree):
        for parameter, argument in given.items():
            if isinstance(argument, nodes.Name) and argument.name in head.parameters:
                filtered = {use.node.name for use in macro.find_all(nodes.Filter) if isinstance(use.node, nodes.Name)}
                found.setdefault(argument.name, "some/purpose/" if parameter in filtered else SQL)
    values = {parameter: found.get(parameter, SQL) for parameter in head.parameters}
    return values | dict.fromkeys(head.inputs, RELATION)


Calls = list[tuple[nodes.Macro, dict[str, nodes.Node]]]


def calls(tree: nodes.Template) -> Calls:
    """Return the macros that a template calls, each with what its parameters are called with."""
    files = {name: source.template.value for source in tree.find_all(nodes.FromImport) for name in source.names}
    found = []
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in files:
            macros = parsed(files[call.node.name]).find_all(nodes.Macro)
            (macro,) = (one for one in macros if one.name == call.node.name)
            found.append((macro, {one.name: value for one, value in zip(macro.args, call.args, strict=False)}))
    return found


def loops_of_macros(tree: nodes.Template) -> list[nodes.For]:
    """Return the loops of called macros over a list of the template, under its name there."""
    found = []
    for macro, given in calls(tree):
        for loop in macro.find_all(nodes.For):
            passed = given.get(loop.iter.name) if isinstance(loop.iter, nodes.Name) else None
            if isinstance(passed, nodes.Name):
                loop.iter = passed
                found.append(loop)
    return found


def dummy_element(loops: list[nodes.For], called: Calls) -> object:
    """Return what one turn of the loops over a list takes: None where no turn looks at it.

    called: the macros that the template calls, which may look at it, too.
    """
    targets = [loop.target.items if isinstance(loop.target, nodes.Tuple) else [loop.target] for loop in loops]
    uses = [
        [dummy_use(loop, called, target.name) for target in names] for loop, names in zip(loops, targets, strict=True)
    ]
    elements = tuple(merge_uses(places) for places in zip(*uses, strict=True))
    if len(elements) == 1:
        return elements[0]
    return tuple(SQL if element is None else element for element in elements)


def merge_uses(uses: tuple[object, ...]) -> object:
    """Return what all loops over a list can take: the first that is looked at, or all fields that any of them reads."""
    fields = [use for use in uses if isinstance(use, SimpleNamespace)]
    if fields:
        return SimpleNamespace(**{name: value for use in fields for name, value in vars(use).items()})
    return next((use for use in uses if use is not None), None)


def dummy_use(loop: nodes.For, called: Calls, target: str) -> object:
    fields = {node.attr for node in loop.find_all(nodes.Getattr) if is_read(node.node, target)}
    if fields:
        return SimpleNamespace(**{name: dummy_value(loop, called, target, name) or SQL for name in fields})
    return dummy_value(loop, called, target)


def dummy_value(loop: nodes.For, called: Calls, target: str, field: str = "") -> object:
    """Return what a loop takes for its target, or for a field of it: None where it does not look at it."""
    inner = [turn for turn in loop.find_all(nodes.For) if is_read(turn.iter, target, field)]
    if inner:
        return [dummy_element(inner, called) or 1] * 2
    for use in loop.find_all(nodes.Filter):
        if is_read(use.node, target, field):
            return WANTED[use.name]
    for macro, given in called:
        for use in macro.find_all(nodes.Filter) if field else ():
            if isinstance(use.node, nodes.Name) and is_read(given.get(use.node.name), target, field):
                return WANTED[use.name]
    written = [child for output in loop.find_all(nodes.Output) for child in output.nodes]
    return SQL if any(is_read(child, target, field) for child in written) else None


def is_read(node: nodes.Node, target: str, field: str = "") -> bool:
    if field:
        return isinstance(node, nodes.Getattr) and node.attr == field and is_read(node.node, target)
    return isinstance(node, nodes.Name) and node.name == target


@each(NAMES)
def test_has_a_header(name):
    head = template_header(name)
    assert head.sentence.endswith((".", "?", ".)")) and head.sentence[0].isupper()
    assert head.output
    text = (template_root() / f"{name}.sql.j2").read_text(encoding="utf-8")
    for field in ("inputs", "parameters", "output"):
        assert len(re.findall(rf"^ *{field}:", text, re.MULTILINE)) == 1


@pytest.mark.thorough
@each(NAMES)
def test_declares_exactly_what_it_reads(name):
    head = template_header(name)
    declared = head.inputs + head.parameters
    assert len(declared) == len(set(declared))
    imported = {
        alias if isinstance(alias, str) else alias[1]
        for node in parsed(f"{name}.sql.j2").find_all(nodes.FromImport)
        for alias in node.names
    }
    assert template_variables(name) - imported == set(declared)


@pytest.mark.thorough
@each(NAMES)
def test_is_exactly_one_select(name):
    sql = render(name, **dummies(name))
    (tree,) = sqlglot.parse(sql, read="duckdb")
    assert tree.key == "select"
    words = re.sub(r"'[^']*'", "''", sql)  # messages may say what to drop
    assert not re.search(r"\b(create|insert|update|delete|drop|alter|copy|attach|install|pragma)\s+\w", words)


@pytest.mark.thorough
@each(NAMES)
def test_renders_with_an_empty_list(name):
    values = dummies(name)
    lists = [key for key, value in values.items() if isinstance(value, list)]
    for key in lists:
        sql = render(name, **(values | {key: []}))
        assert "{{" not in sql and "{%" not in sql


@each(FILES)
def test_has_no_semicolon(file):
    text = (template_root() / file).read_text(encoding="utf-8")
    assert ";" not in re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)


ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Filter, nodes.For, nodes.If,
    nodes.Getattr, nodes.Not, nodes.Const, nodes.FromImport, nodes.Call, nodes.Macro, nodes.AssignBlock,
    nodes.Tuple,
)  # fmt: skip
ARITHMETIC = (nodes.Add, nodes.Sub, nodes.Mul)


PLACES = (("loop", "first"), ("loop", "last"))


@each(FILES)
def test_jinja_only_loops_and_asks_whether_a_list_is_empty(file):
    tree = parsed(file)
    for node in tree.find_all(nodes.Node):
        if isinstance(node, ARITHMETIC) and file.startswith("_macros/"):
            continue  # the position of a draw in its hash
        assert isinstance(node, ALLOWED), f"{type(node).__name__} in line {node.lineno}"
    for branch in tree.find_all(nodes.If):
        test = branch.test.node if isinstance(branch.test, nodes.Not) else branch.test
        is_field = isinstance(test, nodes.Getattr) and isinstance(test.node, nodes.Name)
        is_allowed = is_field and (test.node.name != "loop" or ("loop", test.attr) in PLACES)
        assert is_allowed or isinstance(test, nodes.Name), f"a condition in line {branch.lineno}"
        assert not branch.elif_, f"a variant in line {branch.lineno}: write another template"


@each(FILES)
def test_filters_quote_and_constants_alone_are_sql(file):
    for node in parsed(file).find_all(nodes.Filter):
        assert node.name in ("ident", "literal", "sql"), f"{node.name} in line {node.lineno}"
        if node.name == "sql":
            assert isinstance(node.node, nodes.Const), f"a value taken for SQL in line {node.lineno}"


@each(FILES)
def test_reads_like_the_others(file):
    text = (template_root() / file).read_text(encoding="utf-8")
    assert "\t" not in text and not re.search(r" +$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 75
    sql = re.sub(r"\{[#{%].*?[#}%]\}", "", text, flags=re.DOTALL)
    sql = re.sub(r"'[^']*'|\"[^\"]*\"", "", sql)
    assert sql == sql.lower(), "SQL stands in lower case"


# -- rendering --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Put templates of the test's own in the place of the project's."""
    read_templates_of(tmp_path, monkeypatch)
    return tmp_path


HEAD = "{# A test.\n   inputs: source\n   parameters: value\n   output: one #}\n"


def test_a_value_without_a_filter_is_refused(folder):
    (folder / "bare.sql.j2").write_text(HEAD + "select {{ value }} as one from {{ source }}")
    for value in ("1; drop table t", 1, None, ["a"]):
        with pytest.raises(TemplateError, match="entered SQL without a quoting filter"):
            render("bare", value=value, source=Sql("t"))
    assert render("bare", value=Sql("2"), source=Sql("t")) == "select 2 as one from t"


def test_a_relation_without_quotes_is_refused(folder):
    (folder / "bare.sql.j2").write_text(HEAD + "select {{ value | literal }} as one from {{ source }}")
    with pytest.raises(TemplateError, match="without a quoting filter"):
        render("bare", value=1, source="patients")


def test_what_is_missing_in_a_template_is_an_error(folder):
    (folder / "typo.sql.j2").write_text(HEAD + "select {{ valeu | literal }} as one from {{ source }}")
    with pytest.raises((TemplateError, jinja2.UndefinedError), match=r"valeu|Undefined"):
        render("typo", value=1, source=Sql("t"))


def test_filters_that_glue_are_not_there(folder):
    for glued in ("[value] | join", "value | upper", "value | replace('a', 'b')", "value | safe"):
        (folder / "glue.sql.j2").write_text(HEAD + "select {{ " + glued + " }} as one from {{ source }}")
        templates._environment.cache_clear()
        with pytest.raises(jinja2.TemplateAssertionError, match="No filter"):
            render("glue", value="a", source=Sql("t"))


def test_missing_and_unused_values_are_errors():
    name = "methods/splu/next_population"
    with pytest.raises(TemplateError, match=r"missing \['randomized'\], unused \['radnomized'\]"):
        render(name, radnomized=Sql("t"))
    with pytest.raises(TemplateError, match=r"missing \[\], unused \['extra'\]"):
        render(name, randomized=Sql("t"), extra=1)
    with pytest.raises(TemplateError, match="no template grouping/nothing"):
        render("grouping/nothing")


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_names_survive_quoting(name):
    con = connect()
    con.execute(f"create table {ident(name)} as select 1 as {ident(name)}")
    assert con.execute(f"select t.{ident(name)} from {ident(name)} as t").description[0][0] == name


CONSTANTS = [*NASTY_NAMES, *NASTY_VALUES, "\\'", "'||'", "$$", 0, -7, 2**62, True, None, 0.1]


@pytest.mark.parametrize("value", CONSTANTS)
def test_values_survive_quoting(value):
    found = connect().execute(f"select {literal(value)} as v").fetchone()[0]
    assert found == value and type(found) is type(value)


def test_decimals_survive_quoting():
    value = Decimal("1.50")
    assert connect().execute(f"select {literal(value)} as v").fetchone()[0] == value


@pytest.mark.parametrize("value", ["a\0b", b"bytes", ["list"], object(), {"a": 1}])
def test_values_that_sql_cannot_hold_are_refused(value):
    with pytest.raises(TemplateError, match="not a constant that SQL can hold"):
        literal(value)


@pytest.mark.parametrize("name", ["", "a\0b", None, 3, ["a"]])
def test_names_that_sql_cannot_hold_are_refused(name):
    with pytest.raises(TemplateError, match="not an identifier"):
        ident(name)
