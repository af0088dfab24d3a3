"""A parameter's value in four spellings: typed on the page, in Python, in a command, and in a job file."""

from collections.abc import Mapping
from typing import Any, cast

from sqlanon.errors import UsageError
from sqlanon.methods.parameters import Parameter


def read_value(parameter: Parameter, text: str) -> Any:
    """Return what was typed as Python takes it, a semicolon between several values; raise UsageError for others."""
    typed, given = parameter.kind.typed, cast(Any, text)
    if typed is bool:
        return text == "yes"
    if typed in (int, float):
        try:
            given = typed(text)
        except ValueError:
            raise UsageError(
                f"{parameter.name} takes a {'whole ' if typed is int else ''}number, not {text!r}"
            ) from None
    elif typed == list[str]:
        given = [part.strip() for part in text.split(";") if part.strip()]
    return parameter.kind.read(parameter.mark, given)


def write_value(value: Any) -> str:
    """Return a value as it would be typed on the page."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:g}"
    return "all" if value is None else "; ".join(_parts(value))


def command_words(option: str, value: Any) -> list[str]:
    """Return a value as words of a command, in one with its option where it would be taken for an option itself."""
    if isinstance(value, bool):
        return [option] if value else []
    texts = _parts("all" if value is None else value)
    return [
        word
        for text in texts
        for word in ([f"{option}={text}"] if text.startswith("-") and option.startswith("--") else [option, text])
    ]


def _parts(value: Any) -> list[str]:
    """Return the texts of a value that may be several: COLUMN=RULE of a mapping, sets of columns with commas."""
    if isinstance(value, Mapping):
        return [f"{column}={rule}" for column, rule in value.items()]
    if isinstance(value, list | tuple):
        return [",".join(part) if isinstance(part, list | tuple) else str(part) for part in value]
    return [str(value)]
