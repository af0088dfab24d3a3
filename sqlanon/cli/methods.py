"""Verbs of the publisher: publish and compile, each with a command for every method, made of what it declares."""

from collections.abc import Callable
from typing import Any

import typer

from sqlanon.api.verbs import Dialect, Query, ScriptTable, Source
from sqlanon.cli.console import write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.help_page import Command
from sqlanon.cli.publication import CompilationOptions, PublicationOptions, print_script, publish_release
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.models.fields import Parameter, model_of

# of the script beside those of the methods
_BREACH = (
    "Print a script that tells how likely each secret association is (no database is needed).",
    "patients --view 'SELECT name, age FROM patients' --view 'SELECT age, problem FROM patients'"
    " --secret 'SELECT name, problem FROM patients' --dialect postgres",
)


def command_of_method(verb: str, name: str) -> Any:
    """Return the command of `publish` or `compile` for one method; breach has a script, too."""
    if name == "breach":
        command, (sentence, example) = _compile_breach(), _BREACH
    elif verb == "publish":
        command, sentence, example = _publish(METHODS[name]), METHODS[name].sentence, METHODS[name].example
    else:
        method = METHODS[name]
        command, sentence, example = _compile(method), method.compile_sentence, method.compile_example
    app = typer.Typer(rich_markup_mode=None)
    app.command(name, cls=Command, help=sentence, epilog=f"Example: sqlanon {verb} {name} {example}")(command)
    return typer.main.get_group(app).commands[name]


def _compile_breach() -> Callable[..., None]:
    from sqlanon.api.publishing import breach_script  # it loads every method

    @command_of(breach_script)
    def command(values: Values) -> None:
        write_out(breach_script(**values))

    return command


def _publish(method: Method[Any]) -> Callable[..., None]:
    @command_of({**_declared(source=Source, query=Query), **method.arguments})
    def command(values: Values, session: PublicationOptions) -> None:
        publish_release(method, values, session)

    return command


def _compile(method: Method[Any]) -> Callable[..., None]:
    compiled = {name: argument for name, argument in method.arguments.items() if argument.on.compiled}
    objects: dict[str, Any] = {"place": CompilationOptions} if method.reads_source else {}

    @command_of({**_declared(source=ScriptTable, dialect=Dialect), **compiled}, **objects)
    def command(values: Values, **beside: Any) -> None:
        print_script(method, values, **beside)

    return command


def _declared(**annotations: Any) -> dict[str, Parameter]:
    return dict(model_of("declared", annotations).declared)
