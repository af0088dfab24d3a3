"""Every ORDER BY of ours says its direction and where NULLs go: a caller's settings, and engines, differ."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import sqlanon
from sqlanon.plans.templates import template_root
from tests.facts import each

TEMPLATES = sorted(path.relative_to(template_root()).as_posix() for path in template_root().rglob("*.j2"))
PACKAGE = Path(sqlanon.__file__).parent
_EXPLICIT = re.compile(r"\b(asc|desc)\s+nulls\s+(first|last)\Z", re.IGNORECASE)
_TOKEN = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|'(?:[^']|'')*'|--[^\n]*|\border\s+by\b|\w+|\s+|.", re.DOTALL | re.IGNORECASE
)
_FILTERED = re.compile(r"(\{\{ .* \| (each\(\".* asc nulls last\".*\)|order(\(.*\))?) \}\}\s*)+")
_ENDS = {"rows", "range", "limit", "union", "with", "select"}
# terms that are put together elsewhere, where both are said, as the filter does
_MADE = {
    "{{ term }}": "sqlanon/sql/query_reader.py, of a recipient's own ORDER BY",
}


def terms(text: str) -> Iterator[str]:
    """Yield the terms of every ORDER BY: of queries, windows and aggregates."""
    tokens = [match.group() for match in _TOKEN.finditer(text)]
    for place, token in enumerate(tokens):
        if re.fullmatch(r"order\s+by", token, re.IGNORECASE):
            yield from _terms_behind(tokens[place + 1 :])


def _terms_behind(tokens: list[str]) -> Iterator[str]:
    depth, cases, term = 0, 0, ""
    for token in tokens:
        word = token.lower()
        cases += (word == "case") - (word == "end")
        outside = not depth and not cases
        if outside and (word in _ENDS or word == ")"):
            break
        depth += (word == "(") - (word == ")")
        if outside and word == ",":
            yield term.strip()
            term = ""
        elif not token.startswith(("{%", "{#", "--")):
            term += token
    if term.strip():
        yield term.strip()


@each(TEMPLATES)
def test_every_order_says_its_direction_and_where_nulls_go(template):
    text = (template_root() / template).read_text(encoding="utf-8")
    said = [term for term in terms(text) if not _EXPLICIT.search(term) and not _FILTERED.fullmatch(term)]
    assert [term for term in said if term not in _MADE] == []
    # these sort by the connection's settings, too, unless they are told
    assert re.findall(r"\b(?:list|array)_(?:reverse_)?sort\((?![^\n]*'asc', 'nulls last'\))[^\n]*", text) == []
    assert not re.search(r"grade_up", text)


def _texts(module: Path) -> Iterator[str]:
    """Yield the texts of a module that a database may run, f-strings with their fields as `field`."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    shown = {id(node.body[0].value) for node in ast.walk(tree) if _has_docstring(node)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{field}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown | inner:
            yield node.value


def _has_docstring(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return isinstance(node, kinds) and bool(node.body) and isinstance(node.body[0], ast.Expr)


@each(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if "postgres" not in path.parts)
def test_so_does_every_order_in_python(module):
    # what is in capitals is a recipient's question, or another engine's own text
    if "order by " not in (PACKAGE / module).read_text(encoding="utf-8"):
        return
    for text in _texts(PACKAGE / module):
        if "order by " in text and "select" in text:
            found = [term for term in terms(text) if not _EXPLICIT.search(term) and term != "{field}"]
            assert found == [], text
