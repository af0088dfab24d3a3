"""A verb with all that it is told, from which the page's own run and the command to type are made."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import sqlanon
from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.models.fields import Parameter, parameters_of, texts_of


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


KEY = "SQLANON_KEY"  # the variable that holds the key, which no text shows


@dataclass(frozen=True)
class Call:
    """A call of a verb, over a source or over a release.

    options: as Python takes them, the source among them. release: the directory of the release that is asked; database:
    the file that the source is a table of. method: what `publish` publishes with.
    """

    verb: str
    options: Mapping[str, Any]
    release: str = ""
    database: str = ""
    method: str = ""

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Return what the verb's function declares."""
        return METHODS[self.method].arguments if self.method else parameters_of(getattr(sqlanon, self.verb))

    def run(self, engine: Engine, **beside: Any) -> Any:
        """Run it in a session; beside: options that no text shows."""
        given = {**self.options, **beside}
        if self.release:
            return getattr(sqlanon.open(self.release, con=engine), self.verb)(**given)
        if self.method and KEY in os.environ:
            given["key"] = Key.of(os.environ[KEY])
        return getattr(sqlanon, self.method or self.verb)(engine, **given)

    @property
    def command(self) -> str:
        """Return what to type in a shell."""
        words = ["sqlanon", self.verb, *filter(None, (self.method, self.release))]
        for name, value in self.options.items():
            if name in ("source", "query"):  # a path that begins with a hyphen would be taken for an option
                words.append(f"./{value}" if value.startswith("-") else value)
            else:
                words += self.parameters[name].words_of(value)
        return shlex.join([*words, *(["--database", self.database] if self.database else [])])
