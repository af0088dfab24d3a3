"""Find, check and render `sql_templates/`; every value enters SQL through a quoting filter."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import jinja2
import jinja2.meta
from markupsafe import Markup

from sqlanon.errors import TemplateError

_HEADER = re.compile(r"\A\{#(?P<body>.*?)#\}", re.DOTALL)
_FIELD = re.compile(r"^[ \t]*(?P<key>inputs|parameters|output):[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
_REMEMBERED = 4096
FOLDERS: list[Path] = []  # of whoever adds methods and forms to the project's: more templates, of SQL and of words
_rendered: dict[int, str] = {}  # hash of a statement -> its template, of the last ones


class Sql(Markup):
    """SQL text that is safe to stand in a statement as it is: a quoted name, a literal, a relation."""


def ident(name: str) -> Sql:
    """Quote one identifier: doubled quotes, no NUL (which no engine can hold)."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise TemplateError(f"not an identifier: {name!r}")
    return Sql('"' + name.replace('"', '""') + '"')


def literal(value: object) -> Sql:
    """Write one constant: text, integer, decimal, boolean or NULL; SQL stands for a constant as it is."""
    if isinstance(value, Sql):
        return value
    if value is None:
        return Sql("null")
    if isinstance(value, bool):  # before int, of which it is a kind
        return Sql("true" if value else "false")
    if isinstance(value, int | Decimal):
        return Sql(str(value))
    if isinstance(value, float):
        # bare digits would be a decimal; infinity and NaN have no bare form at all
        return Sql(f"cast('{value!r}' as double)")
    if isinstance(value, str) and "\0" not in value:
        return Sql("'" + value.replace("'", "''") + "'")
    raise TemplateError(f"not a constant that SQL can hold: {type(value).__name__}")


def _finalize(value: object) -> object:
    # an undefined value goes on to StrictUndefined, whose error names it
    if isinstance(value, Markup | jinja2.Undefined):
        return value
    raise TemplateError(f"a value entered SQL without a quoting filter: {value!r}")


def template_root() -> Path:
    """Return the folder of templates: inside the installed package, else beside it in a checkout."""
    here = Path(__file__).resolve().parent.parent
    for folder in (here / "sql_templates", here.parent / "sql_templates"):
        if folder.is_dir():
            return folder
    raise TemplateError("the folder sql_templates is missing from this installation")


class TemplateLoader(jinja2.FileSystemLoader):
    """Read templates of the project first, then of `FOLDERS`."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its path, and what tells whether it is still that."""
        self.searchpath = [self.searchpath[0], *map(str, FOLDERS)]
        return super().get_source(environment, template)


def _find(template: str) -> Path:
    """Return the path of a template."""
    paths = (folder / f"{template}.sql.j2" for folder in (template_root(), *FOLDERS))
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise TemplateError(f"no template {template}")
    return path


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=TemplateLoader(template_root()),
        autoescape=True,  # only with it is the output of a macro marked as safe, and taken by `finalize`
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        cache_size=-1,  # there are more templates than Jinja keeps of itself
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    # no filter, test or global but these: `join`, `replace` and others would pass on text as safe
    environment.filters = {"ident": ident, "literal": literal, "sql": Sql}
    environment.tests = {}
    environment.globals = {}
    return environment


@dataclass(frozen=True)
class Header:
    """A template's own words: what it is, the relations it reads, its parameters, its columns."""

    sentence: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    output: tuple[str, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@cache
def template_header(template: str) -> Header:
    """Read the header of `template` (a path without `.sql.j2`)."""
    match = _HEADER.match(_find(template).read_text(encoding="utf-8"))
    if match is None:
        raise TemplateError(f"template {template} has no header")
    body = match["body"]
    fields = {field["key"]: _names(field["value"]) for field in _FIELD.finditer(body)}
    sentence = body[: body.index("inputs:")].strip() if "inputs:" in body else body.strip()
    return Header(
        " ".join(sentence.split()),
        fields.get("inputs", ()),
        fields.get("parameters", ()),
        fields.get("output", ()),
    )


def template_variables(template: str) -> set[str]:
    """Return the names that `template` reads, as Jinja sees them."""
    environment = _environment()
    text = _find(template).read_text(encoding="utf-8")
    return jinja2.meta.find_undeclared_variables(environment.parse(text))


def template_names() -> list[str]:
    """List every template that renders to a statement (macros left out)."""
    root = template_root()
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*.sql.j2"))
    return sorted(path.removesuffix(".sql.j2") for path in paths if not path.startswith("_macros/"))


def _check_values(template: str, values: Iterable[str], declared: Sequence[str]) -> None:
    # a value that is given and not used is a template that forgot a condition
    names = set(values)
    if names != set(declared):
        missing, unused = set(declared) - names, names - set(declared)
        raise TemplateError(f"template {template}: missing {sorted(missing)}, unused {sorted(unused)}")


def render(template: str, **values: object) -> str:
    """Render `template` to one SELECT; a missing or an unused value is an error."""
    declared = template_header(template)
    _check_values(template, values, declared.inputs + declared.parameters)
    text = str(_environment().get_template(f"{template}.sql.j2").render(**values)).strip()
    _rendered[hash(text)] = template
    while len(_rendered) > _REMEMBERED:
        del _rendered[next(iter(_rendered))]
    return text


def template_of(sql: str) -> str:
    """Return the template of a statement that was rendered lately, also in `create … as` or `copy`; '' for others."""
    texts = (sql, sql.partition(" as\n")[2], sql.removeprefix("copy (\n").rpartition("\n) to ")[0])
    return next((_rendered[hash(text)] for text in texts if hash(text) in _rendered), "")


def first_sentence(template: str) -> str:
    """Return the first sentence of a template's header, without its full stop; nothing for no template."""
    sentence = template_header(template).sentence if template else ""
    return sentence.partition(". ")[0].removesuffix(".")
