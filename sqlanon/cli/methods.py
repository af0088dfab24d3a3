"""Verbs of the publisher: publish and compile, each with a command for every method, made of what it declares."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from sqlanon.cli.publication import CompilationOptions, PublicationOptions, ScriptOptions, print_script, publish_release
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.methods.parameters import Parameter
from sqlanon.wording import spoken


def commands_of(verb: str) -> dict[str, Any]:
    """Return the commands of `publish` or `compile`, one for every method."""
    made = typer.Typer(rich_markup_mode=None)
    for method in METHODS.values():
        (_add_publish if verb == "publish" else _add_compile)(made, method)
    return dict(typer.main.get_group(made).commands)


def _add_publish(app: typer.Typer, method: Method[Any]) -> None:
    def command(**given: Any) -> None:
        publish_release(method, given)

    example = f"publish {method.name} {method.example}"
    _add(app, method, command, method.sentence, example, PublicationOptions, method.arguments)


def _add_compile(app: typer.Typer, method: Method[Any]) -> None:
    def command(**given: Any) -> None:
        print_script(method, given)

    declared = {name: known for name, known in method.arguments.items() if known.compiled}
    options = CompilationOptions if method.reads_source else ScriptOptions
    example = f"compile {method.name} {method.compile_example}"
    _add(app, method, command, method.compile_sentence, example, options, declared)


def _add(
    app: typer.Typer,
    method: Method[Any],
    command: Callable[..., None],
    sentence: str,
    example: str,
    options: type,
    declared: Mapping[str, Parameter],
) -> None:
    """Register a command whose signature holds the verb's own options and the method's parameters.

    typer reads a command from its signature: the one made here is all that it sees.
    """
    own = [_option(known) for known in declared.values()]
    shared = [_shared(options, name, hint) for name, hint in get_type_hints(options, include_extras=True).items()]
    # required ones first, as Python's signatures want it; the order is the declaration's otherwise
    arguments = sorted((*own, *shared), key=lambda one: one.default is not inspect.Parameter.empty)
    command.__name__, command.__doc__ = method.name, sentence
    command.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in arguments} | {"return": None}
    app.command(method.name, epilog=f"Example: sqlanon {example}")(command)


def _shared(options: type, name: str, hint: Any) -> inspect.Parameter:
    default = getattr(options, name, inspect.Parameter.empty)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _option(known: Parameter) -> inspect.Parameter:
    typed = known.kind.typed
    annotation = Annotated[typed, typer.Option(known.option, help=spoken(known.help, "command line"))]  # type: ignore[valid-type]
    return inspect.Parameter(known.name, inspect.Parameter.KEYWORD_ONLY, default=_default(known), annotation=annotation)


def _default(known: Parameter) -> Any:
    """Return a parameter's default as the command line writes it."""
    if known.required:
        return inspect.Parameter.empty
    if known.kind.typed in (list[str],) or getattr(known.kind.typed, "__origin__", None) is list:
        return []
    value = known.kind.shown(known.default)
    return None if value in ((), {}) else str(value) if known.kind.typed is str else value
