"""Find, check and render `sql_templates/`; every value enters SQL through a quoting filter."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from jinja2.compiler import CodeGenerator
from jinja2.idtracking import VAR_LOAD_RESOLVE
from markupsafe import Markup

from sqlanon.errors import TemplateError
from sqlanon.wording import option

_HEAD = re.compile(r"^-- (?=(?:table|view|check|report|repeat|end)\b)", re.MULTILINE)
_FIELD_OF_PATTERN = re.compile(r"@(?P<relation>(?:\w|\{(?:#|\d*|[a-z]+)\})+)|\{(?P<field>#|\d*|[a-z]+)\}")
_FIELD_OF_MESSAGE = re.compile(r"\{(\w+)(?::([^}]*))?\}")
HEAD_MARK = "\0"  # before the head of a chapter's section: no name and no constant may hold it
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


def relation_mark(name: str) -> Sql:
    """Return what stands for a relation until its quoted name is known."""
    if not re.fullmatch(r"\w+", name):
        raise TemplateError(f"not the name of a relation: {name!r}")
    return Sql(f"\0{name}\0")


def word(text: str) -> Sql:
    """Write a part of a name, or a name of ours with its relation: letters, digits, underscores and points."""
    if not re.fullmatch(r"[\w.]*", text, re.ASCII):
        raise TemplateError(f"not a name of ours: {text!r}")
    return Sql(text)


def _prefixed(names: Iterable[str], alias: str = "") -> list[str]:
    return [f"{alias}.{ident(name)}" if alias else ident(name) for name in names]


def columns(names: Iterable[str], alias: str = "", end: str = "") -> Sql:
    """Write columns with commas between them; `end` stands behind them where there are any."""
    text = ", ".join(_prefixed(names, alias))
    return Sql(text + end if text else "")


def order(names: Iterable[str], alias: str = "", end: str = "") -> Sql:
    """Write columns as sort keys, NULLs last."""
    text = ", ".join(f"{name} asc nulls last" for name in _prefixed(names, alias))
    return Sql(text + end if text else "")


def same(names: Sequence[str], left: str, right: str, end: str = "") -> Sql:
    """Compare columns of two relations, NULL being a value like any other."""
    pairs = zip(_prefixed(names, left), _prefixed(names, right), strict=True)
    text = " and ".join(f"{one} is not distinct from {other}" for one, other in pairs)
    return Sql(text + end if text else "")


def each(items: Iterable[Any], pattern: str, between: str = ", ", end: str = "") -> Sql:
    """Write a pattern of SQL once for each item; `end` stands behind them where there are any.

    `{}` is the item, `{0}`, `{1}` … its parts, `{name}` its member of that name, `{#}` its place, from 1 on: numbers
    and SQL as they are, names quoted. `@value_{#}` is a relation, called by such numbers. No value belongs into a
    pattern: its text may hold braces.
    """

    def written(place: int, item: Any) -> str:
        def field(match: re.Match[str]) -> str:
            if match["relation"]:
                return relation_mark(_FIELD_OF_PATTERN.sub(field, match["relation"]))
            name = match["field"]
            if name.isalpha():
                value = item[name] if isinstance(item, Mapping) else getattr(item, name)
            else:
                value = item if not name else place if name == "#" else item[int(name)]
            return str(value) if isinstance(value, int | Sql) else ident(value)

        return _FIELD_OF_PATTERN.sub(field, str(pattern))

    text = between.join(written(place, item) for place, item in enumerate(items, start=1))
    return Sql(text + end if text else "")


def ending(purpose: str, end: str) -> str:
    """Write what a draw is for behind what its method is: as SQL where that is SQL."""
    return Sql(f"{purpose} || {literal(end)}") if isinstance(purpose, Sql) else purpose + end


@jinja2.pass_context
def message(context: jinja2.runtime.Context, text: str, **fields: object) -> Sql:
    """Write a text with `{fields}` as SQL: words as literals, fields as expressions, formatted as Python's are.

    A field is SQL, or a constant. `{n:,}` groups digits, `{n:.1%}` writes a share; NULL is written as nothing.
    """
    engine, pieces, words, place = context["engine"], [], "", 0
    for match in _FIELD_OF_MESSAGE.finditer(text):
        words += text[place : match.start()]
        place = match.end()
        value, form = fields[match[1]], match[2] or ""
        if not isinstance(value, Markup):
            words += format(value, form)
            continue
        shown = {
            "": lambda sql: f"cast({sql} as varchar)",
            ",": engine.thousands,
            ".1%": lambda sql: engine.percent(sql, 1),
            ".2%": lambda sql: engine.percent(sql, 2),
        }[form](value)
        pieces += [literal(words), Sql(f"coalesce({shown}, '')")]
        words = ""
    if unsaid := set(fields) - {match[1] for match in _FIELD_OF_MESSAGE.finditer(text)}:
        raise TemplateError(f"the message {text!r} does not say {sorted(unsaid)}")
    pieces.append(literal(words + text[place:]))
    return Sql(" || ".join(piece for piece in pieces if piece != "''"))


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
    """Read templates of the project first, then of `FOLDERS`.

    A section that stands by itself is a template too: `chapter/section`, with what its chapter imports.
    """

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its path, and what tells whether it is still that."""
        self.searchpath = [self.searchpath[0], *map(str, FOLDERS)]
        name, suffix, _ = template.partition(".sql.j2")
        chapter, _, section = name.rpartition("/")
        try:
            text, path, is_current = super().get_source(environment, template)
        except jinja2.TemplateNotFound:
            if not chapter or not suffix:
                raise
            text, path, is_current = super().get_source(environment, f"{chapter}{suffix}")
            preface, *sections = _HEAD.split(text)
            chosen = [one for one in sections if one.split(":")[0].endswith(f" {section}")]
            if len(chosen) != 1:
                raise
            text = f"{preface}-- {chosen[0]}"
        return _HEAD.sub(lambda head: HEAD_MARK + head[0], text), path, is_current


class Reading(NamedTuple):
    """What a template reads: names of values and relations; templates, by whether their values are its own."""

    names: list[str]
    included: list[str]
    imported: list[str]


class _Generator(CodeGenerator):
    """Write a template's code, and in it what it reads, so that no template is parsed twice."""

    def visit_Template(self, node: Any, frame: Any = None) -> None:  # noqa: N802 - Jinja's name
        """Begin with nothing read, and end with what was."""
        self._reading: tuple[set[str], set[str], set[str]] = (set(), set(), set())
        super().visit_Template(node, frame)
        self.writeline(f"reading = {[sorted(read) for read in self._reading]!r}")

    def enter_frame(self, frame: Any) -> None:
        """Note the names that are looked up."""
        super().enter_frame(frame)
        loads = frame.symbols.loads.values()
        self._reading[0].update({name for action, name in loads if action == VAR_LOAD_RESOLVE} - {*GLOBALS})

    def visit_Include(self, node: Any, frame: Any) -> None:  # noqa: N802
        """Note what is included."""
        self._reading[1].add(node.template.value)
        super().visit_Include(node, frame)

    def visit_FromImport(self, node: Any, frame: Any) -> None:  # noqa: N802
        """Note what is imported."""
        self._reading[2].add(node.template.value)
        super().visit_FromImport(node, frame)


class _KeptCode(jinja2.FileSystemBytecodeCache):
    """Keep the code of templates as Python keeps that of modules: in `__pycache__`, where that can be written."""

    writer = Path(__file__).read_text(encoding="utf-8")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return what a template's file is called: each has a name of its own."""
        return super().get_cache_key(name)

    def get_source_checksum(self, source: str) -> str:
        """Return what changes with a template, and with what writes its code."""
        return super().get_source_checksum(source + self.writer)

    def dump_bytecode(self, bucket: Any) -> None:
        """Write it, unless that is not allowed."""
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


def reading_of(template: str) -> Reading:
    """Return what a template reads, as its code says it."""
    return Reading(*environment().get_template(template).root_render_func.__globals__["reading"])


GLOBALS = {"option": option, "range": range}


@cache
def environment() -> jinja2.Environment:
    """Return what renders templates: its filters alone let values into SQL."""
    made = jinja2.Environment(
        loader=TemplateLoader(template_root()),
        autoescape=True,  # only with it is the output of a macro marked as safe, and taken by `finalize`
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        cache_size=-1,  # there are more templates than Jinja keeps of itself
        auto_reload=False,
        bytecode_cache=None if sys.dont_write_bytecode else _KeptCode(str(template_root() / "__pycache__")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    # no filter, test or global but these: `join`, `replace` and others would pass on text as safe
    made.filters = {"ident": ident, "literal": literal, "sql": Sql, "relation": relation_mark}
    made.filters |= {
        "columns": columns,
        "order": order,
        "same": same,
        "each": each,
        "message": message,
        "ending": ending,
        "word": word,
    }
    made.tests = {}
    made.globals = dict(GLOBALS)
    made.code_generator_class = _Generator
    return made


def remember(sql: str, place: str) -> None:
    """Remember where a statement was written, for `template_of`."""
    _rendered[hash(sql)] = place
    while len(_rendered) > _REMEMBERED:
        del _rendered[next(iter(_rendered))]


def template_of(sql: str) -> str:
    """Return the template of a statement that was rendered lately, also in `create … as` or `copy`; '' for others."""
    texts = (sql, sql.partition(" as\n")[2], sql.removeprefix("copy (\n").rpartition("\n) to ")[0])
    return next((_rendered[hash(text)] for text in texts if hash(text) in _rendered), "")


def constant_table(
    required: Mapping[str, tuple[str, Sequence[object]]], optional: Mapping[str, Sequence[str | None]]
) -> dict[str, object]:
    """Return a table as chapters write it: required columns with their types, optional texts or NULL."""
    listed = {column: [*map(str, values)] for column, (_, values) in required.items()}
    # one text per column, split in SQL: a list of thousands of literals is slow to parse; NULL travels as an empty text
    texts = {column: [value or "" for value in values] for column, values in optional.items()}
    separator = _free_separator([value for values in (*listed.values(), *texts.values()) for value in values])
    return {
        "separator": separator,
        "required": [(name, separator.join(listed[name]), Sql(sql_type)) for name, (sql_type, _) in required.items()],
        "optional": [(name, separator.join(values)) for name, values in texts.items()],
    }


def _free_separator(values: Sequence[str]) -> str:
    """Return a text that stands in no value: a bar, or a number between bars."""
    whole = "\n".join(values)
    separator, number = " | ", 0
    # without its spaces as well: two values that end and begin with its bars would join to it
    while separator in whole or separator.strip() in whole:
        number += 1
        separator = f" |{number}| "
    return separator
