"""A verb is declared once: its help, its defaults and its refusals are its function's own."""

import inspect

import pytest
import typer.main

import sqlanon
from sqlanon.cli import app
from sqlanon.cli.app import VERBS
from sqlanon.cli.declared import read_typed
from sqlanon.models.fields import parameters_of


def command_named(verb: str):
    return typer.main.get_command(app).commands[verb]


def test_the_help_says_of_each_verb_what_the_verb_says_of_itself():
    said = {
        name: " ".join(command.help.split("\n\n")[0].split())
        for name, command in typer.main.get_command(app).commands.items()
    }
    assert said == VERBS


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
    with pytest.raises(
        sqlanon.UsageError,
        match=r"no parameter 'quasis' \(did you mean 'quasi'\?\); there are con, source, query, quasi",
    ):
        sqlanon.check(None, quasis="age")
    with pytest.raises(sqlanon.UsageError, match="seed = '1' is not a whole number"):
        sqlanon.compare(None, "patients", quasi="age", sensitive="disease", seed="1")


def test_help_of_a_function_lists_its_parameters():
    assert "\n    population: A table of the population with the quasi columns" in sqlanon.check.__doc__
    assert "\n    overwrite: Replace the file at failing. Default: False." in sqlanon.check.__doc__
    assert "Parameter" not in str(inspect.signature(sqlanon.check))
