"""A parameter's value as it is typed on the page, and as Python takes it."""

from typing import Any, cast

from sqlanon.errors import UsageError
from sqlanon.models.fields import Parameter, texts_of


def read_value(parameter: Parameter, text: str) -> Any:
    """Return what was typed as Python takes it, a semicolon between several values; raise UsageError for others."""
    typed, given = parameter.typed, cast(Any, text)
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
    return parameter.read(given)


def write_value(value: Any) -> str:
    """Return a value as it would be typed on the page."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:g}"
    return "all" if value is None else "; ".join(texts_of(value))
