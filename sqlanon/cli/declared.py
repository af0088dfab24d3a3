"""Options of the command line, made of what a method or a verb's function declares."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, get_type_hints

import typer

from sqlanon.api.verbs import parameters_of
from sqlanon.methods.parameters import REQUIRED, Parameter
from sqlanon.wording import spoken

Values = dict[str, Any]  # what was typed of the parameters that a verb's function declares, by name


def typed_option(parameter: Parameter) -> inspect.Parameter:
    """Return a parameter as typer reads it from a command's signature."""
    default, words = _typed_default(parameter), spoken(parameter.help, "command line")
    information = (
        typer.Argument(metavar=None if parameter.metavar == parameter.name else parameter.metavar, help=words)
        if parameter.metavar
        else typer.Option(*filter(None, (parameter.alias, parameter.option)), help=words)
    )
    python_type = parameter.kind.typed if default is not None else parameter.kind.typed | None
    annotation = Annotated[python_type, information]  # type: ignore[valid-type]
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typed_default(parameter: Parameter) -> Any:
    """Return a parameter's default as the command line writes it."""
    if parameter.required:
        return REQUIRED
    if getattr(parameter.kind.typed, "__origin__", None) is list:
        return []
    value = parameter.kind.shown(parameter.default)
    return None if value in (None, (), {}) else str(value) if parameter.kind.typed is str else value


def read_typed(parameters: Mapping[str, Parameter], typed: Mapping[str, Any]) -> Values:
    """Return what was typed; what was not is left out, so that the function's own default holds."""
    return {name: typed[name] for name, each in parameters.items() if typed[name] != _typed_default(each)}


def options_of(declared: type) -> list[inspect.Parameter]:
    """Return the options of a class whose fields are annotated as typer reads them."""
    hints = get_type_hints(declared, include_extras=True)
    defaults = {name: getattr(declared, name, inspect.Parameter.empty) for name in hints}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hint)
        for name, hint in hints.items()
    ]


def sign(command: Callable[..., None], name: str, words: str | None, options: list[inspect.Parameter]) -> None:
    """Give a command its name, its help and its options: typer reads it from its signature, and sees no more."""
    command.__name__, command.__doc__ = name, words
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in options} | {"return": None}


def command_of(
    function: Callable[..., Any], required: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for everything that the verb's function declares.

    The command gets these as the argument `values`, which hands them over as the function takes them. An argument that
    is a dataclass of options stands for its fields; any other is an option of the command line alone. required: what
    has to be typed, though the function can do without: nothing would be left of its work.
    """
    parameters = {
        name: replace(parameter, default=REQUIRED) if name in required else parameter
        for name, parameter in parameters_of(function).items()
    }

    def typed_command(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        objects: dict[str, type] = {}
        options: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            python_type = hints[own.name]
            if own.name == "values":
                options += map(typed_option, parameters.values())
            elif is_dataclass(python_type) and isinstance(python_type, type):
                objects[own.name] = python_type
                options += options_of(python_type)
            else:
                options.append(own.replace(kind=own.KEYWORD_ONLY, annotation=python_type))

        def typed(**words: Any) -> None:
            values = read_typed(parameters, {name: words.pop(name) for name in parameters})
            instances = {
                name: python_type(**{field.name: words.pop(field.name) for field in fields(python_type)})
                for name, python_type in objects.items()
            }
            command(values=values, **words, **instances)

        sign(typed, command.__name__, command.__doc__, options)
        typed.declared_by = function  # type: ignore[attr-defined]
        return typed

    return typed_command
