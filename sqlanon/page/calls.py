"""A verb with all that it is told, from which the page's own run, the command, the Python and the job file are made."""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlanon
from sqlanon.engines.base import Engine
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.parameters import Parameter, parameters_of
from sqlanon.page.values import command_words
from sqlanon.publishing.thresholds import split_threshold

KEY = "SQLANON_KEY"  # the variable that holds the key, which no text shows
LONGEST = 90  # letters of a call on one line
_ALONE = ("source", "query", "out")  # arguments that Python takes without their names


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
                words += command_words(self.parameters[name].option, value)
        return shlex.join([*words, *(command_words("--database", self.database) if self.database else [])])

    @property
    def python(self) -> str:
        """Return the lines of Python that do the same."""
        keyed = bool(self.method) and KEY in os.environ
        where = f"{self.database!r}, read_only=True" if self.database else ""
        lines = [f"import {'os, ' if keyed else ''}duckdb, sqlanon", "", f"con = duckdb.connect({where})"]
        parts = [repr(value) if name in _ALONE and not self.method else f"{name}={value!r}"
                 for name, value in self.options.items()]  # fmt: skip
        if self.release:
            lines.append(f"release = sqlanon.open({self.release!r}, con=con)")
        else:
            parts = ["con", *parts, *([f"key=os.environ[{KEY!r}]"] if keyed else [])]
        verb = f"release.{self.verb}" if self.release else f"sqlanon.{self.method or self.verb}"
        called = f"{verb}({', '.join(parts)})"
        if len(called) > LONGEST:
            called = f"{verb}(\n" + "".join(f"    {part},\n" for part in parts) + ")"
        return "\n".join([*lines, f"release = {called}" if self.method else f"print({called})"])

    @property
    def job(self) -> str:
        """Return the job file of a publication; '' of any other verb."""
        if not self.method:
            return ""
        options = dict(self.options)
        source, out = options.pop("source"), options.pop("out")
        roles = {name: options.pop(name) for name in ("quasi", "sensitive", "id") if name in options}
        target = {"out": out} | ({"overwrite": True} if options.pop("overwrite", False) else {})
        require = dict(map(split_threshold, options.pop("require", ())))
        job = {
            "method": self.method,
            "source": {"database": self.database, "table": source} if self.database else source,
            "roles": roles,
            "parameters": {name: "all" if value is None else value for name, value in options.items()},
            "output": target,
            **({"require": require} if require else {}),
            **({"key_env": KEY} if KEY in os.environ else {}),
        }
        return "\n".join(_lines(job))

    @property
    def copies(self) -> dict[str, str]:
        """Return the texts that do the same elsewhere, by what they are."""
        texts = {"Command": self.command, "Python": self.python, "Job file": self.job}
        return {what: text for what, text in texts.items() if text}


def _lines(mapping: Mapping[str, Any], indent: str = "") -> list[str]:
    lines = []
    for name, value in mapping.items():
        key = name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
        if isinstance(value, Mapping) and value:
            lines += [f"{indent}{key}:", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}")
    return lines
