"""Options of the command line, made of what a method or a verb's function declares."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, get_type_hints

import typer

from sqlanon.models.fields import REQUIRED, Parameter, parameters_of
from sqlanon.wording import spoken

Values = dict[str, Any]  # what was typed of the parameters that a verb's function declares, by name


def _typed_option(parameter: Parameter) -> inspect.Parameter:
    """Return a parameter as typer reads it from a command's signature."""
    default, words = _typed_default(parameter), spoken(parameter.help, "command line")
    information = (
        typer.Argument(metavar=None if parameter.on.metavar == parameter.name else parameter.on.metavar, help=words)
        if parameter.on.metavar
        else typer.Option(*filter(None, (parameter.on.alias, parameter.option)), help=words)
    )
    python_type = parameter.typed if default is not None else parameter.typed | None
    annotation = Annotated[python_type, information]  # type: ignore[valid-type]
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typed_default(parameter: Parameter) -> Any:
    """Return a parameter's default as the command line writes it."""
    if parameter.required:
        return REQUIRED
    if getattr(parameter.typed, "__origin__", None) is list:
        return []
    value = parameter.shown(parameter.default)
    return None if value in (None, (), {}) else str(value) if parameter.typed is str else value


def read_typed(parameters: Mapping[str, Parameter], typed: Mapping[str, Any]) -> Values:
    """Return what was typed; what was not is left out, so that the function's own default holds."""
    return {name: typed[name] for name, each in parameters.items() if typed[name] != _typed_default(each)}


def command_of(
    declared: Callable[..., Any] | Mapping[str, Parameter], required: Collection[str] = (), **objects: type
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for everything that a verb's function, or a mapping, declares.

    The command gets these as the argument `values`, which hands them over as the function takes them. An argument whose
    type is a dataclass of options stands for its fields, and so do `objects`; any other is an option of the command
    line alone. required: what has to be typed, though the function can do without: nothing would be left of its work.
    """
    parameters = dict(declared if isinstance(declared, Mapping) else parameters_of(declared))
    parameters |= {name: replace(parameters[name], default=REQUIRED) for name in required}

    def typed_command(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        options: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            if own.name == "values":
                options += map(_typed_option, parameters.values())
            elif is_dataclass(hints[own.name]):
                objects[own.name] = hints[own.name]
            elif own.kind is not own.VAR_KEYWORD:
                options.append(own.replace(kind=own.KEYWORD_ONLY, annotation=hints[own.name]))
        for python_type in objects.values():
            annotated = get_type_hints(python_type, include_extras=True)
            options += [
                inspect.Parameter(
                    each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=annotated[each.name]
                )
                for each in fields(python_type)
            ]

        def typed(**words: Any) -> None:
            values = read_typed(parameters, {name: words.pop(name) for name in parameters})
            instances = {
                name: python_type(**{each.name: words.pop(each.name) for each in fields(python_type)})
                for name, python_type in objects.items()
            }
            command(values=values, **words, **instances)

        # typer reads a command from its signature, and sees no more
        typed.__name__, typed.__doc__ = command.__name__, command.__doc__
        typed.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        typed.__annotations__ = {option.name: option.annotation for option in options} | {"return": None}
        return typed

    return typed_command
