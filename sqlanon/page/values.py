"""A parameter's value in four spellings: typed on the page, in Python, in a command, and in a job file."""

from collections.abc import Mapping
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods.name_types import ColumnSets, RuleByColumn, TableByColumn, Tables, WholePerColumn
from sqlanon.methods.parameter_types import Block, Choice, Number, Share, Switch, Whole
from sqlanon.methods.parameters import Parameter


def read_value(parameter: Parameter, text: str) -> Any:
    """Return what was typed as Python takes it; raise UsageError for what is not of the parameter's type."""
    parameter_type, name = parameter.type, parameter.name
    if isinstance(parameter_type, Switch):
        return text == "yes"
    if isinstance(parameter_type, Whole | Number) and not isinstance(parameter_type, Share):
        whole = isinstance(parameter_type, Whole)
        try:
            return parameter_type.check(name, int(text) if whole else float(text))
        except ValueError:
            raise UsageError(f"{name} takes a {'whole ' if whole else ''}number, not {text!r}") from None
    if isinstance(parameter_type, Choice):
        return parameter_type.check(name, text)
    if isinstance(parameter_type, Tables):
        return [part.strip() for part in text.split(";") if part.strip()]
    if isinstance(parameter_type, ColumnSets):
        return [[part.strip() for part in columns.split(",")] for columns in text.split(";")]
    if isinstance(parameter_type, TableByColumn):
        pairs = [part.partition("=") for part in text.split(";") if part.strip()]
        if not all(column.strip() and path.strip() for column, _, path in pairs):
            raise UsageError(f"{name} takes COLUMN=FILE, a semicolon between two; not {text!r}")
        return {column.strip(): path.strip() for column, _, path in pairs}
    if isinstance(parameter_type, WholePerColumn | RuleByColumn):
        return parameter_type.read(name, [text])
    # what else is typed as a text is one in Python, too
    return parameter_type.read(name, text) if isinstance(parameter_type, Share | Block) else text


def write_value(value: Any) -> str:
    """Return a value as it would be typed on the page."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, Mapping):
        return ", ".join(f"{column}={rule}" for column, rule in value.items())
    if isinstance(value, list | tuple):
        nested = any(isinstance(part, list | tuple) for part in value)
        return "; ".join(map(write_value, value)) if nested else ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else "all" if value is None else str(value)


def command_words(parameter: Parameter, value: Any) -> list[str]:
    """Return a value as words of a command; a word that begins with a hyphen would be taken for an option."""
    option = parameter.option
    if isinstance(value, bool):
        return [option] if value else []
    if isinstance(value, Mapping):
        return [word for column, rule in value.items() for word in option_words(option, f"{column}={rule}")]
    if isinstance(value, list | tuple):
        parts = [",".join(part) if isinstance(part, list | tuple) else str(part) for part in value]
        return [word for part in parts for word in option_words(option, part)]
    return option_words(option, "all" if value is None else str(value))


def option_words(option: str, text: str) -> list[str]:
    """Return an option with its value, in one word where the value would be taken for an option."""
    return [f"{option}={text}"] if text.startswith("-") and option.startswith("--") else [option, text]


def job_value(value: Any) -> Any:
    """Return a value as a job file has it: mappings and lists of texts and numbers."""
    if isinstance(value, Mapping):
        return {column: job_value(part) for column, part in value.items()}
    if isinstance(value, list | tuple):
        return [job_value(part) for part in value]
    return "all" if value is None else value
