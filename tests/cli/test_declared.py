"""A verb is declared once: what can be typed is what its function takes, but for what is listed here with a reason."""

import inspect

import pytest
import typer.main

import sqlanon
from sqlanon.api.verbs import parameters_of
from sqlanon.cli import app
from sqlanon.cli.app import VERBS
from sqlanon.cli.declared import read_typed
from sqlanon.methods import METHODS

# which engine runs it, and how its result is printed: a function gets a connection and returns an object
SESSION = {"database", "engine", "master", "dsn", "how", "sql", "threads", "memory_limit", "temp_directory"}
SESSION |= {"types", "missing"}
TYPED_ALONE = {  # what the command line has alone, and why
    "check": {},
    "compare": {"details": "prints a second table: Comparison.details()"},
    "estimate": {
        "release": "is opened where the session's options say",
        "plot": "saves a picture: Answer.plot().save(…)",
        "overwrite": "that picture's",
    },
    "breach": {
        "threshold": "refuses: Breach.require(threshold=…)",
        "cover": "refuses: Breach.require(cover=…)",
        "explained": "prints one association's worlds in place of all associations",
        "out": "writes a file: Breach.write(…)",
        "overwrite": "that file's",
        "into": "writes a table: Breach.store(…)",
    },
    "complete": {"release": "is opened where the session's options say"},
    "verify": {
        "release": "is opened where the session's options say",
        "out": "saves a frame: Report.presence",
        "overwrite": "that file's",
    },
    "attack": {"release": "is opened where the session's options say"},
    "report": {"release": "is opened where the session's options say"},
    "adopt": {},
    "run": {
        "check": "publishes nothing, for whoever writes the file",
        "log": "is how progress is told on standard error",
    },
    "ledger": {
        "check": "is a method: Ledger.check()",
        "key_file": "is that method's key: a file or SQLANON_KEY, for a key does not belong on a command line",
        "releases": "is that method's",
    },
    "macros": {
        "convert": "writes a file anew, which is no connection's",
        "dbt": "writes a folder, for which no connection is needed",
    },
}
PYTHON_ALONE = {  # what Python has alone: where it runs
    "check": {"con"},
    "compare": {"con"},
    "estimate": {"release", "database", "con"},
    "breach": {"con"},
    "complete": {"release"},
    "verify": {"release", "database", "con"},
    "attack": {"release"},
    "report": {"release"},
    "adopt": {"con"},
    "run": set(),
    "ledger": {"con"},
    "macros": {"con"},
}
NO_FUNCTION = {  # verbs without a function in Python, and why
    "demo": "shows the command line",
    "page": "serves a page until Ctrl-C",
    "guide": "prints a text of the package",
}
BY_METHODS = {"publish", "compile"}  # their commands are made of what each method declares
TYPED_ALWAYS = {  # what has to be typed, though a function can do without, and why
    "complete": {"out": "tables that are written nowhere are lost"},
    "report": {"out": "a page that is written nowhere is lost"},
}


def command_named(verb: str):
    return typer.main.get_command(app).commands[verb]


def typed_as(parameter):
    """Return the words that give a parameter its name for a value."""
    return [parameter.name] if parameter.param_type_name == "argument" else [parameter.opts[0], parameter.name]


def test_the_help_says_of_each_verb_what_the_verb_says_of_itself():
    said = {
        name: " ".join(command.help.split("\n\n")[0].split())
        for name, command in typer.main.get_command(app).commands.items()
    }
    assert said == {name: sentence for name, (_, sentence) in VERBS.items()}


def test_every_verb_is_made_of_what_its_function_declares():
    commands = typer.main.get_command(app).commands
    declared = {name for name, command in commands.items() if hasattr(command.callback, "declared_by")}
    assert all(commands[name].callback.declared_by is getattr(sqlanon, name) for name in declared)
    assert set(commands) - declared == {*NO_FUNCTION} | BY_METHODS
    assert declared == {*TYPED_ALONE} == {*PYTHON_ALONE}
    assert not {*NO_FUNCTION} & {*sqlanon.__all__}
    scripts = commands["compile"]
    for name in {*scripts.list_commands(None)} - {*METHODS}:  # those of methods are made of what methods declare
        assert hasattr(scripts.get_command(None, name).callback, "declared_by")


@pytest.mark.parametrize("verb", TYPED_ALONE)
def test_no_option_is_declared_beside_the_function(verb):
    """A release is named on the command line, and in Python it may be an object."""
    assert {*TYPED_ALONE[verb]} & {*inspect.signature(getattr(sqlanon, verb)).parameters} <= {"release"}


@pytest.mark.parametrize("verb", TYPED_ALONE)
def test_what_can_be_typed_is_what_the_function_takes(verb):
    function, command = getattr(sqlanon, verb), command_named(verb)
    declared = parameters_of(function)
    typed = {parameter.name: parameter for parameter in command.params}
    assert set(typed) - {"help"} - SESSION == set(declared) | set(TYPED_ALONE[verb])
    signature = inspect.signature(function).parameters
    assert set(signature) == set(declared) | PYTHON_ALONE[verb]
    for name, parameter in declared.items():
        aliases = [parameter.alias] if parameter.alias else []
        assert typed[name].opts == ([name] if parameter.metavar else [*aliases, parameter.option])
        assert parameter.required == (signature[name].default is inspect.Parameter.empty)
        assert typed[name].required == (parameter.required or name in TYPED_ALWAYS.get(verb, {}))


@pytest.mark.parametrize("verb", TYPED_ALONE)
def test_what_is_not_typed_is_left_to_the_function(verb):
    """So that a default is the signature's, and no other."""
    command, declared = command_named(verb), parameters_of(getattr(sqlanon, verb))
    words = [word for parameter in command.params if parameter.required for word in typed_as(parameter)]
    context = command.make_context(verb, words)
    typed = {name: context.params[name] for name in declared}
    required = {name for name, parameter in declared.items() if parameter.required} | {*TYPED_ALWAYS.get(verb, {})}
    assert set(read_typed(declared, typed)) == required


def test_a_default_that_is_typed_is_the_functions_own():
    declared = parameters_of(sqlanon.compare)
    context = command_named("compare").make_context("compare", ["--quasi", "a", "--sensitive", "s"])
    assert context.params["methods"] == "anatomy,robust,splu,mondrian" and context.params["nulls"] == "refuse"
    typed = {name: context.params[name] for name in declared} | {"methods": "splu", "seed": 2}
    assert read_typed(declared, typed) == {"quasi": ["a"], "sensitive": ["s"], "methods": "splu", "seed": 2}


def test_an_alias_means_the_same():
    words = ["--quasi", "a", "--sensitive", "s"]
    typed = [command_named("compare").make_context("compare", [*words, l, "3,5"]).params for l in ("-l", "--l")]
    assert typed[0] == typed[1] and typed[0]["l"] == "3,5"


def test_a_name_that_is_no_parameter_is_refused_with_those_that_are():
    with pytest.raises(sqlanon.UsageError, match="no parameter 'quasis'; there are source, query, quasi"):
        sqlanon.check(None, quasis="age")
    with pytest.raises(sqlanon.UsageError, match="seed = '1' is not a whole number"):
        sqlanon.compare(None, "patients", quasi="age", sensitive="disease", seed="1")


def test_help_of_a_function_lists_its_parameters():
    assert "\n    population: A table of the population with the quasi columns" in sqlanon.check.__doc__
    assert "\n    overwrite: Replace the file at failing. Default: False." in sqlanon.check.__doc__
    assert "Parameter" not in str(inspect.signature(sqlanon.check))
