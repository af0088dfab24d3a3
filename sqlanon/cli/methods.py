"""Verbs of the publisher: publish and compile, each with a command for every method, made of what it declares."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import typer

from sqlanon.api.verbs import Dialect, Query, ScriptTable, Source
from sqlanon.cli.console import write_out
from sqlanon.cli.declared import Values, command_of, options_of, sign, typed_option
from sqlanon.cli.help_page import Command
from sqlanon.cli.publication import (
    CompilationOptions,
    PlanOptions,
    PublicationOptions,
    print_script,
    publish_release,
)
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.methods.parameters import declaration

# scripts beside those of the methods, each with its sentence and an example
_SCRIPTS = {
    "breach": (
        "Print a script that tells how likely each secret association is (no database is needed).",
        "sqlanon compile breach patients --view 'SELECT name, age FROM patients'"
        " --view 'SELECT age, problem FROM patients' --secret 'SELECT name, problem FROM patients' --dialect postgres",
    ),
    "check": (
        "Print a script that measures what a table risks (no database is needed).",
        "sqlanon compile check ward.patients --quasi age,sex --sensitive disease --dialect spark",
    ),
}


def command_of_method(verb: str, name: str) -> Any:
    """Return the command of `publish` or `compile` for one method; breach and check have scripts, too."""
    app = typer.Typer(rich_markup_mode=None)
    if name in _SCRIPTS:
        _add_script(app, name)
    else:
        _add(app, METHODS[name], verb)
    return typer.main.get_group(app).commands[name]


def _add_script(app: typer.Typer, name: str) -> None:
    from sqlanon.api import publishing  # it loads every method

    write_script: Callable[..., str] = getattr(publishing, f"{name}_script")
    sentence, example = _SCRIPTS[name]

    def command(values: Values) -> None:
        write_out(write_script(**values))

    app.command(name, cls=Command, help=sentence, epilog=f"Example: {example}")(command_of(write_script)(command))


def _add(app: typer.Typer, method: Method[Any], verb: str) -> None:
    """Register a command that takes the verb's own options and the method's parameters."""
    publishes, declared = verb == "publish", dict(method.arguments)

    def command(**given: Any) -> None:
        (publish_release if publishes else print_script)(method, given)

    options: type = PublicationOptions
    if not publishes:
        declared = {name: argument for name, argument in declared.items() if argument.compiled}
        options = CompilationOptions if method.reads_source else object
    elif name := method.plans_promises:
        # with --plan it need not be given: what is missing without it is told when that is known
        options, declared[name] = PlanOptions, replace(declared[name], default=None)
    shared = {"source": Source, "query": Query} if publishes else {"source": ScriptTable, "dialect": Dialect}
    declared |= {name: found for name, each in shared.items() if (found := declaration(name, each))}
    arguments = [*map(typed_option, declared.values()), *options_of(options)]
    # required ones first, as Python's signatures want it; the order is the declaration's otherwise
    arguments.sort(key=lambda argument: argument.default is not inspect.Parameter.empty)
    sign(command, method.name, method.sentence if publishes else method.compile_sentence, arguments)
    epilog = f"Example: sqlanon {verb} {method.name} {method.example if publishes else method.compile_example}"
    app.command(method.name, cls=Command, epilog=epilog)(command)
