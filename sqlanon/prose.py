"""Write prose from Jinja templates that lie beside the code which fills them, as `forms/qit_st/words.txt.j2` does.

What a template's name ends in says how its lines and values are taken:

    .txt.j2   sentences: a line's end is a space, and nothing beside a tag, so that long ones are wrapped
    .md.j2    Markdown, line by line; a name from outside passes through `code`, other text through `markdown`
    .lines.j2 what a terminal shows, line by line
    .html.j2  HTML: whatever is no template's own text is escaped

Names and values are never parsed as templates. What a terminal would act on is escaped where text is printed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from textwrap import indent
from typing import Any

import jinja2
from markupsafe import Markup

from sqlanon.plain_values import words
from sqlanon.plans.templates import TemplateLoader, ident
from sqlanon.text_tables import write_paragraphs, write_table, write_text
from sqlanon.wording import advice, option

_ROOT = Path(__file__).resolve().parent
_AROUND_TAGS = re.compile(r"(?<=[%#]})[ \t]*\n\s*|\s*\n\s*(?={[%#])")
_LINE_END = re.compile(r"\s*\n\s*")


class _Loader(TemplateLoader):
    """Read templates; of sentences the lines are joined."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its path, and what tells whether it is still that."""
        text, path, is_fresh = super().get_source(environment, template)
        if template.endswith(".txt.j2"):
            text = _LINE_END.sub(" ", _AROUND_TAGS.sub("", text.strip()))
        return text, path, is_fresh


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "words": words,
    "number": lambda value, layout=",": format(value, layout),  # by default with its thousands apart
    "percent": lambda share, digits=1: f"{share:.{digits}%}",
    "length": len,
    "join": lambda texts, between=", ": between.join(texts),
    "capital": lambda text: text[:1].upper() + text[1:],
}


def _markdown(text: str) -> str:
    """Write words that no name can give a meaning of Markdown or HTML."""
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", words(" ".join(text.split())))


def code(name: str) -> str:
    """Write a column's name as code in a cell of a table of Markdown."""
    text = " ".join(name.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def _escape(value: object) -> object:
    """Write a value into HTML as a terminal shows it, escaped; what a template or `write_table` made stays as it is."""
    return value if isinstance(value, Markup | jinja2.Undefined) else Markup(write_text(value))


@cache
def _environment(html: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=_Loader(_ROOT),
        autoescape=html,
        finalize=_escape if html else None,
        undefined=jinja2.StrictUndefined,
        cache_size=-1,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # a block of Markdown's code is indented: no name in it can end it
    block = partial(indent, prefix="    ", predicate=lambda line: True)
    of_text = {"markdown": _markdown, "code": code, "block": block, "ident": ident, "quoted": repr}
    # no filter but these: `safe` and others would pass a value on as HTML
    environment.filters = {**_FILTERS, **({} if html else of_text)}
    environment.globals = {"option": option, "advice": advice}
    if html:
        environment.globals |= {"table": _made_by(write_table), "paragraphs": _made_by(write_paragraphs)}
    return environment


def as_made(html: str) -> Markup:
    """Mark HTML in which everything was escaped when it was made, to stand in a template as it is."""
    return Markup(html)


def _made_by(write: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *arguments: as_made(write(*arguments))


def _template(name: str) -> jinja2.Template:
    return _environment(name.endswith(".html")).get_template(f"{name}.j2")


def write(template: str, values: Mapping[str, object]) -> str:
    """Render one template, such as "releases/companions/readme.md".

    Raises LookupError where a value is missing, and what formatting a value raises.
    """
    try:
        return _template(template).render(values)
    except jinja2.UndefinedError as error:
        raise LookupError(str(error)) from None


def write_parts(templates: Sequence[str], names: Iterable[str], values: Mapping[str, object]) -> dict[str, str]:
    """Call macros by their names, each that of the first template which has it; return their texts.

    What no template has, or what says nothing, is left out. Raises as `write` does.
    """
    try:
        modules = [_template(template).make_module(dict(values)) for template in templates]
        macros = {name: next((getattr(module, name) for module in modules if hasattr(module, name)), None)
                  for name in names}  # fmt: skip
        texts = {name: str(macro()) for name, macro in macros.items() if macro is not None}
    except jinja2.UndefinedError as error:
        raise LookupError(str(error)) from None
    return {name: text for name, text in texts.items() if text}
