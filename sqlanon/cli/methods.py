"""Verbs of the publisher: publish and compile, each with a command for every method, made of what it declares."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import typer

from sqlanon.api.verbs import Dialect, Query, ScriptTable, Source
from sqlanon.cli.console import write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.help_page import Command
from sqlanon.cli.publication import CompilationOptions, PlanOptions, PublicationOptions, print_script, publish_release
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.methods.parameters import Parameter, declaration

# scripts beside those of the methods, each with its sentence and an example
_SCRIPTS = {
    "breach": (
        "Print a script that tells how likely each secret association is (no database is needed).",
        "patients --view 'SELECT name, age FROM patients' --view 'SELECT age, problem FROM patients'"
        " --secret 'SELECT name, problem FROM patients' --dialect postgres",
    ),
    "check": (
        "Print a script that measures what a table risks (no database is needed).",
        "ward.patients --quasi age,sex --sensitive disease --dialect spark",
    ),
}


def command_of_method(verb: str, name: str) -> Any:
    """Return the command of `publish` or `compile` for one method; breach and check have scripts, too."""
    if name in _SCRIPTS:
        command, (sentence, example) = _script(name), _SCRIPTS[name]
    elif verb == "publish":
        command, sentence, example = _publish(METHODS[name]), METHODS[name].sentence, METHODS[name].example
    else:
        method = METHODS[name]
        command, sentence, example = _compile(method), method.compile_sentence, method.compile_example
    app = typer.Typer(rich_markup_mode=None)
    app.command(name, cls=Command, help=sentence, epilog=f"Example: sqlanon {verb} {name} {example}")(command)
    return typer.main.get_group(app).commands[name]


def _script(name: str) -> Callable[..., None]:
    from sqlanon.api import publishing  # it loads every method

    write_script: Callable[..., str] = getattr(publishing, f"{name}_script")

    @command_of(write_script)
    def command(values: Values) -> None:
        write_out(write_script(**values))

    return command


def _publish(method: Method[Any]) -> Callable[..., None]:
    declared = {**_declared(source=Source, query=Query), **method.arguments}
    if name := method.plans_promises:
        # with --plan it need not be given: what is missing without it is told when that is known
        declared[name] = replace(declared[name], default=None)

    @command_of(declared, session=PlanOptions if name else PublicationOptions)
    def command(values: Values, **beside: Any) -> None:
        publish_release(method, values, **beside)

    return command


def _compile(method: Method[Any]) -> Callable[..., None]:
    compiled = {name: argument for name, argument in method.arguments.items() if argument.compiled}
    objects: dict[str, Any] = {"place": CompilationOptions} if method.reads_source else {}

    @command_of({**_declared(source=ScriptTable, dialect=Dialect), **compiled}, **objects)
    def command(values: Values, **beside: Any) -> None:
        print_script(method, values, **beside)

    return command


def _declared(**annotations: Any) -> dict[str, Parameter]:
    return {name: parameter for name, each in annotations.items() if (parameter := declaration(name, each))}
