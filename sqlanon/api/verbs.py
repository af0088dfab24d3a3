"""Declare a verb once: the command line makes its options from the signature of its Python function.

A parameter that the command line also has is written `Annotated[type, Parameter(help)]`; name and default are the
signature's. Parameters that several verbs share are declared here.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from sqlanon.methods.kinds import choice
from sqlanon.methods.name_kinds import COARSEN, COLUMNS, PLACE, PLACES, TEXTS
from sqlanon.methods.parameters import Parameter, declaration, refuse_unknown
from sqlanon.methods.request_options import ROW_OF_PERSON, Names
from sqlanon.plans.engines import ENGINES
from sqlanon.wording import option, spoken

P = ParamSpec("P")
R = TypeVar("R")

Source = Annotated[
    object,
    PLACE,
    Parameter("Parquet, CSV or JSON path or glob; with --database a table or view.", None, metavar="SOURCE"),
]
Query = Annotated[str | None, Parameter("In place of SOURCE: SELECT columns FROM tables or files [WHERE …].", None)]
Quasi = Annotated[Names, COLUMNS, Parameter("Columns that others may know; commas between, or repeat.")]
Sensitive = Annotated[Names, COLUMNS, Parameter("Sensitive columns, each on its own.")]
Persons = Annotated[Names, COLUMNS, Parameter("What tells persons apart.")]
Coarsen = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Parameter("Quasi column made coarser: age=10, born=year, zip='3 letters', job=labels.csv; repeat."),
]
AgainstQuery = Annotated[str | None, Parameter(f"In place of {option('against')}: the query that was published.")]
ScoredBy = Annotated[Names, COLUMNS, Parameter(f"With {option('against')}: what tells its rows apart.")]
Vary = Annotated[
    str | None,
    ROW_OF_PERSON,
    Parameter(f"With {option('against')}: which row of a person has the quasi values, as it was published."),
]
Labels = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Parameter(f"With {option('against')}: how a column got labels, as it was published: job=map:labels.csv."),
]
Background = Annotated[
    object,
    PLACES,
    Parameter(
        "What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
        " repeatable."
    ),
]

Views = Annotated[Names, TEXTS, Parameter("SELECT columns FROM base [WHERE …]; repeat it.", flag="--view")]
Secret = Annotated[str, Parameter("SELECT id, property FROM base [WHERE condition].")]
Model = Annotated[
    Literal["unrestricted", "restricted"], Parameter("restricted: the adversary knows that an id has one property.")
]

ScriptTable = Annotated[str, Parameter("Table of the other engine, e.g. schema.patients.", metavar="source")]
Dialect = Annotated[str, choice(tuple(ENGINES)), Parameter("The engine's SQL.", "duckdb")]


def replacing(what: str) -> Parameter:
    """Return the parameter of what may be replaced."""
    return Parameter(f"Replace {what}.")


def arguments_of(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb's function would get for all that it declares: the values that there are, defaults else."""
    return {name: values.get(name, parameter.default) for name, parameter in parameters_of(function).items()}


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return what a verb's function declares, by name, in its order, with the signature's defaults."""
    hints, signature = inspect.unwrap(function).__annotations__, inspect.signature(function)
    found = [(own.default, declaration(name, hints[name])) for name, own in signature.parameters.items()]
    return {
        parameter.name: replace(parameter, default=default) for default, parameter in found if parameter is not None
    }


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Let the values that a function gets be those that its parameters' kinds make of them; its help lists them."""
    parameters = parameters_of(function)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        refuse_unknown(named.keys() - signature.parameters.keys(), parameters, function.__name__)
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        for name, parameter in parameters.items():
            bound.arguments[name] = parameter.read(bound.arguments[name])
        return function(*bound.args, **bound.kwargs)

    # without what only the command line reads
    plain = [
        own.replace(annotation=parameters[own.name].python_type) if own.name in parameters else own
        for own in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    call.__doc__ = with_parameters(function.__doc__, parameters)
    return call


def with_parameters(text: str | None, parameters: Mapping[str, Parameter]) -> str:
    """Return a docstring with a line for each parameter; the text itself says what a source is."""
    lines = [f"    {name}: {_sentence(parameter)}" for name, parameter in parameters.items() if not parameter.metavar]
    return "\n".join([inspect.cleandoc(text or ""), *(["\nParameters:", *lines] if lines else [])])


def _sentence(parameter: Parameter) -> str:
    words = spoken(parameter.help, "python")
    return words if parameter.required else f"{words} Default: {parameter.kind.shown(parameter.default)!r}."
